package io.holdfast.fs.units;

/** The rating of a figure: a colour on a terminal, a word elsewhere. */
public enum Level {
  /** As it should be. */
  GOOD("good"),
  /** It could be better. */
  FAIR("fair"),
  /** Somebody should act. */
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
