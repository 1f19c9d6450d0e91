package io.holdfast.fs.checkpoint;

import io.holdfast.fs.origin.s3.ObjectBucket;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The keys of a store in S3, without the bucket's prefix. A file's key is its path. Keys are text
 * of limited length, and paths are not: a file whose path cannot be a key has one among the store's
 * own, and is where the index says. Immutable.
 */
final class S3Keys {
  /** All keys that are the store's own begin with it. */
  static final String OWN = Store.OWNER + "/";

  static final String OWNER = OWN + "owner";
  static final String LAST = OWN + "last";
  static final String INDEX = OWN + "index";
  static final String PLAN = OWN + "plan";
  static final String ROWS = OWN + "row-";
  private static final String NAMES = OWN + "name-";

  private final int longest;

  /** Makes keys for a prefix. */
  S3Keys(String prefix) {
    longest = ObjectBucket.LONGEST_KEY - prefix.getBytes(StandardCharsets.UTF_8).length;
  }

  /** Returns the key of the object with a file's bytes. */
  String of(String path) {
    byte[] bytes = FileTree.textAsBytes(path);
    if (bytes.length <= longest) {
      try {
        String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        if (text.chars().allMatch(S3Keys::isSafe)) {
          return text;
        }
      } catch (CharacterCodingException e) {
        return hashed(bytes); // names of Linux may be any bytes
      }
    }
    return hashed(bytes);
  }

  /** Tells whether all that answers with keys, in XML, can have a character. */
  private static boolean isSafe(int character) {
    return character >= ' ' && character != 0x7f && character < 0xfffd;
  }

  private static String hashed(byte[] path) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(path);
      return NAMES + HexFormat.of().formatHex(hash);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // each Java has it
    }
  }

  /**
   * Returns the key of a row's object that waits for its name; the order is that of the keys.
   *
   * @param attempt a number that no other attempt to commit a row has
   */
  static String staged(long attempt, int number) {
    return "%s%016x/%08d".formatted(ROWS, attempt, number);
  }
}
