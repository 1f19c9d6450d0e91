package io.holdfast.fs.checkpoint;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The operations that the store does not have durably, in their order: those that it has not taken,
 * and those that it has. And the files with bytes that the store lacks.
 *
 * <p>Guarded by the lock of the {@link Front}.
 */
final class PendingOperations {
  /** The operations that the store has not taken yet. */
  private final ArrayDeque<Pending> queue = new ArrayDeque<>();

  /** The operations before them: the store has taken them, and they are not durable yet. */
  private final ArrayDeque<Pending> window = new ArrayDeque<>();

  /** By inode. */
  private final Map<Long, PendingFile> files = new HashMap<>();

  /** By inode, the last operation that took one of several names away. */
  private final Map<Long, Long> lostName = new HashMap<>();

  private long durable;
  private long bytes;
  private long memory;

  /** An operation. */
  static final class Pending {
    final OperationsLog.Entry entry;

    /** The bytes of a write that are in the log, because a later operation has destroyed them. */
    final List<OperationsLog.Saved> saved = new ArrayList<>(0);

    Pending(OperationsLog.Entry entry) {
      this.entry = entry;
    }

    long sequence() {
      return entry.sequence();
    }

    Operation operation() {
      return entry.operation();
    }
  }

  /**
   * Creates a memory of none.
   *
   * @param durable the number of the last operation that is durable in the store
   */
  PendingOperations(long durable) {
    this.durable = durable;
  }

  /** Returns the number of the last operation that is durable in the store. */
  long durable() {
    return durable;
  }

  /** Returns how many there are. */
  int count() {
    return queue.size() + window.size();
  }

  /** Returns how many bytes all writes have together. */
  long bytes() {
    return bytes;
  }

  /** Returns the memory of this process that they take, in bytes. */
  long memory() {
    return memory;
  }

  /** Returns the first one. */
  @Nullable Pending oldest() {
    return window.isEmpty() ? queue.peek() : window.peek();
  }

  /** Returns the first one that the store has not taken. */
  @Nullable Pending next() {
    return queue.peek();
  }

  /** Returns the last one that the store has not taken. */
  @Nullable Pending last() {
    return queue.peekLast();
  }

  /** Returns the last one that the store has taken. */
  @Nullable Pending lastTaken() {
    return window.peekLast();
  }

  /** Returns those that the store has not taken. */
  Collection<Pending> notTaken() {
    return queue;
  }

  /** Adds one that is in the log. */
  void add(Pending pending) {
    queue.add(pending);
    memory += pending.operation().weight();
    if (pending.operation() instanceof Operation.Write write) {
      bytes += write.length();
      files.computeIfAbsent(write.inode(), inode -> new PendingFile()).add(pending, write);
    }
  }

  /**
   * Takes the last ones back that the store has not taken.
   *
   * @param count how many
   * @return the last one first; the caller {@linkplain #forget forgets} each
   */
  List<Pending> removeLast(int count) {
    List<Pending> removed = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      removed.add(queue.removeLast());
    }
    return removed;
  }

  /** Notes that the store has taken the next one, not durably yet. */
  void taken(Pending pending) {
    if (queue.poll() != pending) {
      throw new IllegalStateException("operations are taken in their order");
    }
    window.add(pending);
  }

  /** Notes that the store may not have what it has taken. */
  void takeAgain() {
    while (!window.isEmpty()) {
      queue.addFirst(window.removeLast());
    }
  }

  /**
   * Notes that all are durable that the store has taken.
   *
   * @return these; the caller {@linkplain #forget forgets} each
   */
  List<Pending> allDurable(long last) {
    List<Pending> done = List.copyOf(window);
    window.clear();
    durable = last;
    lostName.values().removeIf(lost -> lost <= durable);
    return done;
  }

  /**
   * Notes that one is not pending any more, or did not happen.
   *
   * @return whether the store lacks no byte of the file now that it was a write to
   */
  boolean forget(Pending pending) {
    memory -= pending.operation().weight();
    if (!(pending.operation() instanceof Operation.Write write)) {
      return false;
    }
    bytes -= write.length();
    boolean isLast = files.get(write.inode()).remove(pending, write);
    if (isLast) {
      files.remove(write.inode());
    }
    return isLast;
  }

  // --- files

  /** Returns the file of an inode; null if the store lacks no bytes of it. */
  @Nullable PendingFile file(long inode) {
    return files.get(inode);
  }

  boolean hasFile(long inode) {
    return files.containsKey(inode);
  }

  /** Returns the number of files with bytes that a crash of the machine could damage. */
  int unsynced() {
    return (int) files.values().stream().filter(file -> !file.isSynced()).count();
  }

  /** Returns these files by inode, and notes that they are synced. */
  Map<Long, PendingFile> takeUnsynced() {
    Map<Long, PendingFile> unsynced = new HashMap<>();
    files.forEach(
        (inode, file) -> {
          if (file.setSynced(true)) {
            unsynced.put(inode, file);
          }
        });
    return unsynced;
  }

  // --- names

  /** Notes that an operation took a name away from a file that has others. */
  void lostAName(long inode, long sequence) {
    lostName.put(inode, sequence);
  }

  /**
   * Behind a restart, which cannot tell what took names away: the last write to a file stands for
   * that.
   */
  void mayHaveLostNames() {
    for (Pending pending : queue) {
      if (pending.operation() instanceof Operation.Write write) {
        lostName.put(write.inode(), pending.sequence());
      }
    }
  }

  /** Returns the number of the last operation that took a name away from a file; 0 if none did. */
  long lostName(long inode) {
    return lostName.getOrDefault(inode, 0L);
  }

  /** Returns the number of the last one on a path, or below or above it; else what is durable. */
  long lastRelated(String path) {
    for (ArrayDeque<Pending> pendings : List.of(queue, window)) {
      Iterator<Pending> each = pendings.descendingIterator();
      while (each.hasNext()) {
        Pending pending = each.next();
        for (String other : pending.operation().paths()) {
          if (related(other, path)) {
            return pending.sequence();
          }
        }
      }
    }
    return durable;
  }

  /** Tells whether there was such a path, or one below it, when one of them was made. */
  boolean isKnown(String path) {
    return Stream.concat(window.stream(), queue.stream())
        .flatMap(pending -> pending.operation().paths().stream())
        .anyMatch(other -> !other.isEmpty() && related(other, path));
  }

  /**
   * Tells whether one path is the other, or below or above it. Makes no strings: each fsync, and
   * each look whether a file is durable, compares all that is pending with the front's lock.
   */
  private static boolean related(String one, String other) {
    return isAtOrBelow(one, other) || isAtOrBelow(other, one);
  }

  private static boolean isAtOrBelow(String path, String directory) {
    int length = directory.length();
    return path.startsWith(directory)
        && (length == 0 || length == path.length() || path.charAt(length) == '/');
  }
}
