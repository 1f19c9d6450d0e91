package io.holdfast.fs.transit;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FetchUse;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ItemKey;
import io.holdfast.fs.ReadSource;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Decides as a test says and keeps what it is told. Thread-safe. */
final class FakeListener implements FetchListener {
  volatile Predicate<Item> admits = item -> false;
  volatile Serve serve = (item, offset, length, reply) -> false;

  /** An end of a file, lent. */
  static final Loan NOTHING =
      new Loan() {
        @Override
        public CheckedBytes bytes() {
          return CheckedBytes.NOTHING;
        }

        @Override
        public byte[] checksum() {
          throw new IllegalStateException("of nothing");
        }

        @Override
        public void release() {}
      };

  /** Runs once, before the next fetch of this place of a file can be found. */
  final Map<Long, Runnable> beforeFetchAt = new ConcurrentHashMap<>();

  /** Runs when a fetch has ended, before its readers learn of a failure. */
  volatile Runnable whenEnded = () -> {};

  /** Whether an item is pinned before the offer of it has returned. */
  volatile boolean pinsAtOnce;

  /** Whether the pins of admitted items need none of their bytes. */
  volatile boolean givesWay;

  final Queue<Fetched> admitted = new ConcurrentLinkedQueue<>();
  final Map<ItemKey, Integer> offers = new ConcurrentHashMap<>();
  final AtomicLong delivered = new AtomicLong();
  final List<Item> completed = new CopyOnWriteArrayList<>();
  final List<String> ended = new CopyOnWriteArrayList<>();
  final List<Item> changed = new CopyOnWriteArrayList<>();

  @FunctionalInterface
  interface Serve {
    boolean serve(Item item, int offset, int length, Borrower borrower);
  }

  @Override
  public boolean wouldAdmit(Item item) {
    return admits.test(item);
  }

  @Override
  public boolean serve(Item item, int offset, int length, Borrower borrower) {
    return serve.serve(item, offset, length, borrower);
  }

  @Override
  public boolean offer(Fetched fetched) {
    offers.merge(fetched.item().key(), 1, Integer::sum);
    if (!admits.test(fetched.item())) {
      return false;
    }
    admitted.add(fetched);
    if (givesWay) {
      fetched.giveWay();
    }
    if (pinsAtOnce) {
      pinAll();
    }
    return true;
  }

  @Override
  public void delivered(Item item, int bytes, boolean complete) {
    delivered.addAndGet(bytes);
    if (complete) {
      completed.add(item);
    }
  }

  @Override
  public FetchUse use(Item item, Item range, Reader reader) {
    Runnable before = beforeFetchAt.remove(range.offset());
    if (before != null) {
      before.run();
    }
    return FetchUse.NONE;
  }

  @Override
  public void ended(Item item, ReadSource source, long nanos, @Nullable FsException failure) {
    String how = failure == null ? source.toString() : failure.code().toString();
    ended.add(item + " " + how);
    whenEnded.run();
  }

  @Override
  public void changed(Item item) {
    changed.add(item);
  }

  /** Says of everything that was admitted that it is pinned now. */
  void pinAll() {
    for (Fetched fetched = admitted.poll(); fetched != null; fetched = admitted.poll()) {
      fetched.done();
    }
  }
}
