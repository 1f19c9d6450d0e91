package io.holdfast.fs.orders;

/**
 * An order as it is known before its job begins. Immutable once its files are complete.
 *
 * @param source where it is from
 * @param early whether the first files are fetched before the job opens any
 * @param progress where the job is
 * @param resumed whether an earlier daemon followed the job, which may have gone on since
 * @param mostBytes the most bytes that a pass may have to fetch: if files of more bytes are
 *     missing, the job does not read all that it opens
 */
record OrderPlan(
    String job,
    String source,
    FileSequence files,
    boolean early,
    Order.Progress progress,
    boolean resumed,
    long mostBytes) {
  /** The source of orders that were found from opens. */
  static final String LEARNED = "learned";

  /**
   * Of an order that somebody has announced.
   *
   * @param soon whether the job is likely to begin at once
   */
  static OrderPlan announced(String job, String source, FileSequence files, boolean soon) {
    return new OrderPlan(job, source, files, soon, Order.Progress.NONE, false, Long.MAX_VALUE);
  }

  /** Of an order that was announced to an earlier daemon. */
  static OrderPlan resumed(String job, String source, FileSequence files, Order.Progress progress) {
    return new OrderPlan(job, source, files, false, progress, true, Long.MAX_VALUE);
  }

  /**
   * Of an order that was found from opens.
   *
   * @param fetchedBytes what was fetched when it was read
   */
  static OrderPlan learned(String job, FileSequence files, int position, long fetchedBytes) {
    return new OrderPlan(
        job,
        LEARNED,
        files,
        false,
        new Order.Progress(0, position, position),
        false,
        (long) (1.1 * fetchedBytes));
  }

  boolean isLearned() {
    return source.equals(LEARNED);
  }
}
