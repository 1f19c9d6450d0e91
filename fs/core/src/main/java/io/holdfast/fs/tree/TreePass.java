package io.holdfast.fs.tree;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Updates the tree from listings of directories. It adds new entries and replaces changed ones by
 * new nodes. It removes an entry that was not listed only when the whole directory has been listed
 * and the origin, asked by name, confirms that the entry is gone. Lookups may go on meanwhile.
 * Thread-safe.
 *
 * <p>The pass marks the entries that it finds with its number, from the directory's own counter of
 * passes. If several passes go over a directory at once, the mark of the pass that began last
 * stays.
 */
public final class TreePass {
  private static final Logger log = LoggerFactory.getLogger(TreePass.class);

  /** No filesystem has a coarser resolution of times. */
  private static final long COARSEST_NANOS = TimeUnit.SECONDS.toNanos(3);

  private final Tree tree;
  private final NodeTable nodes;
  private final ChangeSink changes;
  private final Moment time;

  /** Nodes from this id on were added after the pass began. */
  private final long newNodes;

  /** The pass's number in each directory that is being listed. */
  private final ConcurrentHashMap<Long, Integer> numbers = new ConcurrentHashMap<>();

  /**
   * Directories with entries that could not be read, and directories with other names than before.
   */
  private final Set<Long> partial = ConcurrentHashMap.newKeySet();

  private final Set<Long> otherNames = ConcurrentHashMap.newKeySet();

  /** Directories with entries for whose attributes the origin gave no answer. */
  private final Set<Long> unread = ConcurrentHashMap.newKeySet();

  private final LongAdder different = new LongAdder();
  private final LongAdder added = new LongAdder();

  /** By directory, why the tree lacks a listed name. */
  private final ConcurrentHashMap<Long, FsException> missing = new ConcurrentHashMap<>();

  private final AtomicLong incomplete = new AtomicLong();
  private final AtomicReference<@Nullable FsException> firstFailure = new AtomicReference<>();

  /** Why the pass could not find out what a known name leads to now. */
  private final AtomicReference<@Nullable FsException> firstUnsettled = new AtomicReference<>();

  /** Learns of the changes that a pass finds. Called by the threads that list. */
  public interface ChangeSink {
    /** Ignores all changes. */
    ChangeSink NONE =
        new ChangeSink() {
          @Override
          public void changed(Node directory, byte[] name, boolean stays) {}

          @Override
          public void added(Node directory, byte[] name) {}

          @Override
          public void otherNames(Node directory) {}

          @Override
          public void found(Node directory, byte[] name, Node found) {}
        };

    /**
     * Learns that a name leads elsewhere, to other attributes, or nowhere. Access alone is no
     * change.
     *
     * @param stays whether the name leads to the same file or directory, with other attributes
     */
    void changed(Node directory, byte[] name, boolean stays);

    /** Learns of a name that the tree did not know. */
    void added(Node directory, byte[] name);

    /** Learns that a known directory has gained or lost names. */
    void otherNames(Node directory);

    /**
     * Learns that an entry was found, changed or not. A program may have been told of its former
     * state while the tree did not know better.
     *
     * @param directory the directory that holds the name
     */
    void found(Node directory, byte[] name, Node found);
  }

  /**
   * Begins a pass.
   *
   * @param time the current moment
   */
  public TreePass(Tree tree, Moment time, ChangeSink changes) {
    this.tree = tree;
    this.nodes = tree.nodes();
    this.time = time;
    this.changes = changes;
    newNodes = nodes.end();
  }

  private int number(Node directory) {
    return numbers.computeIfAbsent(directory.id(), nodes::beginPass);
  }

  /**
   * Checks the ancestors of the next entries.
   *
   * @param way the ancestors' attributes as the origin reports them
   * @throws FsException STALE where the ancestors are other directories than the known ones
   */
  public void reached(Node directory, List<Attributes> way) throws FsException {
    tree.requireWay(directory, way);
  }

  /** Takes an entry of a listing. */
  public void found(Node directory, byte[] name, Attributes fresh) {
    int number = number(directory);
    try {
      Node known = tree.known(directory, name);
      Attributes before = known == null ? null : known.attributes();
      if (known != null && fresh.equals(before)) {
        nodes.see(known.id(), number);
        changes.found(directory, name, known);
        return;
      }
      Node now = listed(directory, name, fresh);
      nodes.see(now.id(), number);
      changes.found(directory, name, now);
      if (known == null) {
        added.increment();
        gained(directory);
        changes.added(directory, name);
      } else if (!now.equals(known) || !now.attributes().sameButForAccess(before)) {
        different.increment();
        changes.changed(directory, name, now.equals(known));
      }
    } catch (FsException e) {
      partial.add(directory.id());
      log.debug("not as it was listed: {}", e.getMessage());
      if (!isAnswer(e)) {
        unsettled(directory, name, e);
      }
    }
  }

  /**
   * Takes an entry of a listing whose attributes cannot be read. Unless the origin forbids to read
   * them, its directory counts as one that could not be listed whole.
   */
  public void unread(Node directory, FsException cause) {
    partial.add(directory.id());
    if (!isAnswer(cause) && unread.add(directory.id())) {
      failed(cause);
    }
  }

  /** Adds a listed entry, even if others change its ancestors meanwhile. */
  private Node listed(Node directory, byte[] name, Attributes fresh) throws FsException {
    try {
      return tree.listed(directory, name, fresh);
    } catch (FsException e) {
      if (e.code() != FsError.STALE || directory.isStale()) {
        throw e;
      }
      return tree.lookupWhateverTheWay(directory, name);
    }
  }

  /**
   * Records why a name is unknown. Entries of a directory that has gone meanwhile do not matter.
   */
  private void unsettled(Node directory, byte[] name, FsException cause) {
    if (!tree.isNamed(directory, name)) {
      missing.putIfAbsent(directory.id(), cause);
    } else if (!directory.isStale()) {
      firstUnsettled.compareAndSet(null, cause);
    }
  }

  /** Tells whether the failure is the origin's answer, the same for everybody who asks. */
  private static boolean isAnswer(FsException e) {
    return switch (e.code()) {
      case NOT_FOUND, NOT_DIRECTORY, SYMLINK, ACCESS_DENIED, NOT_PERMITTED -> true;
      default -> false;
    };
  }

  /** Returns how many listed names were new to the tree. */
  public long added() {
    return added.sum();
  }

  private void gained(Node directory) {
    if (directory.id() < newNodes) {
      otherNames.add(directory.id());
    }
  }

  /**
   * Learns that every entry of a directory has been passed to {@link #found}.
   *
   * @throws FsException where the tree lacks an entry
   */
  public void complete(Node directory) throws FsException {
    try {
      bringToEnd(directory);
    } finally {
      numbers.remove(directory.id());
      partial.remove(directory.id());
      if (otherNames.remove(directory.id())) {
        changes.otherNames(directory);
      }
    }
    FsException lacks = missing.remove(directory.id());
    if (lacks != null) {
      failed(lacks);
      throw lacks;
    }
  }

  private void bringToEnd(Node directory) {
    int number = number(directory);
    List<Node> missed = new ArrayList<>();
    tree.forEachEntry(
        directory,
        0,
        entry -> {
          if (entry.id() < newNodes && !nodes.isSeen(entry.id(), number)) {
            missed.add(entry);
          }
          return entry.id() < newNodes;
        });
    boolean whole = !partial.contains(directory.id());
    for (Node entry : missed) {
      whole &= isSettled(directory, entry);
    }
    if (whole) {
      nodes.setListed(directory.id(), time.steady(), changedBefore(directory));
    } else {
      tree.forgetListing(directory);
    }
  }

  /** Learns that a directory could not be listed completely or added to the tree. */
  void failed(FsException cause) {
    tree.countIncomplete();
    if (!isAnswer(cause)) {
      incomplete.incrementAndGet();
      firstFailure.compareAndSet(null, cause);
    }
  }

  /**
   * Requires that every directory was listed completely and added, except directories that the
   * origin forbids to list.
   *
   * @throws FsException the first failure
   */
  public void requireWhole() throws FsException {
    FsException failure = firstFailure.get();
    if (failure != null) {
      throw new FsException(
          failure.code(),
          "%d directories could not be listed whole: %s"
              .formatted(incomplete.get(), failure.getMessage()),
          failure);
    }
  }

  /**
   * Requires that the tree knows, for every name known before, what the name leads to since the
   * pass began.
   *
   * @throws FsException the first failure
   */
  public void requireSettled() throws FsException {
    FsException unsettled = firstUnsettled.get();
    if (unsettled != null) {
      throw unsettled;
    }
  }

  /**
   * Returns the directory's own change time before it was listed. Returns 0 if the change was so
   * recent that a further change may have been missed or may not show in a coarse time.
   */
  private long changedBefore(Node directory) {
    long changed = directory.attributes().changed();
    return changed < time.ofDay() - COARSEST_NANOS ? changed : 0;
  }

  /** Finds out what became of an entry that was not listed. */
  private boolean isSettled(Node directory, Node entry) {
    byte[] name = entry.name();
    try {
      if (tree.lookupWhateverTheWay(directory, name).equals(entry)) {
        return true; // another pass has found it, or it has come back
      }
    } catch (FsException e) {
      if (e.code() != FsError.NOT_FOUND && e.code() != FsError.NOT_DIRECTORY) {
        log.warn("neither listed nor gone: {}", e.getMessage());
        unsettled(directory, name, e);
        return false;
      }
      gained(directory);
    }
    different.increment();
    changes.changed(directory, name, false);
    return true;
  }

  /** Returns how many known entries have changed or gone. */
  public long different() {
    return different.sum();
  }
}
