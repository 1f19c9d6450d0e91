package io.holdfast.fs.peers;

import org.jspecify.annotations.Nullable;

/**
 * How the files that a peer told of are here. Immutable.
 *
 * @param files that were told of
 * @param same of the same version, with the same bytes
 * @param contradicting of the same version, with other bytes
 * @param shared whether all that are the same are so in place: both nodes read one store
 * @param example a file that is not the same; empty where all are
 */
record Comparison(int files, int same, int contradicting, boolean shared, String example) {
  /**
   * Tells whether both have the same dataset: no version has other bytes, and at least half of the
   * files are there as told. A file that changed or went meanwhile parts nobody: each item's own
   * version says so.
   */
  boolean isOfOneDataset() {
    return files > 0 && contradicting == 0 && 2 * same >= files;
  }

  /** Says what differs. */
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
     * Adds one.
     *
     * @param here what it is here; null where it is not
     */
    void add(Sample told, @Nullable Sample here) {
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
