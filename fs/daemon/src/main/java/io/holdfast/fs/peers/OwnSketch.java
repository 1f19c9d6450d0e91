package io.holdfast.fs.peers;

import io.holdfast.fs.FsException;
import io.holdfast.fs.units.Visible;
import io.holdfast.peer.transfer.Told;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sketch of this node's dataset, which peers get and which their sketches are compared with.
 * Methods that may wait for the origin are called by one thread at a time; the others are
 * thread-safe.
 */
final class OwnSketch {
  private static final Logger log = LoggerFactory.getLogger(OwnSketch.class);

  /** Age from which a sketch is made afresh before it is told. */
  private static final long FRESH_NANOS = Duration.ofMinutes(1).toNanos();

  /** Appended to a sketch for a peer that has another dataset, as this node found. */
  private static final String OTHER = "other\n";

  private static final int LONGEST_DETAIL = 1000;

  private final SketchMaker maker;
  private final LongSupplier nanoTime;
  private volatile @Nullable Made made;

  private record Made(DatasetSketch sketch, String mark, long at) {}

  OwnSketch(SketchMaker maker, LongSupplier nanoTime) {
    this.maker = maker;
    this.nanoTime = nanoTime;
  }

  /** Tells whether the sketch can be told without asking the origin. */
  boolean isFresh() {
    Made last = made;
    return last != null && nanoTime.getAsLong() - last.at < FRESH_NANOS;
  }

  /** Returns the digest of the latest sketch; empty before the first. */
  String mark() {
    Made last = made;
    return last == null ? "" : last.mark;
  }

  /**
   * Returns the text for a peer.
   *
   * @param other whether this node found that the peer has another dataset
   * @throws FsException where the origin has never answered
   */
  String told(boolean other) throws FsException {
    DatasetSketch sketch = sketch();
    return other ? sketch + OTHER : sketch.toString();
  }

  /** Judges a peer's answer. */
  Verdict judge(Told answer) {
    if (!answer.outcome().isFetched()) {
      return Verdict.unknown(
          printable("it tells nothing of its dataset: " + answer.outcome().detail()));
    }
    try {
      String text = answer.text();
      boolean refuses = text.endsWith(OTHER);
      String sketch = refuses ? text.substring(0, text.length() - OTHER.length()) : text;
      return judge(DatasetSketch.parse(sketch), refuses);
    } catch (IllegalArgumentException e) {
      return Verdict.unknown("it does not tell of its dataset as this version does");
    } catch (FsException e) {
      return Verdict.unknown(printable("the source cannot be looked at: " + e.getMessage()));
    }
  }

  private Verdict judge(DatasetSketch theirs, boolean refuses) throws FsException {
    DatasetSketch mine = sketch();
    Comparison found = maker.compare(mine, theirs);
    if (found.files() == 0) {
      return Verdict.unknown(found.difference());
    }
    String mark = theirs.mark();
    if (found.isOfOneDataset()) {
      return refuses ? Verdict.heard(mark) : Verdict.same(mark, found.shared());
    }
    return Verdict.other(
        mark,
        printable("its source is %s, here it is %s".formatted(theirs.source(), mine.source()))
            + "; "
            + printable(found.difference()));
  }

  /** Makes a peer's or user's text fit for a log: one short line. */
  private static String printable(String text) {
    return Visible.of(text.substring(0, Math.min(text.length(), LONGEST_DETAIL)));
  }

  private DatasetSketch sketch() throws FsException {
    Made last = made;
    if (last != null && isFresh()) {
      return last.sketch;
    }
    try {
      DatasetSketch fresh = maker.make();
      made = new Made(fresh, fresh.mark(), nanoTime.getAsLong());
      return fresh;
    } catch (FsException e) {
      if (last == null) {
        throw e;
      }
      log.debug("the sketch stays what it was", e);
      return last.sketch;
    }
  }
}
