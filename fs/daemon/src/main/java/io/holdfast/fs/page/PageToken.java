package io.holdfast.fs.page;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.peer.PeerSetupException;
import io.holdfast.peer.PrivateFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Locale;

/**
 * The secret that lets a visitor see a page. Immutable; never shown. A browser sends it as the
 * password of Basic authentication (RFC 7617), under any user name; a program may send it as a
 * bearer token (RFC 6750).
 */
public final class PageToken {
  private static final int SHORTEST = 16;
  private static final int LONGEST = 4096;
  private static final String BASIC = "basic ";
  private static final String BEARER = "bearer ";

  /** A digest, so that a comparison takes the same time whatever the length of the other text. */
  private final byte[] digest;

  private PageToken(byte[] digest) {
    this.digest = digest;
  }

  /**
   * Reads a token; white space at its ends is ignored.
   *
   * @throws FsException if the file is missing, other users may read it, another user owns it, or
   *     the token is too short, with one line for the user
   */
  public static PageToken read(Path file) throws FsException {
    try {
      byte[] bytes = PrivateFile.read(file, "--page-token-file", LONGEST);
      return of(file.toString(), new String(bytes, StandardCharsets.UTF_8));
    } catch (PeerSetupException e) {
      throw new FsException(FsError.ACCESS_DENIED, String.valueOf(e.getMessage()), e);
    } catch (NoSuchFileException e) {
      throw new FsException(
          FsError.NOT_FOUND,
          "--page-token-file '%s' does not exist: make it with '(umask 077; head -c 32 /dev/urandom | base64 >%s)'"
              .formatted(file, file),
          e);
    } catch (IOException e) {
      throw new FsException(
          FsError.ACCESS_DENIED,
          "--page-token-file '%s' cannot be read: %s".formatted(file, e.getMessage()),
          e);
    }
  }

  /**
   * Creates a token from text.
   *
   * @param name the source of the text, for messages
   */
  static PageToken of(String name, String text) throws FsException {
    String token = text.strip();
    if (token.length() < SHORTEST) {
      throw new FsException(
          FsError.INVALID,
          "--page-token-file '%s' has %d characters: write at least %d, random ones"
              .formatted(name, token.length(), SHORTEST));
    }
    return new PageToken(digest(token));
  }

  /** Tells whether the value of an {@code Authorization} header has this token. */
  boolean isIn(String authorization) {
    String scheme = authorization.toLowerCase(Locale.ROOT);
    if (scheme.startsWith(BEARER)) {
      return isSame(authorization.substring(BEARER.length()).strip());
    }
    return scheme.startsWith(BASIC)
        && isSame(password(authorization.substring(BASIC.length()).strip()));
  }

  private static String password(String credentials) {
    try {
      String both = new String(Base64.getDecoder().decode(credentials), StandardCharsets.UTF_8);
      return both.substring(both.indexOf(':') + 1);
    } catch (IllegalArgumentException e) {
      return ""; // no Base64, so no password
    }
  }

  private boolean isSame(String other) {
    return MessageDigest.isEqual(digest, digest(other));
  }

  private static byte[] digest(String text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  @Override
  public String toString() {
    return "page token";
  }
}
