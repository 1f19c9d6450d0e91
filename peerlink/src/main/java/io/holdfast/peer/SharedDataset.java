package io.holdfast.peer;

/**
 * The dataset that nodes share, as far as they must agree on it. Immutable.
 *
 * @param id the dataset's name, the same on every node
 * @param itemSize bytes of an item of a large file
 */
public record SharedDataset(String id, int itemSize) {
  /** Longest id. */
  public static final int LONGEST_ID = 128;

  /** Checks the id. */
  public SharedDataset {
    if (!isId(id)) {
      throw new IllegalArgumentException(
          "'" + id + "' is no dataset id: write letters, digits, dots, dashes and underscores");
    }
  }

  /**
   * Tells whether a text can name a dataset: 1 to 128 letters, digits, dots, dashes, underscores.
   */
  public static boolean isId(String text) {
    return text.length() <= LONGEST_ID && text.matches("[A-Za-z0-9][A-Za-z0-9._-]*");
  }

  @Override
  public String toString() {
    return id + " in items of " + itemSize + " bytes";
  }
}
