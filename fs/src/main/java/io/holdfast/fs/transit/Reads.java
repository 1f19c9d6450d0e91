package io.holdfast.fs.transit;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ItemKey;
import io.holdfast.fs.ReadReply;
import org.jspecify.annotations.Nullable;

/**
 * The reading side of {@link Transit}: finds the fetches that a read is to be answered from, has
 * those begun that are missing, and what is likely to be read next. Thread-safe without a lock.
 */
final class Reads {
  private final Transit transit;
  private final ItemLayout layout;
  private final FetchTable table;
  private final FetchListener listener;
  private final ReadAhead readAhead;
  private final ReadPatterns patterns = new ReadPatterns();
  private final LastItems lastItems = new LastItems();

  Reads(
      Transit transit,
      ItemLayout layout,
      FetchTable table,
      FetchListener listener,
      ReadAhead readAhead) {
    this.transit = transit;
    this.layout = layout;
    this.table = table;
    this.listener = listener;
    this.readAhead = readAhead;
  }

  /** See {@link Transit#read}. */
  void read(Content content, long offset, int length, Reader reader, ReadReply reply) {
    Guess guess = guess(content, offset, length, reader);
    Item item = layout.itemAt(content, offset);
    int first = (int) (offset - item.offset());
    long deadline = transit.deadline();
    if (length <= item.length() - first) {
      serve(
          item, new Ask(item, first, length, reader, goesOn(reader, item), reply, deadline), guess);
    } else {
      JoinedReply joined = new JoinedReply(reply, length);
      for (int done = 0; done < length; ) {
        Item each = layout.itemAt(content, offset + done);
        int from = (int) (offset + done - each.offset());
        int count = Math.min(length - done, each.length() - from);
        boolean goesOn = goesOn(reader, each);
        serve(
            each,
            new Ask(each, from, count, reader, goesOn, joined.part(done, count), deadline),
            guess);
        done += count;
      }
      joined.complete();
    }
    ReadStream stream = guess.stream();
    if (stream != null && guess.sequential()) {
      leaveBehind(item, first, length, stream);
      fetchAhead(content, stream, reader);
    }
  }

  /** A file of one item that somebody begins to read is read whole, as are those that are small. */
  private Guess guess(Content content, long offset, int length, Reader reader) {
    long size = content.version().size();
    if (size <= FileStreams.PART || reader.internal()) {
      return Guess.WHOLE;
    }
    boolean ofOneItem = offset == 0 && size <= layout.itemSize();
    return ofOneItem && table.of(new ItemKey(content.node(), 0)).isEmpty()
        ? Guess.WHOLE
        : patterns.read(content.node(), offset, length, reader.thread(), transit.now());
  }

  /** The single flight: answers from the fetches that are there, and starts those that are not. */
  void serve(Item item, Ask ask, Guess guess) {
    JoinedReply joined = null;
    int at = ask.offset();
    while (at < ask.end()) {
      Fetch there = ask.wantsWhole() ? table.whole(item.key()) : table.at(item.key(), at);
      Fetch fetch = there == null ? add(item, ask, at, guess) : there;
      if (fetch == null) {
        continue; // another was quicker
      }
      int to = Math.min(ask.end(), fetch.upTo());
      if (to < ask.end() && joined == null) {
        joined = new JoinedReply(ask.reply(), ask.length());
      }
      Ask piece = joined == null ? ask : ask.part(at, to, joined.part(at - ask.offset(), to - at));
      if (there == null ? begin(fetch, piece) : join(fetch, piece)) {
        earn(guess, fetch, to - at - (there == null ? fetch.upTo() - to : 0));
        at = to;
      } else if (joined != null) {
        joined.withdraw();
      }
    }
    if (joined != null) {
      joined.complete();
    }
  }

  /** What is fetched whole because it would be admitted neither costs nor earns. */
  private static void earn(Guess guess, Fetch fetch, int bytes) {
    ReadStream stream = guess.stream();
    if (stream != null && !guess.sequential() && !fetch.isOfWhole()) {
      stream.file().earn(bytes);
    }
  }

  /** Adds a fetch of what is missing from a byte on; returns null where another was quicker. */
  private @Nullable Fetch add(Item item, Ask ask, int at, Guess guess) {
    boolean whole = guess.whole() || isFetchedWhole(item);
    Item range = item;
    if (!whole) {
      int to = (int) Math.min(item.length(), (long) ask.end() + guess.extra());
      int end = table.gapEnd(item.key(), at, to);
      if (end == at) {
        return null;
      }
      range = item.part(at, end);
    }
    Fetch fetch = new Fetch(transit, item, range, transit.now(), ask.isForPeer());
    if (!ask.reader().internal()) {
      fetch.use(listener.use(item, range, ask.reader()));
    }
    if (!table.add(fetch, whole)) {
      return null;
    }
    if (!whole && guess.isOld()) {
      transit.retire(fetch);
      return add(item, ask, at, Guess.NOTHING);
    }
    ReadStream stream = guess.stream();
    if (stream != null && guess.sequential()) {
      stream.file().fetched(stream, range.offset() + range.length());
    }
    return fetch;
  }

  private boolean isFetchedWhole(Item item) {
    return item.length() <= FileStreams.PART || listener.wouldAdmit(item);
  }

  private boolean join(Fetch there, Ask ask) {
    boolean joined = there.isRunning();
    if (!there.read(ask, transit.now())) {
      transit.retire(there);
      return false;
    }
    if (joined && !ask.reader().internal()) {
      transit.stats().coalesced.increment();
    }
    return true;
  }

  /** Returns false where the fetch was abandoned meanwhile, and is out of the table. */
  private boolean begin(Fetch fetch, Ask ask) {
    // only now: whoever pinned the item marked it resident before its fetch left the table
    if (listener.serve(fetch.whole(), ask.offset(), ask.length(), ask.reply())) {
      transit.retire(fetch);
      return true;
    }
    if (!fetch.read(ask, transit.now())) {
      return false;
    }
    transit.start(fetch);
    return true;
  }

  /**
   * Tells whether the reader is still on its way through an item: its last read was of the same
   * one, or of another of the file, since the kernel reads ahead. Only the beginning of a file
   * begins another pass. A thread that has moved on to another file needs the bytes of the one
   * before no longer.
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
   * A reader that gets to the next item has no use for what it has read of the one before the last.
   * Another may have: where it did not come from there itself, those who share the file do not read
   * at the same pace.
   */
  private void leaveBehind(Item item, int first, int length, ReadStream stream) {
    long extent = item.key().extent();
    boolean next = extent >= 2 && first < length;
    if (next && stream.file().hasBegunBefore(stream, item.offset() - layout.itemSize())) {
      retireSpent(new ItemKey(item.node(), extent - 2));
    }
  }

  /** Takes note that bytes of an item which all were delivered are about to be given up. */
  void retiring(Item item) {
    patterns.retiring(item.node());
  }

  private void retireSpent(ItemKey item) {
    for (Fetch left : table.of(item)) {
      if (left.isSpent()) {
        transit.retire(left);
      }
    }
  }

  private void fetchAhead(Content content, ReadStream stream, Reader reader) {
    FileStreams.Ahead range = readAhead.next(stream, content.version().size(), transit.now());
    for (long at = range.from(); at < range.to(); ) {
      long to = fetchAhead(layout.itemAt(content, at), at, range, stream, reader);
      if (to == at) {
        readAhead.missing(stream, at);
        return;
      }
      at = to;
    }
  }

  /** Returns up to where is fetched now, or was. */
  private long fetchAhead(
      Item item, long at, FileStreams.Ahead plan, ReadStream stream, Reader reader) {
    int from = (int) (at - item.offset());
    Fetch there = table.at(item.key(), from);
    if (there != null) {
      return item.offset() + there.upTo();
    }
    Item range = item;
    boolean whole = isFetchedWhole(item);
    if (!whole) {
      int limit = (int) Math.min(item.length(), plan.to() - item.offset());
      int end = table.gapEnd(item.key(), from, limit);
      if (end == from) {
        return fetchAhead(item, at, plan, stream, reader); // another was quicker
      }
      range = item.part(from, end);
    }
    if (!readAhead.reserve(stream, range.length())) {
      return at;
    }
    Fetch fetch = new Fetch(transit, item, range, transit.now(), false);
    fetch.ahead(stream);
    fetch.use(listener.use(item, range, reader));
    if (!table.add(fetch, whole)) {
      fetch.end();
    } else if (!whole && stream.file().hasRetiredSince(plan.retirements())) {
      transit.retire(fetch); // some of it may have been fetched and read since
      return at;
    } else if (listener.serve(item, 0, 0, NO_REPLY)) {
      transit.retire(fetch);
      return item.offset() + item.length();
    } else {
      transit.start(fetch);
    }
    return range.offset() + range.length();
  }

  private static final ReadReply NO_REPLY =
      new ReadReply() {
        @Override
        public void data(CheckedBytes bytes) {}

        @Override
        public void failed(FsException cause) {}
      };
}
