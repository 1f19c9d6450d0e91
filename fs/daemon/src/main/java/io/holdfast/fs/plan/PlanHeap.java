package io.holdfast.fs.plan;

/** The part of the heap that a plan may take. */
final class PlanHeap {
  private static final int PART_OF_HEAP = 8;

  /** Bytes of a file of the list, without its copies. */
  private static final int BYTES_OF_FILE = 160;

  /** Bytes of a copy of a file while the plan grows. */
  private static final int BYTES_OF_COPY = 48;

  private static final long MOST_FILES = 8 << 20;

  private PlanHeap() {}

  private static long most() {
    return Runtime.getRuntime().maxMemory() / PART_OF_HEAP;
  }

  /** Returns the most files of a list. */
  static int mostFiles() {
    return (int) Math.min(most() / BYTES_OF_FILE, MOST_FILES);
  }

  /**
   * Tells whether there is room for a plan.
   *
   * @param copies how many copies of each file there are, on average
   */
  static boolean hasRoom(int files, double copies) {
    return files * (BYTES_OF_FILE + copies * BYTES_OF_COPY) <= most();
  }
}
