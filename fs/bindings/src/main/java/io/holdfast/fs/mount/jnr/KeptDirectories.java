package io.holdfast.fs.mount.jnr;

import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;

/**
 * The directories in which something was looked up: the core's node, and libfuse's number of each.
 * libfuse frees a directory that the kernel has forgotten, and ends the process when it gets a
 * number that it does not know any more. The binding passes numbers of directories to libfuse at
 * any time, so libfuse must keep them. The binding therefore withholds from libfuse that the kernel
 * has forgotten a directory, until the directory has gone from the core and no thread uses its
 * number any more.
 *
 * <p>A directory that the kernel has forgotten and that has not gone stays: only libfuse knows how
 * many lookups the kernel still holds.
 *
 * <p>Thread-safe; the monitor guards what is kept of each number, and is a leaf.
 */
final class KeptDirectories {
  private final Forgetting libfuse;
  private final ConcurrentHashMap<Long, Kept> nodes = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<Long, Kept> numbers = new ConcurrentHashMap<>();

  /** Has libfuse forget. */
  @FunctionalInterface
  interface Forgetting {
    /**
     * Passes on that the kernel has forgotten so many lookups of a number. Does not wait. libfuse
     * waits for callbacks that are at work in the directory, and the caller may itself be at work
     * in another directory, for which such a callback waits.
     */
    void forget(long number, long lookups);
  }

  private static final class Kept {
    final long number;

    /** The node that was added last, or 0 if it has gone. */
    volatile long node;

    /** The count of nodes that have the number, and of threads that use it. */
    int holders;

    /** The lookups that the kernel has forgotten and libfuse has not. */
    long withheld;

    Kept(long number) {
      this.number = number;
    }
  }

  KeptDirectories(Forgetting libfuse) {
    this.libfuse = libfuse;
  }

  /** Notes libfuse's number of a directory; to be called before the kernel can forget it. */
  void add(long node, long number) {
    Kept known = nodes.get(node);
    if (known != null && known.number == number) {
      known.node = node;
      return;
    }
    Kept before;
    synchronized (this) {
      Kept kept = numbers.computeIfAbsent(number, Kept::new);
      kept.holders++;
      kept.node = node;
      before = nodes.put(node, kept);
    }
    if (before != null) {
      leave(before);
    }
  }

  /**
   * Returns libfuse's number of a directory, or 0 if the kernel has never looked anything up there.
   */
  long number(long node) {
    Kept kept = nodes.get(node);
    return kept == null ? 0 : kept.number;
  }

  /** Returns the node that has libfuse's number of a directory, or 0 if it is not known. */
  long node(long number) {
    Kept kept = numbers.get(number);
    return kept == null ? 0 : kept.node;
  }

  /** Calls a function with libfuse's number of a directory, if there is one. */
  void use(long node, LongConsumer use) {
    Kept kept;
    synchronized (this) {
      kept = nodes.get(node);
      if (kept == null) {
        return;
      }
      kept.holders++;
    }
    try {
      use.accept(kept.number);
    } finally {
      leave(kept);
    }
  }

  /** Learns that a node has gone; nothing is looked up in it from now on. */
  void gone(long node) {
    Kept kept;
    synchronized (this) {
      kept = nodes.remove(node);
      if (kept != null && kept.node == node) {
        kept.node = 0;
      }
    }
    if (kept != null) {
      leave(kept);
    }
  }

  private void leave(Kept kept) {
    synchronized (this) {
      kept.holders--;
      if (kept.holders > 0) {
        return;
      }
      numbers.remove(kept.number);
    }
    if (kept.withheld > 0) {
      libfuse.forget(kept.number, kept.withheld);
    }
  }

  /**
   * Takes lookups that the kernel has forgotten, if libfuse must not learn of them yet.
   *
   * @return whether they were taken
   */
  synchronized boolean withhold(long number, long lookups) {
    Kept kept = numbers.get(number);
    if (kept != null) {
      kept.withheld += lookups;
    }
    return kept != null;
  }
}
