package io.holdfast.fs.allocate;

import org.jspecify.annotations.Nullable;

/**
 * The bounds of a mount that the admin of a node sets. Immutable.
 *
 * @param least bytes that it keeps in any case
 * @param most bytes that it must not exceed
 * @param weight of its fair share
 * @param origin name of the origin that it shares with other mounts; null for one of its own
 */
public record Bounds(long least, long most, long weight, @Nullable String origin) {
  /** Says nothing. */
  public static final Bounds NONE = new Bounds(0, Long.MAX_VALUE, 1, null);

  /** Returns the same within other bounds: the higher floor and the lower ceiling hold. */
  public Bounds within(long otherLeast, long otherMost) {
    return new Bounds(Math.max(least, otherLeast), Math.min(most, otherMost), weight, origin);
  }
}
