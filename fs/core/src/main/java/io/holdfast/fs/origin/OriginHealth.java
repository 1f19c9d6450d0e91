package io.holdfast.fs.origin;

/**
 * Whether an origin answers. Immutable.
 *
 * @param silent whether it has not answered for so long that it is not asked now
 * @param silences how often that was so, this time included
 * @param unansweredSeconds for how long it has not answered; 0 where nobody waits for an answer
 */
public record OriginHealth(boolean silent, long silences, long unansweredSeconds) {
  /** It answers, or always has. */
  public static final OriginHealth WELL = new OriginHealth(false, 0, 0);
}
