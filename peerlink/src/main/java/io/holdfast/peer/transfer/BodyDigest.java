package io.holdfast.peer.transfer;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The SHA-256 of a body, as in {@code Content-Digest} (RFC 9530). Without TLS, a MAC covers the
 * header that holds the digest, so nobody on the way can exchange the body. Not thread-safe.
 *
 * <p>SHA-256 takes some 0.6 ms a MiB on one core with SHA instructions, where CRC32C takes 0.04 ms.
 * No MAC in Java's library is faster: AES-GMAC copies its input and is slower from a MiB on,
 * Poly1305 takes three times as long, and HMAC is the same computation. A plain digest depends on
 * no connection and no key, so it is computed once for each resident.
 */
final class BodyDigest {
  /** Bytes of a digest. */
  static final int BYTES = 32;

  private static final Pattern HEADER = Pattern.compile("sha-256=:([A-Za-z0-9+/]{43}=):");

  private final MessageDigest digest;

  BodyDigest() {
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  void update(ByteBuffer bytes) {
    digest.update(bytes);
  }

  /** Returns the digest of all bytes so far; begins anew. */
  byte[] finish() {
    return digest.digest();
  }

  /** Tells whether a header has a digest. */
  static boolean isIn(@Nullable String header, byte[] sha256) {
    byte[] told = parse(header);
    return told != null && MessageDigest.isEqual(sha256, told);
  }

  /** Returns the digest of some bytes. */
  static byte[] of(byte[] bytes) {
    BodyDigest digest = new BodyDigest();
    digest.update(ByteBuffer.wrap(bytes));
    return digest.finish();
  }

  /** Returns a digest as a word of a URL. */
  static String name(byte[] sha256) {
    return Seal.encode(sha256);
  }

  /** Returns the header of a digest. */
  static String headerOf(byte[] sha256) {
    return "sha-256=:" + Base64.getEncoder().encodeToString(sha256) + ":";
  }

  /** Parses the header; returns null where there is no digest. */
  static byte @Nullable [] parse(@Nullable String header) {
    Matcher matcher = HEADER.matcher(header == null ? "" : header);
    return matcher.matches() ? Base64.getDecoder().decode(matcher.group(1)) : null;
  }
}
