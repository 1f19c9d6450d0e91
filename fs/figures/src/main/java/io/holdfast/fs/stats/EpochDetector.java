package io.holdfast.fs.stats;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Recognises the passes of one job over the files that it reads, from its opens. Not thread-safe;
 * takes at most 140 KiB, however large the dataset.
 *
 * <p>Within a pass, a job opens each file for the first time. An open of a file that was opened in
 * this pass already is a <i>repeat</i>. An open of a file that was opened a moment ago does not
 * count: programs open a file to look at it, and again to read it. A new pass has begun in either
 * of two cases:
 *
 * <ul>
 *   <li>Three quarters of the last opens were repeats, over as many opens as an eighth of the pass
 *       has files. The job reads the same files again.
 *   <li>There were few repeats, but evenly, and hardly any before, over as many opens as half of
 *       the pass has files. The job reads another random share of the files in each pass, as each
 *       of several nodes does. A job that draws files at random with replacement repeats them more
 *       and more often instead, and begins no new pass before it has seen most of them.
 * </ul>
 *
 * <p>The pass began where the repeats became frequent: at the place after which the repeats, less a
 * cost for each open, are most. The cost of an open is half of the rate of repeats (the estimate
 * that a cumulative sum test makes of the time of a change).
 */
final class EpochDetector {
  private static final int SHORTEST_WINDOW = 16;

  /**
   * The window of the first rule: one of so many parts of the pass's files. {@link
   * #PART_FOR_SHARES} is the same for the second rule.
   */
  private static final int PART = 8;

  private static final int PART_FOR_SHARES = 2;

  /** The fewest files for the second rule: with fewer, chance looks like another share. */
  private static final int FEWEST_FOR_SHARES = 512;

  /** The second rule wants one repeat in so many opens: enough for the shares of eight nodes. */
  private static final int RAREST = 12;

  /** The second rule wants repeats to have been so many times rarer before. */
  private static final int TIMES_RARER = 8;

  private static final int QUARTERS = 4;
  private static final int MARKS = 64;
  private static final int NEAR_PART = 16;
  private static final int LONGEST_NEAR = 512;

  /** A repeat at which a pass may have begun. */
  private record Mark(long open, long repeatsBefore, long distinctBefore, JobCounts counts) {}

  private final OpenedFiles files = new OpenedFiles();
  private final ArrayDeque<Mark> marks = new ArrayDeque<>();

  /**
   * The opens that counted; {@link #began} and {@link #lastBegan} are the opens before this pass,
   * and before the last one.
   */
  private long opens;

  private long began;
  private long lastBegan;

  /** The files opened in this pass; {@link #lastDistinct} are those of the last one. */
  private long distinct;

  private long lastDistinct;
  private long repeats;

  /**
   * Notes an open.
   *
   * @param file names the file
   * @param now the figures before this open
   * @return the figures when a new pass began, or null if none has begun
   */
  @Nullable JobCounts opened(long file, Supplier<JobCounts> now) {
    int print = OpenedFiles.print(file);
    if (!files.takes(print)) {
      return null;
    }
    int slot = files.slot(print);
    long age = slot < 0 ? Long.MAX_VALUE : Integer.toUnsignedLong((int) opens - files.time(slot));
    if (age <= near()) {
      return null;
    }
    boolean repeat = age <= opens - began;
    if (repeat) {
      mark(now);
      repeats++;
    } else {
      distinct++;
    }
    if (files.put(slot, print, (int) opens)) {
      distinct /= 2;
      lastDistinct /= 2;
    }
    opens++;
    return repeat ? begins() : null;
  }

  private long known() {
    return Math.max(distinct, lastDistinct);
  }

  private long near() {
    return Math.max(1, Math.min(known() / NEAR_PART, LONGEST_NEAR));
  }

  private long window() {
    return Math.max(Math.min(known(), SHORTEST_WINDOW), known() / PART);
  }

  private long windowForShares() {
    return known() / PART_FOR_SHARES;
  }

  private void mark(Supplier<JobCounts> now) {
    long longest = Math.max(window(), windowForShares());
    while (!marks.isEmpty() && marks.getFirst().open < opens - longest) {
      marks.removeFirst();
    }
    if (marks.isEmpty() || opens - marks.getLast().open >= longest / MARKS) {
      marks.addLast(new Mark(opens, repeats, distinct, now.get()));
    }
  }

  private @Nullable JobCounts begins() {
    long window = window();
    if (4 * repeatsFrom(opens - window) >= 3 * window) {
      return begin(0.5, opens - window);
    }
    long shares = windowForShares();
    if (known() >= FEWEST_FOR_SHARES && isEvenAndNew(shares)) {
      double rate = (double) repeatsFrom(opens - shares) / shares;
      return begin(rate / 2, opens - shares);
    }
    return null;
  }

  private boolean isEvenAndNew(long window) {
    long from = opens - window;
    long before = from - began;
    if (before < window) {
      return false;
    }
    for (int quarter = 0; quarter < QUARTERS; quarter++) {
      long first = repeatsFrom(from + quarter * window / QUARTERS);
      long next = repeatsFrom(from + (quarter + 1) * window / QUARTERS);
      if ((first - next) * RAREST * QUARTERS < window) {
        return false;
      }
    }
    long recent = repeatsFrom(from);
    return (repeats - recent) * window * TIMES_RARER <= recent * before;
  }

  /** Returns the number of repeats from an open on. */
  private long repeatsFrom(long open) {
    for (Mark mark : marks) {
      if (mark.open >= open) {
        return repeats - mark.repeatsBefore;
      }
    }
    return 0;
  }

  private @Nullable JobCounts begin(double cost, long from) {
    Mark best = null;
    double most = 0;
    Iterator<Mark> latest = marks.descendingIterator();
    while (latest.hasNext()) {
      Mark mark = latest.next();
      double value = repeats - mark.repeatsBefore - cost * (opens - mark.open);
      if (mark.open >= from && value >= most) {
        best = mark;
        most = value;
      }
    }
    if (best == null) {
      return null;
    }
    files.forget((int) opens, opens - lastBegan);
    lastBegan = began;
    began = best.open;
    lastDistinct = Math.min(best.distinctBefore, distinct);
    distinct = opens - began;
    repeats = 0;
    marks.clear();
    return best.counts;
  }
}
