package io.holdfast.fs.peers;

import org.jspecify.annotations.Nullable;

/**
 * The result of comparing a peer's files with this node's. Immutable.
 *
 * @param files files in the peer's sketch
 * @param same files with the same version and the same bytes
 * @param contradicting files with the same version but other bytes
 * @param shared whether all equal files have the same inode and change time: both nodes read one
 *     store
 * @param example a file that differs; empty where none does
 */
record Comparison(int files, int same, int contradicting, boolean shared, String example) {
  /**
   * Tells whether both nodes have the same dataset: no version has other bytes, and at least half
   * of the files are equal. A few files that have changed or gone do not matter, because each
   * request names the item's version.
   */
  boolean isOfOneDataset() {
    return files > 0 && contradicting == 0 && 2 * same >= files;
  }

  /** Describes the difference. */
  String difference() {
    if (files == 0) {
      return "there are no files to compare yet";
    }
    if (contradicting > 0) {
      return "of %d files that both looked at, %d have the same size and time but other bytes, such as '%s'"
          .formatted(files, contradicting, example);
    }
    return "of %d files that it has, %d are missing here or have another size or time, such as '%s'"
        .formatted(files, files - same, example);
  }

  /** Counts files. Not thread-safe. */
  static final class Count {
    private int files;
    private int same;
    private int contradicting;
    private int inPlace;
    private String example = "";

    /**
     * Adds a file.
     *
     * @param here this node's file at the same path; null where there is none
     */
    void add(FileSample told, @Nullable FileSample here) {
      files++;
      boolean sameVersion = here != null && here.tag().equals(told.tag());
      if (sameVersion && here.content().equals(told.content())) {
        same++;
        inPlace += here.place().equals(told.place()) ? 1 : 0;
        return;
      }
      boolean worst = sameVersion && contradicting == 0;
      contradicting += sameVersion ? 1 : 0;
      if (worst || example.isEmpty()) {
        example = told.path().toString();
      }
    }

    Comparison result() {
      return new Comparison(files, same, contradicting, same > 0 && inPlace == same, example);
    }
  }
}
