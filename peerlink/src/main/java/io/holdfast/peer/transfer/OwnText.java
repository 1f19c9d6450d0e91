package io.holdfast.peer.transfer;

import java.nio.charset.StandardCharsets;

/**
 * A text that this node tells its peers: its sketch, or its offer of a plan. The digest is computed
 * once, however often peers ask. Immutable.
 */
public final class OwnText {
  private final String text;
  private final byte[] bytes;
  private final byte[] sha256;
  private final String name;

  /**
   * Computes the digest.
   *
   * @param text in ASCII
   */
  public OwnText(String text) {
    this.text = text;
    bytes = text.getBytes(StandardCharsets.US_ASCII);
    sha256 = BodyDigest.of(bytes);
    name = BodyDigest.name(sha256);
  }

  /** Tells whether this is a text. */
  public boolean is(String other) {
    return text.equals(other);
  }

  /** Returns the bytes, which nobody changes. */
  byte[] bytes() {
    return bytes;
  }

  /** Returns the digest of the bytes. */
  byte[] sha256() {
    return sha256;
  }

  /** Returns the digest as a word of a URL: by it, an asker names the text that it has. */
  String name() {
    return name;
  }
}
