package io.holdfast.fs.units;

/** How good a figure is: a colour on a terminal, a word elsewhere. */
public enum Level {
  /** As it should be. */
  GOOD("good"),
  /** Could be better. */
  FAIR("fair"),
  /** Something is to be done. */
  POOR("poor");

  private final String word;

  Level(String word) {
    this.word = word;
  }

  /** Returns the word for people and programs. */
  public String word() {
    return word;
  }
}
