package io.holdfast.fs.mount.jnr;

import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;

/**
 * The directories in which something was looked up, by the core's nodes, with libfuse's numbers of
 * them. libfuse frees a directory that the kernel has forgotten, and ends the process when it is
 * given a number that it does not know any more. The binding gives it numbers of directories at any
 * time, so the directories are kept: what the kernel forgets of one is withheld from libfuse until
 * the directory has gone from the core, and nobody uses its number any more.
 *
 * <p>A directory that the kernel has forgotten and that has not gone stays: how often the kernel
 * still has it, libfuse alone knows.
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
     * Learns that the kernel has forgotten so many lookups of a number. Does not wait: libfuse
     * waits for who is at work in the directory, and the caller may be at work in another one, for
     * which the first waits.
     */
    void forget(long number, long lookups);
  }

  private static final class Kept {
    final long number;

    /** The node that was added last, or 0 where it has gone. */
    volatile long node;

    /** The nodes that have the number, and who uses it. */
    int holders;

    /** Lookups that the kernel has forgotten. */
    long withheld;

    Kept(long number) {
      this.number = number;
    }
  }

  KeptDirectories(Forgetting libfuse) {
    this.libfuse = libfuse;
  }

  /** Takes note of libfuse's number of a directory; before the kernel can forget it. */
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

  /** Returns libfuse's number of a directory, or 0: the kernel has never looked there. */
  long number(long node) {
    Kept kept = nodes.get(node);
    return kept == null ? 0 : kept.number;
  }

  /** Returns the node that has libfuse's number of a directory, or 0: nobody has told. */
  long node(long number) {
    Kept kept = numbers.get(number);
    return kept == null ? 0 : kept.node;
  }

  /** Has something done with libfuse's number of a directory, if there is one. */
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

  /** Learns that a node is no more; nothing is looked up in it from now on. */
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
   * Takes lookups that the kernel has forgotten, where libfuse is not to learn of them yet.
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
