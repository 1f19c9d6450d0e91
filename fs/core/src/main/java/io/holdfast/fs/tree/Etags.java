package io.holdfast.fs.tree;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Memory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Packs etags into bytes. Most etags start with an MD5 sum in 32 lower-case hexadecimal digits.
 * These digits take 16 bytes; the first byte tells whether they are there. Stateless.
 */
final class Etags {
  private static final int DIGITS = 32;
  private static final int PACKED = 1;
  private static final int TEXT = 0;
  private static final int LONGEST = 255;
  private static final HexFormat HEX = HexFormat.of();

  private Etags() {}

  static byte[] pack(String etag) throws FsException {
    if (etag.isEmpty()) {
      return new byte[0];
    }
    int digits = startsWithDigits(etag) ? DIGITS : 0;
    byte[] rest = etag.substring(digits).getBytes(StandardCharsets.UTF_8);
    byte[] packed = new byte[1 + digits / 2 + rest.length];
    if (packed.length > LONGEST) {
      throw new FsException(FsError.IO, "an etag of " + etag.length() + " characters");
    }
    packed[0] = (byte) (digits == 0 ? TEXT : PACKED);
    System.arraycopy(HEX.parseHex(etag, 0, digits), 0, packed, 1, digits / 2);
    System.arraycopy(rest, 0, packed, 1 + digits / 2, rest.length);
    return packed;
  }

  private static boolean startsWithDigits(String etag) {
    return etag.length() >= DIGITS
        && etag.chars()
            .limit(DIGITS)
            .allMatch(c -> (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
  }

  static String unpack(long address, int length) {
    if (length == 0) {
      return "";
    }
    byte[] packed = Memory.bytes(address, length);
    int from = packed[0] == TEXT ? 1 : 1 + DIGITS / 2;
    return HEX.formatHex(packed, 1, from)
        + new String(Arrays.copyOfRange(packed, from, length), StandardCharsets.UTF_8);
  }
}
