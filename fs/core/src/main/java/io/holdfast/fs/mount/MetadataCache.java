package io.holdfast.fs.mount;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.Tree;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Decides which questions the tree answers without the origin. If asking the origin takes long, the
 * tree answers for directories that were listed whole less than the metadata TTL ago. The kernel is
 * told to believe such an answer for the rest of that time, and what the origin has just said for
 * all of it. If the origin does not answer, the tree answers with what was known last, as caches of
 * HTTP do (stale-if-error, RFC 5861): hits need no origin, so names must not need it either. The
 * kernel is told to believe that for a moment only. With a TTL of 0 the tree answers nothing by
 * itself. Thread-safe.
 */
final class MetadataCache {
  /** How long the kernel is to believe an answer that the origin could not confirm. */
  private static final Duration MOMENT = Duration.ofSeconds(1);

  private final Tree tree;
  private final boolean askingTakesLong;
  private final Duration ttl;
  private final LongSupplier nanoTime;

  /** Until when the kernel is to believe answers for a moment only. */
  private volatile long doubtUntil;

  MetadataCache(Tree tree, boolean askingTakesLong, Duration ttl, LongSupplier nanoTime) {
    this.tree = tree;
    this.askingTakesLong = askingTakesLong;
    this.ttl = ttl;
    this.nanoTime = nanoTime;
    doubtUntil = nanoTime.getAsLong();
  }

  /** Finds out which node a name leads to, by the tree or by asking the origin. */
  Node lookup(Node directory, byte[] name) throws FsException {
    if (!holds(directory)) {
      try {
        return tree.lookup(directory, name);
      } catch (FsException e) {
        fallBack(e);
        Node last = tree.known(directory, name);
        if (last == null) {
          throw e;
        }
        return last;
      }
    }
    Node known = tree.known(directory, name);
    if (known == null && tree.isNamed(directory, name)) {
      return tree.lookup(directory, name); // the directory is changing
    }
    if (known == null) {
      throw new FsException(FsError.NOT_FOUND, directory.path().child(name) + ": not listed");
    }
    return known;
  }

  /** Makes sure that a node's attributes are fresh. Returns what {@link Tree#refresh} returns. */
  boolean refresh(Node node) throws FsException {
    if (holds(listing(node))) {
      return true;
    }
    try {
      return tree.refresh(node);
    } catch (FsException e) {
      fallBack(e);
      return true;
    }
  }

  /**
   * Lets what is known stand for an answer, if the origin is silent.
   *
   * @throws FsException the failure, if the origin did answer
   */
  void fallBack(FsException failure) throws FsException {
    boolean silent =
        switch (failure.code()) {
          case IO, TIMED_OUT, ORIGIN_SILENT, UNAVAILABLE -> true;
          default -> false;
        };
    if (!silent || ttl.isZero()) {
      throw failure;
    }
    doubtUntil = nanoTime.getAsLong() + MOMENT.toNanos();
  }

  /** Tells whether the tree answers for a directory's entries. */
  boolean holds(Node directory) {
    return nanosLeft(directory) > 0;
  }

  private long nanosLeft(Node directory) {
    long listed = askingTakesLong ? tree.listedAt(directory) : 0;
    long age = nanoTime.getAsLong() - listed;
    return listed == 0 || age < 0 ? 0 : Math.max(0, ttl.toNanos() - age);
  }

  /** Returns how long the kernel may believe what it is told now of a directory's entries. */
  Duration believe(Node directory) {
    long left = nanosLeft(directory);
    Duration believed = left == 0 ? ttl : Duration.ofNanos(left);
    return isInDoubt() && believed.compareTo(MOMENT) > 0 ? MOMENT : believed;
  }

  /** Tells whether the origin has just failed to answer, so that the tree answers for it. */
  boolean isInDoubt() {
    return doubtUntil - nanoTime.getAsLong() > 0;
  }

  /** Returns how long the kernel may believe the attributes of a node. */
  Duration believeAttributes(Node node) {
    return believe(listing(node));
  }

  /**
   * Returns the directory whose listing has the attributes of a node: its parent, or the root for
   * itself.
   */
  private static Node listing(Node node) {
    Node parent = node.parent();
    return parent == null ? node : parent;
  }

  Duration ttl() {
    return ttl;
  }
}
