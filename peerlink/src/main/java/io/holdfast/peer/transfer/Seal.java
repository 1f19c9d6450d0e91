package io.holdfast.peer.transfer;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Computes HMAC-SHA256 over parts. Each part is preceded by its length (-1 where it is absent), so
 * that no two lists of parts give the same message. Not thread-safe.
 */
final class Seal {
  private static final String ALGORITHM = "HmacSHA256";

  private final Mac mac;

  Seal(SecretKey key) {
    try {
      mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has " + ALGORITHM, e);
    }
  }

  static SecretKey key(byte[] bytes) {
    return new SecretKeySpec(bytes, ALGORITHM);
  }

  Seal add(byte @Nullable [] part) {
    mac.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, part == null ? -1 : part.length));
    if (part != null) {
      mac.update(part);
    }
    return this;
  }

  Seal add(@Nullable String part) {
    return add(part == null ? null : part.getBytes(StandardCharsets.UTF_8));
  }

  Seal add(long part) {
    return add(ByteBuffer.allocate(Long.BYTES).putLong(0, part).array());
  }

  /** Returns the MAC of all parts since the last call. */
  byte[] bytes() {
    return mac.doFinal();
  }

  /** Returns the MAC of all parts since the last call, in base64url. */
  String text() {
    return encode(bytes());
  }

  static String encode(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /** Compares in a time that does not depend on the position of a difference. */
  static boolean same(String right, @Nullable String given) {
    return given != null
        && MessageDigest.isEqual(
            right.getBytes(StandardCharsets.UTF_8), given.getBytes(StandardCharsets.UTF_8));
  }
}
