package io.holdfast.fs.stats;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Recognises the passes of one job over the files that it reads, from its opens. Not thread-safe;
 * takes at most 140 KiB, however large the dataset.
 *
 * <p>Within a pass each file is opened for the first time; a file that was opened in this pass
 * already is a <i>repeat</i>. A file that was opened a moment ago is neither: programs open a file
 * to look at it, and again to read it. A new pass has begun when repeats come together:
 *
 * <ul>
 *   <li>three quarters of the last opens were repeats, as many opens as an eighth of the pass has
 *       files: a job that reads the same files again;
 *   <li>or few, but evenly, and hardly any before, in as many opens as half of the pass has files:
 *       a job that reads another random share of the files in each pass, as each of several nodes
 *       does. Files that are drawn at random with replacement are repeated more and more often
 *       instead, and are no new pass before most of them were seen.
 * </ul>
 *
 * <p>It began where the repeats became frequent: of all places the one from which on the most
 * repeats came, an open costing half of what it may bring (the estimate that a cumulative sum test
 * makes of the time of a change).
 */
final class EpochDetector {
  private static final int SHORTEST_WINDOW = 16;

  /** The part of the files of a pass that the last opens are, for either rule. */
  private static final int PART = 8;

  private static final int PART_FOR_SHARES = 2;

  /** From so many files on, another share of the files is told from chance. */
  private static final int FEWEST_FOR_SHARES = 512;

  /** Of so many opens at least one is a repeat: shares of eight nodes, with some room. */
  private static final int RAREST = 12;

  /** Before, repeats were so many times rarer. */
  private static final int TIMES_RARER = 8;

  private static final int QUARTERS = 4;
  private static final int MARKS = 64;
  private static final int NEAR_PART = 16;
  private static final int LONGEST_NEAR = 512;

  /** A repeat at which a pass may have begun. */
  private record Mark(long open, long repeatsBefore, long distinctBefore, JobCounts counts) {}

  private final OpenedFiles files = new OpenedFiles();
  private final ArrayDeque<Mark> marks = new ArrayDeque<>();

  /** Opens that counted, and how many of them were before this pass, and before the last one. */
  private long opens;

  private long began;
  private long lastBegan;

  /** Files opened in this pass, and in the last one. */
  private long distinct;

  private long lastDistinct;
  private long repeats;

  /**
   * Takes note of an open.
   *
   * @param file names the file
   * @param now the figures before this open
   * @return the figures when a new pass began, or null where none has
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

  /** Returns how many repeats there were from an open on. */
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
