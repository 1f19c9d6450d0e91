package io.holdfast.fs.tree;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Maps names to nodes, and changes the mapping. {@link Tree} asks the origin.
 *
 * <p>Thread-safe. A thread changes a name under one of a few locks, chosen by name, while the
 * {@link Tree.ChangeListener} releases the node that had the name. No thread holds two of these
 * locks, or asks the origin under one. The monitors of {@link NodeTable}, {@link NameIndex} and
 * {@link NameSweep} may be taken under a lock.
 */
final class Names {
  /** Two names seldom share a lock: its holder may wait for requests about other names. */
  private static final int LOCKS = 4096;

  /**
   * Longest wait for a change of a name. The wait is bounded, because the listener that the change
   * waits for may itself wait for this request.
   */
  private static final Duration LONGEST_CHANGE = Duration.ofSeconds(2);

  private final Tree tree;
  private final NodeTable nodes;
  private final Tree.ChangeListener listener;
  private final NameSweep sweep;
  private final NameIndex index;
  private final AtomicLong live = new AtomicLong();
  private final Lock[] changeLocks = new Lock[LOCKS];

  /** Counts by lock how often a node has lost its name; updated under the lock. */
  private final AtomicLongArray losses = new AtomicLongArray(LOCKS);

  /**
   * The state of a name at a moment.
   *
   * @param id the node, even if it is being replaced; 0 for none
   * @param losses tells two states without a node apart if there was a node in between
   */
  record Lead(long id, long losses) {
    private boolean isSame(Lead other) {
      return id == other.id && (id != 0 || losses == other.losses);
    }
  }

  Names(Tree tree, Tree.ChangeListener listener, NameSweep sweep) {
    this.tree = tree;
    this.listener = listener;
    this.sweep = sweep;
    nodes = tree.nodes();
    index = new NameIndex(nodes);
    Arrays.setAll(changeLocks, i -> new ReentrantLock());
  }

  /** Adds a node that was known before. */
  void know(long id) {
    if (!nodes.isStale(id)) {
      nodes.unsee(id);
      live.incrementAndGet();
      if (id != Tree.ROOT) {
        index.add(id);
      }
    }
  }

  /** Reserves room for a number of names. */
  void expect(long count) {
    index.expect(count);
  }

  /** Returns the nodes that are known. */
  long count() {
    return live.get();
  }

  /** Returns the bytes of heap that names take. */
  long bytes() {
    return index.bytes();
  }

  /** Returns the node that a name leads to, even if it is being replaced; 0 for none. */
  long find(Node parent, byte[] name) {
    return index.find(parent.id(), name);
  }

  /** Tells whether a node is just losing its name and no other node has the name yet. */
  boolean isChanging(long id) {
    return nodes.isStale(id) && index.find(nodes.parent(id), nodes.name(id)) == id;
  }

  /**
   * Waits until no thread is changing a name.
   *
   * @throws FsException STALE where it changes for too long, or could not be changed to the end
   */
  void awaitSettled(Node parent, byte[] name) throws FsException {
    Lock lock = lock(parent, name);
    try {
      long id = find(parent, name);
      if (id != 0 && nodes.isStale(id)) {
        throw new FsException(FsError.STALE, parent.path().child(name) + ": is not replaced yet");
      }
    } finally {
      lock.unlock();
    }
  }

  /** Adds a node under a name, or returns null where the name leads to a node already. */
  @Nullable Node addIfNone(Node parent, byte[] name, Attributes fresh) throws FsException {
    Lock lock = lock(parent, name);
    try {
      return find(parent, name) == 0 ? add(parent, name, fresh) : null;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the state of a name, to be compared after the origin has answered. */
  Lead lead(Node parent, byte[] name) {
    return new Lead(find(parent, name), losses.get(lockOf(parent, name)));
  }

  /**
   * Replaces the node of a name by the origin's answer, unless the name has changed meanwhile.
   *
   * @param before the state of the name before the origin was asked
   * @return the new node, or null where the name has changed
   */
  @Nullable Node replaceIfSame(Node parent, byte[] name, Attributes fresh, Lead before)
      throws FsException {
    Lock lock = lock(parent, name);
    try {
      return lead(parent, name).isSame(before) ? replace(parent, name, fresh) : null;
    } finally {
      lock.unlock();
    }
  }

  /** Removes the node of a name; returns false where the name has changed meanwhile. */
  boolean removeIfSame(Node parent, byte[] name, Lead before) throws FsException {
    Lock lock = lock(parent, name);
    try {
      boolean same = lead(parent, name).isSame(before);
      if (same) {
        forget(letGo(parent, name));
      }
      return same;
    } finally {
      lock.unlock();
    }
  }

  private Node replace(Node parent, byte[] name, Attributes fresh) throws FsException {
    Node old = letGo(parent, name);
    try {
      return add(parent, name, fresh);
    } finally {
      forget(old);
    }
  }

  private Node add(Node parent, byte[] name, Attributes fresh) throws FsException {
    if (!parent.attributes().isDirectory()) {
      // the entry became a directory at the origin after the parent was looked up
      throw new FsException(FsError.NOT_DIRECTORY, parent.path() + ": was no directory");
    }
    Node node = append(parent, name, fresh);
    live.incrementAndGet();
    if (parent.isStale()) {
      // another thread has removed the directory meanwhile and may have missed this node
      letGo(node);
      forget(node);
      throw new FsException(FsError.STALE, parent.path() + ": replaced at the origin");
    }
    return node;
  }

  /** A node that finds no room in the index would be listed, and added once more when asked for. */
  private Node append(Node parent, byte[] name, Attributes fresh) throws FsException {
    long id = 0;
    try {
      id = nodes.add(parent.id(), name, fresh);
      // not stale yet, so the record exists
      Node node = Objects.requireNonNull(nodes.node(id));
      index.add(id);
      return node;
    } catch (FsException | OutOfMemoryError e) {
      tree.forgetListing(parent);
      if (id != 0) {
        nodes.markStale(id);
        nodes.discard(id);
      }
      throw e;
    }
  }

  private @Nullable Node letGo(Node parent, byte[] name) {
    Node old = nodes.node(find(parent, name));
    if (old == null) {
      return null;
    }
    losses.incrementAndGet(lockOf(parent, name));
    try {
      return letGo(old);
    } catch (RuntimeException | OutOfMemoryError e) {
      // a name that leads to what is stale is in no listing that is remembered
      tree.forgetListing(parent);
      throw e;
    }
  }

  /**
   * Marks a node and all nodes below it as stale, and lets the listener release them. The name
   * still {@linkplain #find leads} to the old node, so that no thread takes the name for free.
   */
  private Node letGo(Node old) {
    List<Node> gone = old.attributes().isDirectory() ? tree.knownWithin(old) : List.of(old);
    gone.forEach(Node::markStale);
    release(gone);
    gone.stream().filter(node -> !node.equals(old)).forEach(this::forget);
    return old;
  }

  /** Has all nodes released, even if that fails for some: nobody comes to a stale node again. */
  private void release(List<Node> gone) {
    RuntimeException failure = null;
    OutOfMemoryError full = null;
    for (Node node : gone) {
      try {
        listener.replaced(node);
      } catch (RuntimeException e) {
        failure = e;
      } catch (OutOfMemoryError e) {
        full = e;
      }
    }
    if (full != null) {
      throw full;
    }
    if (failure != null) {
      throw failure;
    }
  }

  private void forget(@Nullable Node old) {
    if (old != null && index.remove(old.id())) {
      live.decrementAndGet();
      old.discard();
      sweep.discarded();
    }
  }

  static int lockOf(Node parent, byte[] name) {
    return (NameHash.of(parent.id(), name) & Integer.MAX_VALUE) % LOCKS;
  }

  private Lock lock(Node parent, byte[] name) throws FsException {
    Lock lock = changeLocks[lockOf(parent, name)];
    try {
      if (lock.tryLock(LONGEST_CHANGE.toMillis(), TimeUnit.MILLISECONDS)) {
        return lock;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw new FsException(FsError.STALE, parent.path().child(name) + ": is being replaced");
  }
}
