package io.holdfast.fs.transit;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.OutOfMemory;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Splits a read into asks, one for each item; predicts the next reads; and starts fetches ahead of
 * them. Thread-safe without a lock.
 */
final class Reads {
  private final MissPath path;
  private final ItemLayout layout;
  private final FetchTable table;
  private final FetchListener listener;
  private final ReadAhead readAhead;
  private final ReadPatterns patterns;
  private final LongSupplier nanoTime;
  private final LastItems lastItems = new LastItems();

  Reads(
      MissPath path,
      ItemLayout layout,
      FetchTable table,
      FetchListener listener,
      ReadAhead readAhead,
      ReadPatterns patterns,
      LongSupplier nanoTime) {
    this.path = path;
    this.layout = layout;
    this.table = table;
    this.listener = listener;
    this.readAhead = readAhead;
    this.patterns = patterns;
    this.nanoTime = nanoTime;
  }

  /** See {@link Transit#read}. */
  void read(
      Content content, long offset, int length, Reader reader, long deadline, Borrower borrower) {
    Guess guess = guess(content, offset, length, reader);
    Item item = layout.itemAt(content, offset);
    int first = (int) (offset - item.offset());
    if (length <= item.length() - first) {
      Ask ask = new Ask(item, first, length, reader, goesOn(reader, item), borrower, deadline);
      path.serve(item, ask, guess);
    } else {
      JoinedReply joined = path.joinedReply(borrower, length);
      try {
        for (int done = 0; done < length; ) {
          Item each = layout.itemAt(content, offset + done);
          int from = (int) (offset + done - each.offset());
          int count = Math.min(length - done, each.length() - from);
          boolean goesOn = goesOn(reader, each);
          Borrower part = joined.part(done, count);
          path.serve(each, new Ask(each, from, count, reader, goesOn, part, deadline), guess);
          done += count;
        }
      } catch (RuntimeException | Error e) {
        joined.abandon(MissPath.failureOf(e));
        throw e;
      }
      joined.complete();
    }
    ReadStream stream = guess.stream();
    if (stream != null && guess.sequential()) {
      try {
        leaveBehind(item, first, length, stream);
        fetchAhead(content, stream, reader);
      } catch (OutOfMemoryError e) {
        OutOfMemory.tell(e); // the read itself has its bytes, or they are coming
      }
    }
  }

  /**
   * Predicts the next reads. A small file is read whole, and so is a file of one item that a reader
   * begins.
   */
  private Guess guess(Content content, long offset, int length, Reader reader) {
    long size = content.version().size();
    if (size <= FileStreams.PART || reader.internal()) {
      return Guess.WHOLE;
    }
    boolean ofOneItem = offset == 0 && size <= layout.itemSize();
    return ofOneItem && table.of(new ItemKey(content.node(), 0)).isEmpty()
        ? Guess.WHOLE
        : patterns.read(content.node(), offset, length, reader.thread(), nanoTime.getAsLong());
  }

  /**
   * Tells whether the reader is still on its way through an item: its last read was of the same
   * item or, since the kernel reads ahead, of another item of the file. Only the beginning of a
   * file begins another pass. A thread that has moved on to another file no longer needs the bytes
   * of the file before.
   */
  private boolean goesOn(Reader reader, Item item) {
    if (reader.internal()) {
      return true;
    }
    ItemKey before = lastItems.exchange(reader.thread(), item.key());
    if (before == null) {
      return false;
    }
    if (before.node() == item.node()) {
      return item.key().extent() != 0 || before.extent() <= 1;
    }
    retireSpent(before);
    return false;
  }

  /**
   * Retires the item before the last one when a reader gets to the next item. If this reader began
   * its run after the last item's start, other readers share the file at another pace and may still
   * need the bytes; then nothing is retired.
   */
  private void leaveBehind(Item item, int first, int length, ReadStream stream) {
    long extent = item.key().extent();
    boolean next = extent >= 2 && first < length;
    if (next && stream.file().hasBegunBefore(stream, item.offset() - layout.itemSize())) {
      retireSpent(new ItemKey(item.node(), extent - 2));
    }
  }

  private void retireSpent(ItemKey item) {
    for (Fetch left : table.of(item)) {
      if (left.isSpent()) {
        path.retire(left);
      }
    }
  }

  private void fetchAhead(Content content, ReadStream stream, Reader reader) {
    FileStreams.Ahead range =
        readAhead.next(stream, content.version().size(), nanoTime.getAsLong());
    for (long at = range.from(); at < range.to(); ) {
      long to = fetchAhead(layout.itemAt(content, at), at, range, stream, reader);
      if (to == at) {
        readAhead.missing(stream, at);
        return;
      }
      at = to;
    }
  }

  /** Fetches ahead from a position; returns the end of the bytes that are fetched now, or were. */
  private long fetchAhead(
      Item item, long at, FileStreams.Ahead plan, ReadStream stream, Reader reader) {
    int from = (int) (at - item.offset());
    Fetch there = table.at(item.key(), from);
    if (there != null) {
      return item.offset() + there.upTo();
    }
    Item range = item;
    boolean whole = path.isFetchedWhole(item);
    if (!whole) {
      int limit = (int) Math.min(item.length(), plan.to() - item.offset());
      int end = table.gapEnd(item.key(), from, limit);
      if (end == from) {
        return fetchAhead(item, at, plan, stream, reader); // another thread was quicker
      }
      range = item.part(from, end);
    }
    if (!readAhead.reserve(stream, range.length())) {
      return at;
    }
    Fetch fetch = add(item, range, whole, stream, reader);
    if (fetch == null) {
      return range.offset() + range.length(); // another thread fetches it
    }
    if (!whole && stream.file().hasRetiredSince(plan.retirements())) {
      path.retire(fetch); // some bytes may have been fetched and read since
      return at;
    }
    Item fetched = path.startAhead(fetch, reader) ? range : item;
    return fetched.offset() + fetched.length();
  }

  /**
   * Adds a fetch ahead of a reader, for which capacity is reserved; returns null where another
   * thread was quicker. Where it adds none, the capacity is free again.
   */
  private @Nullable Fetch add(
      Item item, Item range, boolean whole, ReadStream stream, Reader reader) {
    boolean added = false;
    try {
      Fetch fetch = new Fetch(item, range, nanoTime.getAsLong(), false);
      fetch.ahead(stream);
      fetch.use(listener.use(item, range, reader));
      added = table.add(fetch, whole);
      return added ? fetch : null;
    } finally {
      if (!added) {
        readAhead.release(stream, range.length());
      }
    }
  }
}
