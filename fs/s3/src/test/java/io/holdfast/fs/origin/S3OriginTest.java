package io.holdfast.fs.origin;

import static io.holdfast.fs.origin.OriginStore.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.s3.S3Origin;
import io.holdfast.fs.origin.s3.S3Settings;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract, and what is particular to S3, against a real server. */
@ExtendWith(SharedS3Server.class)
final class S3OriginTest extends OriginContractTest {
  private S3Store bucket;
  private String name;

  @Override
  OriginStore createStore() {
    name = SharedS3Server.newBucket();
    bucket = new S3Store(SharedS3Server.endpoint(), name, "data/");
    bucket.put("data/", new byte[0]); // there, and empty
    bucket.put("database", new byte[7]); // beside it
    return bucket;
  }

  @Override
  Origin openOrigin() throws FsException {
    return S3Origin.open(
        SharedS3Server.settings(
            SharedS3Server.endpoint(), "s3://" + name + "/data", Await.LONGEST));
  }

  @Override
  void removeStore() {
    bucket.close();
  }

  @Override
  int manyEntries() {
    return 300; // each is a request; more than one listing gives is for S3ScanTest
  }

  /** The saved tree of one store is never used for another. */
  @Test
  void identity_namesStoreAndOwners() throws FsException {
    assertThat(origin().identity())
        .isEqualTo("s3://%s/data at %s, 1000:1001, 644, 755", name, SharedS3Server.endpoint());
  }

  /** The endpoint of the environment was none, and two stores with such a bucket were one. */
  @Test
  void identity_endpointOfTheEnvironment_isNamed() throws FsException {
    S3Settings settings = SharedS3Server.settings(null, "s3://bucket/data", Await.LONGEST);
    System.setProperty("aws.endpointUrl", "http://first.invalid");
    try (S3Origin first = S3Origin.reopen(settings)) {
      System.setProperty("aws.endpointUrl", "http://second.invalid");
      try (S3Origin second = S3Origin.reopen(settings)) {
        assertThat(first.identity()).contains("s3://bucket/data at http://first.invalid, ");
        assertThat(second.identity()).contains("s3://bucket/data at http://second.invalid, ");
      }
    } finally {
      System.clearProperty("aws.endpointUrl");
    }
  }

  @Test
  void attributes_ofEntries_areThoseThatWereAskedFor() throws IOException {
    store().file(bytes("dir/file"), new byte[1000]);
    Attributes file = origin().stat(OriginPath.of("dir/file"));
    Attributes directory = origin().stat(OriginPath.of("dir"));
    assertThat(file.mode()).isEqualTo(Attributes.REGULAR | 0644);
    assertThat(directory.mode()).isEqualTo(Attributes.DIRECTORY | 0755);
    assertThat(file.uid()).isEqualTo(1000);
    assertThat(directory.gid()).isEqualTo(1001);
    assertThat(file.etag()).isNotEmpty().doesNotContain("\"");
    assertThat(file.blocks()).isEqualTo(2);
    assertThat(file.modified() % 1_000_000_000).isZero();
  }

  @Test
  void keys_withUnusualCharacters_areFound() throws IOException {
    for (String each :
        new String[] {"a b", "a%2Fb", "ü/ö ä", "日本", "q?x=1&y", "#", "\\", "~'()*!"}) {
      store().file(bytes("d/" + each), bytes(each));
    }
    Map<String, Attributes> listed = new HashMap<>();
    origin()
        .list(
            OriginPath.of("d"),
            (name, type, inode, attributes) ->
                listed.put(OriginPath.of(name).toString(), attributes));
    assertThat(listed).containsOnlyKeys("a b", "a%2Fb", "ü", "日本", "q?x=1&y", "#", "\\", "~'()*!");
    for (Map.Entry<String, Attributes> each : listed.entrySet()) {
      OriginPath path = OriginPath.of("d/" + each.getKey());
      assertThat(origin().stat(path)).isEqualTo(each.getValue());
      if (each.getValue().isRegular()) {
        try (OriginFile file = open(origin(), path)) {
          assertThat(read(file, 0, 100)).isEqualTo(bytes(each.getKey()));
        }
      }
    }
  }

  @Test
  void name_ofFileAndDirectory_isTheDirectory() throws IOException {
    store().file(bytes("both"), new byte[3]);
    store().file(bytes("both-1"), new byte[3]);
    store().file(bytes("both/below"), new byte[4]);
    store().directory(bytes("empty"));
    assertThat(origin().stat(OriginPath.of("both")).isDirectory()).isTrue();
    assertThat(origin().stat(OriginPath.of("both/below")).size()).isEqualTo(4);
    Map<String, Integer> listed = new HashMap<>();
    origin()
        .list(
            OriginPath.ROOT,
            (name, type, inode, attributes) ->
                assertThat(listed.put(OriginPath.of(name).toString(), type)).isNull());
    assertThat(listed)
        .isEqualTo(
            Map.of(
                "both", Attributes.DIRECTORY,
                "both-1", Attributes.REGULAR,
                "empty", Attributes.DIRECTORY));
  }
}
