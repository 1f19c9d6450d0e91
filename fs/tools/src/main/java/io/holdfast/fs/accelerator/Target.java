package io.holdfast.fs.accelerator;

/** Where the emulated accelerators read the dataset. */
public enum Target {
  /** Through the mount. */
  MOUNT("mount"),
  /** At the source, without the page cache. */
  SOURCE("source"),
  /** At the source, with what the page cache has of it, and may keep. */
  SOURCE_CACHED("source-cached");

  private final String word;

  Target(String word) {
    this.word = word;
  }

  /** Returns the word for people and programs. */
  public String word() {
    return word;
  }
}
