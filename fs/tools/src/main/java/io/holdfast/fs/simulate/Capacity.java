package io.holdfast.fs.simulate;

import io.holdfast.fs.units.Sizes;
import io.holdfast.policy.simulator.Dataset;

/**
 * A capacity as users write it: bytes, or a share of the dataset. Immutable.
 *
 * @param text the user's text
 * @param bytes the bytes; 0 for a share
 * @param share the share, 1 for all; 0 for bytes
 */
public record Capacity(String text, long bytes, double share) {
  private static final long WHOLE = 1_000_000_000_000L;

  /**
   * Parses a capacity: {@code 35%}, {@code 64G}.
   *
   * @throws IllegalArgumentException if the text is wrong, with one line that names it and says
   *     what is allowed
   */
  public static Capacity parse(String text) {
    boolean percent = Sizes.isPercentage(text);
    long number = percent ? Sizes.parse(text, WHOLE) : Sizes.parse(text);
    if (number == 0) {
      throw new IllegalArgumentException(
          "'" + text + "' is no capacity: give more than 0, such as 35% or 64G");
    }
    if (!percent && number < Dataset.PAGE) {
      throw new IllegalArgumentException(
          "'%s' bytes are less than a page of memory: give %s%% for a share, or a size such as 64G"
              .formatted(text, text));
    }
    return percent ? new Capacity(text, 0, (double) number / WHOLE) : new Capacity(text, number, 0);
  }

  /**
   * Returns the capacity in bytes for a dataset.
   *
   * @throws IllegalArgumentException if it is less than one byte of it
   */
  public long of(Dataset dataset) {
    long capacity = bytes > 0 ? bytes : dataset.capacity(share);
    if (capacity < 1) {
      throw new IllegalArgumentException(
          "--capacity '" + text + "' of so small a dataset is nothing: give more");
    }
    return capacity;
  }
}
