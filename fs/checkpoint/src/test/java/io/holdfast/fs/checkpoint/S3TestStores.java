package io.holdfast.fs.checkpoint;

import io.holdfast.fs.origin.SharedS3Server;
import io.holdfast.fs.origin.s3.ObjectBucket;
import io.holdfast.fs.origin.s3.WritableBucket;
import io.holdfast.fs.origin.s3.WritableBucket.Parts;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/** A bucket of the tests' S3 server, with a prefix for one store. */
final class S3TestStores implements AutoCloseable {
  /** The smallest that S3 takes. */
  private static final Parts PARTS = new Parts(5 << 20, 5 << 20);

  private final String place;
  private final io.holdfast.fs.origin.S3Store raw;

  /** Creates the bucket. */
  S3TestStores() {
    String name = SharedS3Server.newBucket();
    place = "s3://" + name + "/run";
    raw = new io.holdfast.fs.origin.S3Store(SharedS3Server.endpoint(), name, "run/");
  }

  String place() {
    return place;
  }

  /** Returns a client for the prefix. */
  ObjectBucket bucket() throws IOException {
    return new WritableBucket(
        SharedS3Server.settings(SharedS3Server.endpoint(), place, Duration.ofSeconds(20)), PARTS);
  }

  /** Puts an object, as somebody does who knows nothing of the store. */
  void put(String key, byte[] bytes) {
    raw.put("run/" + key, bytes);
  }

  /**
   * Returns the files as a new reader of the bucket finds them: what the index names, each with its
   * length and the ETag of its object, which is there.
   */
  static Map<String, String> read(ObjectBucket bucket) throws IOException {
    ObjectBucket.Content content = bucket.get(S3Keys.INDEX);
    if (content == null) {
      throw new AssertionError("no index");
    }
    Map<String, String> files = new TreeMap<>();
    S3Index index = S3Index.decode(content.bytes());
    for (Map.Entry<String, S3Index.Name> entry : index.names().entrySet()) {
      S3Index.Name name = entry.getValue();
      if (!entry.getKey().isEmpty()) {
        files.put(entry.getKey(), line(bucket, index, entry.getKey(), name));
      }
    }
    return files;
  }

  private static String line(ObjectBucket bucket, S3Index index, String path, S3Index.Name name)
      throws IOException {
    S3Index.File file = name.file();
    String first = path;
    for (Map.Entry<String, S3Index.Name> other : index.names().entrySet()) {
      if (other.getValue().id() == name.id()) {
        first = other.getKey();
        break;
      }
    }
    String content = file.target();
    if (file.isRegular()) {
      String key = name.isStaged() ? name.staged() : new S3Keys(bucket.prefix()).of(path);
      ObjectBucket.Content there = bucket.get(key);
      if (there == null || !there.etag().equals(name.etag())) {
        throw new AssertionError("the index names another object for " + path);
      }
      int crc = OperationsLog.crc(java.nio.ByteBuffer.wrap(there.bytes()));
      content = there.bytes().length + " bytes " + Integer.toHexString(crc);
    }
    int links = file.isDirectory() ? 0 : index.stat(path).links();
    return "%o of %s, %d links %s %s"
        .formatted(file.mode(), first, links, file.xattrs().get("user.x"), content);
  }

  @Override
  public void close() {
    raw.close();
  }
}
