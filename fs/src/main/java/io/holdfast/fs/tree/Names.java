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
 * What each name leads to, and how it comes to lead elsewhere. What the origin has is found out by
 * {@link Tree}.
 *
 * <p>Thread-safe. A name is changed under one of a few locks, chosen by name, while the {@link
 * Tree.ChangeListener} lets go of the node that had it. Nobody has two of them, or asks the origin
 * with one; the monitors of {@link NodeTable}, {@link NameIndex} and {@link NameSweep} may be taken
 * under it.
 */
final class Names {
  /** So many that two names seldom share one: who has it may wait for requests about others. */
  private static final int LOCKS = 4096;

  /**
   * How long a change of a name is waited for. Not for ever: the listener of the one who makes it
   * may wait for this very request.
   */
  private static final Duration LONGEST_CHANGE = Duration.ofSeconds(2);

  private final Tree tree;
  private final NodeTable nodes;
  private final Tree.ChangeListener listener;
  private final NameSweep sweep;
  private final NameIndex index;
  private final AtomicLong live = new AtomicLong();
  private final Lock[] changeLocks = new Lock[LOCKS];

  /** How often a node has lost its name, by the lock of the name, which is held then. */
  private final AtomicLongArray losses = new AtomicLongArray(LOCKS);

  /**
   * What a name leads to at a moment.
   *
   * @param id the node, also one that is being replaced; 0 for none
   * @param losses tells nothing from nothing, with something between
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

  /** Takes over a node from before. */
  void know(long id) {
    if (!nodes.isStale(id)) {
      nodes.unsee(id);
      live.incrementAndGet();
      if (id != Tree.ROOT) {
        index.add(id);
      }
    }
  }

  /** Makes room for so many names. */
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

  /** Returns the node that a name leads to, also one that is being replaced; 0 for none. */
  long find(Node parent, byte[] name) {
    return index.find(parent.id(), name);
  }

  /** Tells whether a name is just being taken from a node, and nobody has it yet. */
  boolean isChanging(long id) {
    return nodes.isStale(id) && index.find(nodes.parent(id), nodes.name(id)) == id;
  }

  /** Waits until a name is not changing any more. */
  void awaitSettled(Node parent, byte[] name) throws FsException {
    lock(parent, name).unlock();
  }

  /** Has a name lead to a node, unless it leads to one already; returns null then. */
  @Nullable Node addIfNone(Node parent, byte[] name, Attributes fresh) throws FsException {
    Lock lock = lock(parent, name);
    try {
      return find(parent, name) == 0 ? add(parent, name, fresh) : null;
    } finally {
      lock.unlock();
    }
  }

  /** Returns what a name leads to now, for who is going to ask the origin. */
  Lead lead(Node parent, byte[] name) {
    return new Lead(find(parent, name), losses.get(lockOf(parent, name)));
  }

  /**
   * Has a name lead to what the origin has told, unless it has changed since then.
   *
   * @param before what it led to before the origin was asked
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

  /** Has a name lead nowhere; returns false where it has changed, likewise. */
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
      // it has become one at the origin since it was looked at
      throw new FsException(FsError.NOT_DIRECTORY, parent.path() + ": was no directory");
    }
    Node node = append(parent, name, fresh);
    live.incrementAndGet();
    index.add(node.id());
    if (parent.isStale()) {
      // removed while the origin was asked: whoever removed it may have missed this node
      letGo(node);
      forget(node);
      throw new FsException(FsError.STALE, parent.path() + ": replaced at the origin");
    }
    return node;
  }

  private Node append(Node parent, byte[] name, Attributes fresh) throws FsException {
    try {
      // not stale yet, and so there
      return Objects.requireNonNull(nodes.node(nodes.add(parent.id(), name, fresh)));
    } catch (FsException e) {
      tree.forgetListing(parent);
      throw e;
    }
  }

  private @Nullable Node letGo(Node parent, byte[] name) {
    Node old = nodes.node(find(parent, name));
    if (old == null) {
      return null;
    }
    losses.incrementAndGet(lockOf(parent, name));
    return letGo(old);
  }

  /** The name is {@linkplain #find found} still, so that nobody takes it for none meanwhile. */
  private Node letGo(Node old) {
    List<Node> gone = old.attributes().isDirectory() ? tree.knownWithin(old) : List.of(old);
    gone.forEach(Node::markStale);
    gone.forEach(listener::replaced);
    gone.stream().filter(node -> !node.equals(old)).forEach(this::forget);
    return old;
  }

  private void forget(@Nullable Node old) {
    if (old != null && index.remove(old.id())) {
      live.decrementAndGet();
      old.discard();
      sweep.discarded();
    }
  }

  static int lockOf(Node parent, byte[] name) {
    return (NameIndex.hash(parent.id(), name) & Integer.MAX_VALUE) % LOCKS;
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
