package io.holdfast.fs.tree;

import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.origin.Attributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes names from the tree that the origin no longer has, even if nobody asks for them again.
 * Otherwise a user who creates, looks up and removes files would make the tree grow without bound.
 *
 * <p>A sweep starts when some thousands of names have become known by lookups and listings, or have
 * been replaced. The sweep asks the origin for these names once more. When the table of nodes has
 * grown by a quarter since the last full sweep, the sweep checks all known names. So the tree is
 * never much larger than the origin's names, and each name that was asked for costs only a few
 * checks. A directory that was listed completely and has not changed since costs one check.
 *
 * <p>Thread-safe; the monitor guards the names to check. One thread sweeps at a time.
 */
final class NameSweep {
  private static final Logger log = LoggerFactory.getLogger(NameSweep.class);

  /** Names that start a sweep. */
  private static final int ENOUGH = 8192;

  /** Least growth of the table, in bytes, that starts a full sweep. */
  private static final long GROWN = 2 << 20;

  private static final int FIRST_IDS = 64;

  /** Entries of a directory that are held at once. */
  private static final int SOME = 1000;

  private final Tree tree;
  private @Nullable Executor threads;
  private long[] asked = new long[FIRST_IDS];
  private int askedCount;
  private Set<Long> listed = new HashSet<>();
  private long added;
  private long discarded;
  private boolean running;

  /** Bytes of the table after the last full sweep or scan; no bound before the first one. */
  private long lookedAt = Long.MAX_VALUE;

  /** For the running sweep: whether a directory has the names that it had when it was listed. */
  private final Map<Long, Boolean> same = new HashMap<>();

  NameSweep(Tree tree) {
    this.tree = tree;
  }

  synchronized void runOn(Executor executor) {
    threads = executor;
  }

  /** Records that a lookup has found a new name. */
  synchronized void asked(Node node) {
    if (askedCount == asked.length) {
      asked = Arrays.copyOf(asked, 2 * askedCount);
    }
    asked[askedCount++] = node.id();
    added++;
    startIfEnough();
  }

  /** Records that a listing has found new names. */
  synchronized void listed(Node directory, long names) {
    if (names > 0) {
      listed.add(directory.id());
      added += names;
      startIfEnough();
    }
  }

  /** Records that a name leads to another node, or to none. */
  synchronized void discarded() {
    discarded++;
    startIfEnough();
  }

  /** Records that a scan has just listed everything. */
  synchronized void knowsAll() {
    lookedAt = tree.nodes().inUse();
  }

  private void startIfEnough() {
    if (threads == null) {
      // no executor: nobody sweeps
      askedCount = 0;
      listed.clear();
    } else if (!running && (added >= ENOUGH || discarded >= ENOUGH)) {
      start(threads);
    }
  }

  /**
   * Starts a sweep. Where no thread can be started, the names wait for the next sweep, which starts
   * when as many names have come again.
   */
  private synchronized void start(Executor on) {
    running = true;
    try {
      on.execute(this::run);
    } catch (OutOfMemoryError e) {
      running = false;
      added = 0;
      discarded = 0;
      OutOfMemory.tell(e);
    }
  }

  private void run() {
    try {
      sweepAdded();
      if (hasGrown()) {
        sweepAll();
        tree.nodes().clean();
        knowsAll();
      }
    } catch (FsException e) {
      log.debug("names that have gone stay for a while: {}", e.getMessage());
    } finally {
      try {
        tree.nodes().clean();
      } finally {
        ended();
      }
    }
  }

  private void sweepAdded() throws FsException {
    long[] ids;
    Set<Long> directories;
    synchronized (this) {
      added = 0; // first: where the copy finds no memory, the next sweep is not to start at once
      ids = Arrays.copyOf(asked, askedCount);
      directories = listed;
      asked = new long[FIRST_IDS];
      askedCount = 0;
      listed = new HashSet<>();
    }
    sweep(ids, directories);
  }

  private synchronized boolean hasGrown() {
    return tree.nodes().inUse() - lookedAt > Math.max(GROWN, lookedAt / 4);
  }

  private synchronized void ended() {
    same.clear();
    running = false;
    discarded = 0;
    startIfEnough();
  }

  private void sweep(long[] ids, Set<Long> directories) throws FsException {
    for (long id : ids) {
      Node node = tree.handle(id);
      Node parent = node == null ? null : node.parent();
      if (node != null && parent != null && !isAsListed(parent)) {
        look(parent, node);
      }
    }
    for (long id : directories) {
      Node directory = tree.handle(id);
      if (directory != null && !isAsListed(directory)) {
        list(directory);
      }
    }
  }

  private void sweepAll() throws FsException {
    List<Long> directories = new ArrayList<>();
    tree.forEach(
        node -> {
          if (node.type() == Attributes.DIRECTORY) {
            directories.add(node.id());
          }
        });
    for (long id : directories) {
      Node directory = tree.handle(id);
      if (directory != null && !isAsListed(directory)) {
        lookAtAll(directory);
      }
    }
  }

  private void lookAtAll(Node directory) throws FsException {
    if (tree.listedAt(directory) != 0) {
      list(directory);
      return;
    }
    List<Node> some = new ArrayList<>();
    long last = 0;
    do {
      some.clear();
      tree.forEachEntry(directory, last, entry -> some.add(entry) && some.size() < SOME);
      for (Node entry : some) {
        look(directory, entry);
        last = entry.id();
      }
    } while (!some.isEmpty());
  }

  private boolean isAsListed(Node directory) throws FsException {
    Boolean known = same.get(directory.id());
    if (known == null) {
      try {
        known = directory.isStale() || tree.hasSameNames(directory);
      } catch (FsException e) {
        requireAnswer(e);
        known = false;
      }
      same.put(directory.id(), known);
    }
    return known;
  }

  private void look(Node directory, Node entry) throws FsException {
    if (entry.isStale()) {
      return;
    }
    try {
      Node unused = tree.lookupWhateverTheWay(directory, entry.name());
    } catch (FsException e) {
      requireAnswer(e);
    }
  }

  /** Lists a directory again. The next sweep checks the names that are new. */
  private void list(Node directory) throws FsException {
    try {
      tree.bringIn(directory, (name, type, inode, cause) -> {});
    } catch (FsException e) {
      requireAnswer(e);
    }
  }

  /** Logs a failure that concerns only this name; throws any other. */
  private static void requireAnswer(FsException e) throws FsException {
    switch (e.code()) {
      case TIMED_OUT, ORIGIN_SILENT, UNAVAILABLE -> throw e;
      default -> log.debug("not looked at: {}", e.getMessage());
    }
  }
}
