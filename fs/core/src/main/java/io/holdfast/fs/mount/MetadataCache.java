package io.holdfast.fs.mount;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.Tree;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Decides what is answered from the tree, without asking the origin: where asking takes long, what
 * is in directories that were listed whole less than the metadata TTL ago. The kernel is told to
 * believe such an answer for the rest of that time, and what the origin has just said for all of
 * it. And where the origin does not answer, what was known last, as HTTP's caches do by RFC 5861
 * (stale-if-error): hits need no origin, so names must not need it either. That is believed for a
 * moment only. With a TTL of 0 nothing is answered from memory. Thread-safe.
 */
final class MetadataCache {
  /** How long the kernel is to believe what the origin could not be asked. */
  private static final Duration MOMENT = Duration.ofSeconds(1);

  private final Tree tree;
  private final boolean askingTakesLong;
  private final Duration ttl;
  private final LongSupplier nanoTime;

  /** Until when answers are for a moment only. */
  private volatile long doubtUntil;

  MetadataCache(Tree tree, boolean askingTakesLong, Duration ttl, LongSupplier nanoTime) {
    this.tree = tree;
    this.askingTakesLong = askingTakesLong;
    this.ttl = ttl;
    this.nanoTime = nanoTime;
    doubtUntil = nanoTime.getAsLong();
  }

  /** Finds out what a name leads to: by memory, or by asking. */
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
      return tree.lookup(directory, name); // it is changing
    }
    if (known == null) {
      throw new FsException(FsError.NOT_FOUND, directory.path().child(name) + ": not listed");
    }
    return known;
  }

  /** Makes sure that a node's attributes are fresh; false as {@link Tree#refresh} says. */
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
   * Has what is known serve for an answer that failed.
   *
   * @throws FsException the failure, where it was an answer
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

  /** Tells whether everything that is known of a directory's entries is to be believed. */
  boolean holds(Node directory) {
    return nanosLeft(directory) > 0;
  }

  private long nanosLeft(Node directory) {
    long listed = askingTakesLong ? tree.listedAt(directory) : 0;
    long age = nanoTime.getAsLong() - listed;
    return listed == 0 || age < 0 ? 0 : Math.max(0, ttl.toNanos() - age);
  }

  /** Returns how long what is said now of a directory's entries may be believed. */
  Duration believe(Node directory) {
    long left = nanosLeft(directory);
    Duration believed = left == 0 ? ttl : Duration.ofNanos(left);
    return isInDoubt() && believed.compareTo(MOMENT) > 0 ? MOMENT : believed;
  }

  /** Tells whether the origin has just failed to answer, so that what is known stands for it. */
  boolean isInDoubt() {
    return doubtUntil - nanoTime.getAsLong() > 0;
  }

  /** Returns how long the attributes of a node may be believed. */
  Duration believeAttributes(Node node) {
    return believe(listing(node));
  }

  /** Returns the directory whose listing told the attributes of a node: of the root, its own. */
  private static Node listing(Node node) {
    Node parent = node.parent();
    return parent == null ? node : parent;
  }

  Duration ttl() {
    return ttl;
  }
}
