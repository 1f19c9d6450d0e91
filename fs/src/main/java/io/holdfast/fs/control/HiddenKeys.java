package io.holdfast.fs.control;

import io.holdfast.fs.units.Human;

/** How the keys of a store that have no path are told, which nobody would miss else. Stateless. */
public final class HiddenKeys {
  private HiddenKeys() {}

  /**
   * Says how many there are.
   *
   * @param example one of them; empty for who may not know names
   */
  public static String text(long keys, String example) {
    return Human.count(keys, "key")
        + " of the store cannot be shown as "
        + (keys == 1 ? "a path" : "paths")
        + (example.isEmpty() ? "" : ", as '" + example + "'");
  }
}
