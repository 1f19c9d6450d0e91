package io.holdfast.fs.tree;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.Origin;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The entries of the dataset that were asked for so far. The origin is the truth: {@link #lookup}
 * and {@link #refresh} ask it each time, since the kernel caches their answers for the metadata TTL
 * and asks only when it wants to know afresh.
 *
 * <p>Thread-safe. A lookup that finds the same version takes no lock. A change of version is
 * carried out under one of a few locks, chosen by name, while the {@link ChangeListener} lets go of
 * the old version; nothing of a fetch happens under it.
 */
public final class Tree {
  private static final int LOCKS = 64;

  private final Origin origin;
  private final ChangeListener listener;
  private final Node root;
  private final AtomicLong lastId;
  private final ConcurrentHashMap<Long, Node> nodes = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<ChildKey, Node> children = new ConcurrentHashMap<>();
  private final Object[] changeLocks = new Object[LOCKS];

  /** Learns that a node's version is no longer what its name leads to. */
  @FunctionalInterface
  public interface ChangeListener {
    /**
     * Lets go of everything that stands for this node. It is stale already and nothing has taken
     * its name yet; when this method returns, no pin, no fetch and no kernel entry leads from the
     * name to the node.
     */
    void replaced(Node old);
  }

  /** A name within a directory. Immutable. */
  private static final class ChildKey {
    final long parent;
    final byte[] name;

    ChildKey(long parent, byte[] name) {
      this.parent = parent;
      this.name = name;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof ChildKey key && parent == key.parent && Arrays.equals(name, key.name);
    }

    @Override
    public int hashCode() {
      return Long.hashCode(parent) * 31 + Arrays.hashCode(name);
    }
  }

  /**
   * Creates the tree of an origin.
   *
   * @param rootId the id of the root; later nodes count up from it
   * @throws FsException where the origin does not answer for its root
   */
  public Tree(Origin origin, long rootId, ChangeListener listener) throws FsException {
    this.origin = origin;
    this.listener = listener;
    lastId = new AtomicLong(rootId);
    root = new Node(rootId, null, new byte[0], origin.stat(io.holdfast.fs.origin.OriginPath.ROOT));
    nodes.put(rootId, root);
    Arrays.setAll(changeLocks, i -> new Object());
  }

  /** Returns the dataset's root. */
  public Node root() {
    return root;
  }

  /**
   * Returns a node by its id.
   *
   * @throws FsException STALE where the id is unknown or its node has been replaced
   */
  public Node node(long id) throws FsException {
    Node node = nodes.get(id);
    if (node == null || node.isStale()) {
      throw new FsException(FsError.STALE, "node " + id + ": replaced at the origin");
    }
    return node;
  }

  /** Returns the node that a name is known to lead to, without asking the origin. */
  public @Nullable Node known(Node parent, byte[] name) {
    Node node = children.get(new ChildKey(parent.id(), name));
    return node == null || node.isStale() ? null : node;
  }

  /** Returns the nodes known within a directory, itself first, or only a file itself. */
  public List<Node> knownWithin(Node top) {
    List<Node> within = new ArrayList<>();
    within.add(top);
    for (Node node : nodes.values()) {
      if (node != top && !node.isStale() && node.isWithin(top)) {
        within.add(node);
      }
    }
    return within;
  }

  /** Returns how many entries are known. */
  public long size() {
    return nodes.size();
  }

  /**
   * Asks the origin what a name leads to. Where the content has another version than the known
   * node, the listener lets go of the old one first and a new node is returned.
   *
   * @throws FsException NOT_FOUND and the like, as the origin says
   */
  public Node lookup(Node parent, byte[] name) throws FsException {
    ChildKey key = new ChildKey(parent.id(), name);
    Attributes fresh = statOrRemove(parent, key);
    Node known = children.get(key);
    if (known != null && !known.isStale() && sameContent(known.attributes(), fresh)) {
      known.update(fresh);
      return known;
    }
    synchronized (lockOf(key)) {
      return replace(parent, key, statOrRemove(parent, key));
    }
  }

  /**
   * Asks the origin for the attributes of a node.
   *
   * @return whether the node still stands for what its name leads to; its {@link Node#attributes()}
   *     are fresh then, and else still those of its own version
   */
  public boolean refresh(Node node) throws FsException {
    Attributes fresh;
    try {
      fresh = origin.stat(node.path());
    } catch (FsException e) {
      if (isGone(e)) {
        return false;
      }
      throw e;
    }
    if (!sameContent(node.attributes(), fresh)) {
      return false;
    }
    node.update(fresh);
    return true;
  }

  private Attributes statOrRemove(Node parent, ChildKey key) throws FsException {
    try {
      return origin.stat(parent.path().child(key.name));
    } catch (FsException e) {
      if (isGone(e) && children.containsKey(key)) {
        synchronized (lockOf(key)) {
          remove(key);
        }
      }
      throw e;
    }
  }

  private static boolean isGone(FsException e) {
    return switch (e.code()) {
      case NOT_FOUND, NOT_DIRECTORY, SYMLINK -> true;
      default -> false;
    };
  }

  private Node replace(Node parent, ChildKey key, Attributes fresh) throws FsException {
    Node known = children.get(key);
    if (known != null && !known.isStale() && sameContent(known.attributes(), fresh)) {
      known.update(fresh);
      return known;
    }
    remove(key);
    Node node = new Node(lastId.incrementAndGet(), parent, key.name, fresh);
    nodes.put(node.id(), node);
    children.put(key, node);
    if (parent.isStale()) {
      // removed while the origin was asked: whoever removed it may have missed this node
      remove(key);
      throw new FsException(FsError.STALE, parent.path() + ": replaced at the origin");
    }
    return node;
  }

  private void remove(ChildKey key) {
    Node old = children.get(key);
    if (old == null) {
      return;
    }
    List<Node> gone = old.attributes().isDirectory() ? knownWithin(old) : List.of(old);
    gone.forEach(Node::markStale);
    gone.forEach(listener::replaced);
    for (Node node : gone) {
      nodes.remove(node.id());
      Node above = node.parent();
      if (above != null) {
        children.remove(new ChildKey(above.id(), node.name()), node);
      }
    }
  }

  /**
   * Directories keep their node when they change; so does everything that is not a regular file.
   */
  private static boolean sameContent(Attributes known, Attributes fresh) {
    return known.type() == fresh.type()
        && (!known.isRegular() || known.version().equals(fresh.version()));
  }

  private Object lockOf(ChildKey key) {
    return changeLocks[(key.hashCode() & Integer.MAX_VALUE) % LOCKS];
  }
}
