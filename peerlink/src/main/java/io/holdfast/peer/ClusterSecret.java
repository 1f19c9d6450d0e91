package io.holdfast.peer;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret that only the nodes of a cluster know. Immutable; never shown.
 *
 * <p>HKDF (RFC 5869, SHA-256) derives a key for each purpose from the secret.
 */
public final class ClusterSecret {
  private static final int SHORTEST = 16;
  private static final int LONGEST = 4096;
  private static final String MAC = "HmacSHA256";

  private final byte[] pseudorandomKey;

  private ClusterSecret(byte[] secret) {
    pseudorandomKey = mac("holdfast cluster".getBytes(StandardCharsets.US_ASCII), secret);
  }

  /**
   * Reads a secret; white space at its ends is ignored.
   *
   * @throws PeerSetupException where the file is missing, other users may read it, another user
   *     owns it, or it is too short
   */
  public static ClusterSecret read(Path file) throws PeerSetupException {
    try {
      return of(file.toString(), PrivateFile.read(file, "the cluster secret", LONGEST));
    } catch (NoSuchFileException e) {
      throw new PeerSetupException(
          "the cluster secret '%s' does not exist: make one with 'head -c 32 /dev/urandom | base64',"
                  .formatted(file)
              + " the same on every node",
          e);
    } catch (IOException e) {
      throw new PeerSetupException(
          "the cluster secret '%s' cannot be read: %s".formatted(file, e.getMessage()), e);
    }
  }

  /**
   * Creates a secret from bytes.
   *
   * @param name the source of the bytes, for messages
   */
  public static ClusterSecret of(String name, byte[] bytes) throws PeerSetupException {
    int from = 0;
    int to = bytes.length;
    while (to > from && bytes[to - 1] <= ' ' && bytes[to - 1] >= 0) {
      to--;
    }
    while (from < to && bytes[from] <= ' ' && bytes[from] >= 0) {
      from++;
    }
    if (to - from < SHORTEST) {
      throw new PeerSetupException(
          "the cluster secret '%s' has %d bytes: write at least %d, random ones"
              .formatted(name, to - from, SHORTEST));
    }
    return new ClusterSecret(Arrays.copyOfRange(bytes, from, to));
  }

  /** Derives the key of 32 bytes for a purpose. */
  public byte[] key(String purpose) {
    byte[] info = purpose.getBytes(StandardCharsets.US_ASCII);
    byte[] block = Arrays.copyOf(info, info.length + 1);
    block[info.length] = 1;
    return mac(pseudorandomKey, block);
  }

  private static byte[] mac(byte[] key, byte[] message) {
    try {
      Mac mac = Mac.getInstance(MAC);
      mac.init(new SecretKeySpec(key, MAC));
      return mac.doFinal(message);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has " + MAC, e);
    }
  }

  @Override
  public String toString() {
    return "cluster secret";
  }
}
