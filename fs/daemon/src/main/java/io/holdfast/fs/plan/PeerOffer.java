package io.holdfast.fs.plan;

import org.jspecify.annotations.Nullable;

/**
 * The last offer of a peer. It is read once, however often it is looked at. Its name remains after
 * a plan was made of it, and tells whether the peer still offers the same. Thread-safe; the monitor
 * guards the fields.
 */
final class PeerOffer {
  /** The peer has no offer, or has not answered yet. */
  static final PeerOffer NONE = new PeerOffer(PlanPeers.Answer.NONE, 0);

  private final String name;
  private final boolean isNone;
  private final boolean isTooLong;
  private String text;
  private @Nullable PlanOffer read;

  /**
   * Takes an answer.
   *
   * @param longest the most letters of an offer that is of use
   */
  PeerOffer(PlanPeers.Answer answer, int longest) {
    name = answer.name();
    isNone = answer.text().isEmpty();
    isTooLong = answer.text().length() > longest;
    text = isTooLong ? "" : answer.text();
  }

  /** Returns the name by which the peer is asked whether it has another offer. */
  String name() {
    return name;
  }

  boolean isNone() {
    return isNone;
  }

  /** Tells whether it is longer than any offer of the order that this node reads. */
  boolean isTooLong() {
    return isTooLong;
  }

  /**
   * Returns the offer; takes some time when it is first called.
   *
   * @throws IllegalArgumentException if the peer has sent something else
   */
  synchronized PlanOffer read() {
    if (read == null) {
      read = PlanOffer.parse(text);
    }
    return read;
  }

  /** Forgets all but the name. */
  synchronized void forget() {
    text = "";
    read = null;
  }
}
