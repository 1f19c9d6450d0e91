package io.holdfast.fs.origin.s3;

import io.holdfast.fs.ControlInodes;
import io.holdfast.fs.origin.Attributes;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of files and directories in a bucket: modes and owner from the settings; the time
 * of the key for a file, and 1970 for a directory, which has no time. Immutable.
 */
final class Entries {
  /** FNV-1a of 64 bits, http://www.isthe.com/chongo/tech/comp/fnv/. */
  private static final long FNV_BASIS = 0xcbf29ce484222325L;

  private static final long FNV_PRIME = 0x100000001b3L;

  /** The mount uses lower numbers for entries that are not in the dataset. */
  private static final long FIRST_INODE = 1 << 10;

  private static final int SECTOR = 512;

  private final S3Settings settings;

  Entries(S3Settings settings) {
    this.settings = settings;
  }

  /**
   * Returns the attributes of a file.
   *
   * @param key its key
   * @param etag the ETag as the store sends it; null where there is none
   */
  Attributes file(String key, long size, Instant modified, @Nullable String etag) {
    long nanos = nanos(modified);
    return new Attributes(
        Attributes.REGULAR | settings.fileMode(),
        1,
        settings.uid(),
        settings.gid(),
        0,
        inode(key),
        size,
        (size + SECTOR - 1) / SECTOR,
        nanos,
        nanos,
        nanos,
        unquoted(etag));
  }

  /**
   * Returns the attributes of a directory.
   *
   * @param key the prefix of the directory's keys, without the slash at its end
   */
  Attributes directory(String key) {
    return new Attributes(
        Attributes.DIRECTORY | settings.directoryMode(),
        2,
        settings.uid(),
        settings.gid(),
        0,
        inode(key),
        0,
        0,
        0,
        0,
        0,
        "");
  }

  /**
   * Returns a time in whole seconds: a HEAD has no better resolution, and must agree with a LIST.
   */
  static long nanos(Instant modified) {
    return TimeUnit.SECONDS.toNanos(modified.getEpochSecond());
  }

  static String unquoted(@Nullable String etag) {
    if (etag == null) {
      return "";
    }
    boolean quoted = etag.length() > 1 && etag.startsWith("\"") && etag.endsWith("\"");
    return quoted ? etag.substring(1, etag.length() - 1) : etag;
  }

  /**
   * Returns an inode number: a hash of the key, mixed at the end like MurmurHash3. 63 bits of it,
   * which keeps it apart from {@link ControlInodes}.
   */
  static long inode(String key) {
    long hash = FNV_BASIS;
    for (int i = 0; i < key.length(); i++) {
      hash = (hash ^ key.charAt(i)) * FNV_PRIME;
    }
    hash = (hash ^ hash >>> 33) * 0xff51afd7ed558ccdL;
    hash = (hash ^ hash >>> 33) * 0xc4ceb9fe1a85ec53L;
    hash = (hash ^ hash >>> 33) & Long.MAX_VALUE;
    return hash < FIRST_INODE ? hash + FIRST_INODE : hash;
  }
}
