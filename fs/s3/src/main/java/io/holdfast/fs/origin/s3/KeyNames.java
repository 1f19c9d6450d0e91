package io.holdfast.fs.origin.s3;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.OriginPath;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Maps keys to a tree. A key is split at its slashes; the last part names a file, and each other
 * part a directory. The rules for keys that are no path are those of mountpoint-s3:
 *
 * <ul>
 *   <li>A key that ends with a slash is an empty directory, and no file.
 *   <li>A name that is both a file and a directory is the directory; the file is hidden.
 *   <li>If a part of a key cannot be a name, the parts before it are shown as directories, and the
 *       rest of the key is hidden. Such parts are: an empty one ({@code //}, or a slash at the
 *       beginning), {@code .} and {@code ..}, one of more than 255 bytes, one with a NUL, and one
 *       that is invalid UTF-8 or has the character U+FFFD, to which invalid UTF-8 is converted on
 *       the way.
 * </ul>
 */
final class KeyNames {
  /** The longest name of a file or directory in Linux, bytes. */
  static final int NAME_BYTES = 255;

  /** The longest key that S3 takes, bytes. */
  private static final int KEY_BYTES = 1024;

  private static final char REPLACEMENT = '\uFFFD';

  private KeyNames() {}

  /** Tells whether a part of a key can be the name of an entry. */
  static boolean isName(String part) {
    if (part.isEmpty() || part.equals(".") || part.equals("..")) {
      return false;
    }
    if (part.length() > NAME_BYTES || part.indexOf('\0') >= 0 || hasReplacement(part)) {
      return false;
    }
    return bytesOf(part) <= NAME_BYTES;
  }

  /** Tells whether a key may have other bytes in the store, which are no UTF-8. */
  static boolean hasReplacement(String key) {
    return key.indexOf(REPLACEMENT) >= 0;
  }

  /**
   * Counts the bytes in UTF-8. A lone surrogate, which has no encoding, makes the part too long.
   */
  private static int bytesOf(String part) {
    int bytes = 0;
    for (int i = 0; i < part.length(); i++) {
      char c = part.charAt(i);
      if (Character.isHighSurrogate(c)
          && i + 1 < part.length()
          && Character.isLowSurrogate(part.charAt(i + 1))) {
        bytes += 4;
        i++;
      } else if (Character.isSurrogate(c)) {
        return Integer.MAX_VALUE;
      } else {
        bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
      }
    }
    return bytes;
  }

  /**
   * Returns the key of an entry below the prefix, without a slash at its end; empty for the root.
   *
   * @throws FsException NOT_FOUND where no key can be shown under this path; SYMLINK where the path
   *     leads out of the dataset; NAME_TOO_LONG
   */
  static String key(S3Location location, OriginPath path) throws FsException {
    byte[] bytes = path.bytes();
    if (bytes.length == 0) {
      return location.prefix();
    }
    String text = text(path);
    for (String part : text.split("/", -1)) {
      if (part.equals("..") || text.startsWith("/")) {
        throw new FsException(FsError.SYMLINK, path + ": leads out of the dataset");
      }
      if (part.length() > NAME_BYTES || bytesOf(part) > NAME_BYTES) {
        throw new FsException(FsError.NAME_TOO_LONG, abbreviated(text) + ": name too long");
      }
      if (!isName(part)) {
        throw missing(path);
      }
    }
    String key = location.prefix() + text;
    if (bytesOf(key) > KEY_BYTES) {
      throw new FsException(FsError.NAME_TOO_LONG, abbreviated(text) + ": key too long");
    }
    return key;
  }

  private static String text(OriginPath path) throws FsException {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(path.bytes())).toString();
    } catch (CharacterCodingException e) {
      throw new FsException(FsError.NOT_FOUND, path + ": no such key: it is no UTF-8", e);
    }
  }

  private static String abbreviated(String text) {
    return text.length() <= NAME_BYTES ? text : text.substring(0, NAME_BYTES) + "...";
  }

  static FsException missing(OriginPath path) {
    return new FsException(FsError.NOT_FOUND, path + ": no such key");
  }

  static byte[] nameBytes(String name) {
    return name.getBytes(StandardCharsets.UTF_8);
  }
}
