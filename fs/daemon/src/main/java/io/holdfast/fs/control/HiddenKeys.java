package io.holdfast.fs.control;

import io.holdfast.fs.units.Human;

/**
 * Describes the keys of the store that have no path; users would not notice them otherwise.
 * Stateless.
 */
public final class HiddenKeys {
  private HiddenKeys() {}

  /**
   * Returns a text with the number of hidden keys.
   *
   * @param example one of the keys; empty for users who may not know names
   */
  public static String text(long keys, String example) {
    return Human.count(keys, "key")
        + " of the store cannot be shown as "
        + (keys == 1 ? "a path" : "paths")
        + (example.isEmpty() ? "" : ", as '" + example + "'");
  }
}
