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
 * Brings the tree up to date with listings of directories: what is new is added, what has changed
 * becomes another node, and what is gone goes, once the whole directory has been listed and the
 * origin, asked for it by name, says so too. Lookups may go on meanwhile. Thread-safe.
 *
 * <p>What a pass finds in a directory it marks with its number, which is the directory's own count
 * of passes; of several passes at once over a directory, the mark of the last that began stays.
 */
public final class TreePass {
  private static final Logger log = LoggerFactory.getLogger(TreePass.class);

  /** No filesystem has coarser times. */
  private static final long COARSEST_NANOS = TimeUnit.SECONDS.toNanos(3);

  private final Tree tree;
  private final NodeTable nodes;
  private final ChangeSink changes;
  private final Moment time;

  /** Nodes from here on were added since the pass began. */
  private final long newNodes;

  /** The number that this pass has in a directory that is being listed. */
  private final ConcurrentHashMap<Long, Integer> numbers = new ConcurrentHashMap<>();

  /** Directories with entries that cannot be known, and those with other names than before. */
  private final Set<Long> partial = ConcurrentHashMap.newKeySet();

  private final Set<Long> otherNames = ConcurrentHashMap.newKeySet();
  private final LongAdder different = new LongAdder();
  private final LongAdder added = new LongAdder();

  /** Why a name of a directory is missing that the listing had. */
  private final ConcurrentHashMap<Long, FsException> missing = new ConcurrentHashMap<>();

  private final AtomicLong incomplete = new AtomicLong();
  private final AtomicReference<@Nullable FsException> firstFailure = new AtomicReference<>();

  /** Learns what a pass found to be other than before. Called by the threads that list. */
  public interface ChangeSink {
    /** For whom nothing depends on it. */
    ChangeSink NONE =
        new ChangeSink() {
          @Override
          public void changed(Node directory, byte[] name, boolean stays) {}

          @Override
          public void otherNames(Node directory) {}

          @Override
          public void found(Node directory, byte[] name, Node found) {}
        };

    /**
     * A name leads elsewhere, to other attributes, or nowhere. Access alone is no change.
     *
     * @param stays whether it leads to the same file or directory, with other attributes
     */
    void changed(Node directory, byte[] name, boolean stays);

    /** A directory that was there before has names that were not known, or has lost some. */
    void otherNames(Node directory);

    /**
     * A directory was found, changed or not. Who was told of it before may have been told of what
     * was so before the tree knew better.
     *
     * @param directory where it has its name
     */
    void found(Node directory, byte[] name, Node found);
  }

  /**
   * Begins a pass.
   *
   * @param time when
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
   * Learns by which directories the next entries were reached.
   *
   * @param way as the origin tells it
   * @throws FsException STALE where these are other directories than those that are known
   */
  public void reached(Node directory, List<Attributes> way) throws FsException {
    tree.requireWay(directory, way);
  }

  /**
   * Takes an entry of a listing.
   *
   * @param fresh null where its attributes cannot be had
   */
  public void found(Node directory, byte[] name, @Nullable Attributes fresh) {
    if (fresh == null) {
      partial.add(directory.id());
      return;
    }
    int number = number(directory);
    try {
      Node known = tree.known(directory, name);
      Attributes before = known == null ? null : known.attributes();
      if (known != null && fresh.equals(before)) {
        nodes.see(known.id(), number);
        reach(directory, name, known, fresh);
        return;
      }
      Node now = tree.listed(directory, name, fresh);
      nodes.see(now.id(), number);
      reach(directory, name, now, fresh);
      if (known == null) {
        added.increment();
        gained(directory);
      } else if (!now.equals(known) || !now.attributes().sameButForAccess(before)) {
        different.increment();
        changes.changed(directory, name, now.equals(known));
      }
    } catch (FsException e) {
      partial.add(directory.id());
      if (isAnswer(e) || tree.isNamed(directory, name)) {
        log.debug("not as it was listed: {}", e.getMessage());
      } else {
        missing.putIfAbsent(directory.id(), e);
      }
    }
  }

  private void reach(Node directory, byte[] name, Node found, Attributes fresh) {
    if (fresh.isDirectory()) {
      changes.found(directory, name, found);
    }
  }

  /** Tells whether the origin has said so: it gives the same to whoever asks. */
  private static boolean isAnswer(FsException e) {
    return switch (e.code()) {
      case NOT_FOUND, NOT_DIRECTORY, SYMLINK, ACCESS_DENIED, NOT_PERMITTED -> true;
      default -> false;
    };
  }

  /** Returns how many names were new that a listing has told. */
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
   * @throws FsException where the tree lacks one of them
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

  /** Learns that a directory could not be listed to its end, or not be brought in. */
  void failed(FsException cause) {
    tree.countIncomplete();
    if (!isAnswer(cause)) {
      incomplete.incrementAndGet();
      firstFailure.compareAndSet(null, cause);
    }
  }

  /**
   * Makes sure that every directory was listed to its end and brought in, but for those of which
   * the origin says that they may not be listed.
   *
   * @throws FsException why the first was not
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
   * Returns when the directory itself had changed last before it was listed; 0 where that was so
   * shortly before, or since, that a change may have been missed, or not show in a coarse time.
   */
  private long changedBefore(Node directory) {
    long changed = directory.attributes().changed();
    return changed < time.ofDay() - COARSEST_NANOS ? changed : 0;
  }

  /** Finds out about an entry that was not listed. */
  private boolean isSettled(Node directory, Node entry) {
    byte[] name = entry.name();
    try {
      if (tree.lookupWhateverTheWay(directory, name).equals(entry)) {
        return true; // another pass has found it, or it came back
      }
    } catch (FsException e) {
      if (e.code() != FsError.NOT_FOUND && e.code() != FsError.NOT_DIRECTORY) {
        log.warn("neither listed nor gone: {}", e.getMessage());
        if (!tree.isNamed(directory, name)) {
          missing.putIfAbsent(directory.id(), e);
        }
        return false;
      }
      gained(directory);
    }
    different.increment();
    changes.changed(directory, name, false);
    return true;
  }

  /** Returns the entries known before that were found changed, or gone. */
  public long different() {
    return different.sum();
  }
}
