package io.holdfast.fs.tree;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.OriginPath;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
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
  /** The id of the root. */
  public static final long ROOT = 1;

  private static final int LOCKS = 64;

  private final Origin origin;
  private final ChangeListener listener;
  private final Node root;
  private final NodeTable nodes;
  private final NameIndex index;
  private final AtomicLong live = new AtomicLong();
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

  /**
   * Creates the tree of an origin.
   *
   * @param nodes what is known of it from before, or nothing
   * @throws FsException where nothing is known and the origin does not answer for its root
   */
  public Tree(Origin origin, NodeTable nodes, ChangeListener listener) throws FsException {
    this.origin = origin;
    this.nodes = nodes;
    this.listener = listener;
    index = new NameIndex(nodes);
    if (nodes.isEmpty()) {
      nodes.add(0, new byte[0], origin.stat(OriginPath.ROOT));
    }
    root = new Node(nodes, ROOT);
    nodes.forEach(this::know);
    Arrays.setAll(changeLocks, i -> new Object());
  }

  private void know(long id) {
    if (!nodes.isStale(id)) {
      nodes.unsee(id);
      live.incrementAndGet();
      if (id != ROOT) {
        index.add(id);
      }
    }
  }

  /**
   * Takes over what is in an image. Only for a tree that nobody has asked anything yet.
   *
   * @param now by whose clock the tree then goes
   * @throws IOException where it cannot be read to its end; what was read before that is known
   * @throws FsException NO_MEMORY, likewise
   */
  public void loaded(TreeImage image, Moment now) throws IOException, FsException {
    long offset = now.offsetOf(image.written());
    index.expect(image.entries());
    image.read(
        new TreeImage.Sink() {
          @Override
          public long entry(long directory, byte[] name, Attributes attributes) throws FsException {
            long id = nodes.add(directory, name, attributes);
            know(id);
            return id;
          }

          @Override
          public void listed(long directory, long at, long changed) {
            nodes.setListed(directory, at - offset, changed);
          }
        });
  }

  /**
   * Writes what is known to a file, from which {@link #loaded} takes it again. Anybody may use the
   * tree meanwhile.
   *
   * @param dataset tells this dataset from all others
   * @return bytes of the file
   * @throws IOException where it cannot be written; the file is what it was before then
   */
  public long write(Path file, String dataset, Moment now) throws IOException {
    ListingTimes listings =
        new ListingTimes() {
          @Override
          public long listedAt(long directory) {
            long at = nodes.listed(directory);
            return at == 0 ? 0 : at + now.offset();
          }

          @Override
          public long listedChanged(long directory) {
            return nodes.listedChanged(directory);
          }
        };
    return TreeImage.write(file, dataset, now, nodes, listings);
  }

  /** Returns a number that grows whenever there is something else to {@link #write}. */
  public long changes() {
    return nodes.changes() + nodes.listings();
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
    if (!nodes.contains(id) || nodes.isStale(id)) {
      throw new FsException(FsError.STALE, "node " + id + ": replaced at the origin");
    }
    return new Node(nodes, id);
  }

  /** Tells whether a node is what its name leads to. */
  public boolean isCurrent(long id) {
    return nodes.contains(id) && !nodes.isStale(id);
  }

  /** Returns a node by its id, also one that has been replaced; the root for an unknown id. */
  public Node handle(long id) {
    return new Node(nodes, nodes.contains(id) ? id : ROOT);
  }

  /** Returns the node that a name is known to lead to, without asking the origin. */
  public @Nullable Node known(Node parent, byte[] name) {
    long id = index.find(parent.id(), name);
    return id == 0 || nodes.isStale(id) ? null : new Node(nodes, id);
  }

  /**
   * Tells whether a name leads to something. It does where it is just being taken from a node that
   * has changed, also before it {@linkplain #known is known} to lead to another one.
   */
  public boolean isNamed(Node parent, byte[] name) {
    return index.find(parent.id(), name) != 0;
  }

  /**
   * Returns the directory that a name is known to lead to. Where it is known to lead to none, the
   * origin is asked: there may be one by now.
   *
   * @throws FsException as {@link #lookup}
   */
  public Node directory(Node parent, byte[] name) throws FsException {
    Node known = known(parent, name);
    return known != null && known.attributes().isDirectory() ? known : lookup(parent, name);
  }

  /** Returns the nodes known within a directory, itself first, or only a file itself. */
  public List<Node> knownWithin(Node top) {
    List<Node> within = new ArrayList<>();
    within.add(top);
    for (int i = 0; i < within.size(); i++) {
      if (within.get(i).attributes().isDirectory()) {
        forEachEntry(within.get(i), 0, within::add);
      }
    }
    return within;
  }

  /** Takes the entries of a directory. */
  @FunctionalInterface
  public interface EntryTaker {
    /** Takes an entry; returns whether to go on. */
    boolean take(Node entry);
  }

  /**
   * Calls for the entries known within a directory, in the order in which they became known, which
   * stays. New ones may come, or not.
   *
   * @param after the id of the entry to go on behind, also one that has been replaced since; 0 to
   *     begin
   */
  public void forEachEntry(Node directory, long after, EntryTaker taker) {
    nodes.forEachEntry(
        directory.id(), after, id -> nodes.isStale(id) || taker.take(new Node(nodes, id)));
  }

  /** The same for who shows the entries: one whose name is just changing is waited for. */
  public void forEachSettledEntry(Node directory, long after, EntryTaker taker) {
    new Passage(this, directory, taker).pass(after);
  }

  /** Tells whether a name is just being taken from a node, and nobody has it yet. */
  boolean isChanging(long id) {
    return nodes.isStale(id) && index.find(nodes.parent(id), nodes.name(id)) == id;
  }

  /** Returns what a name leads to once it is not changing any more. */
  @Nullable Node settled(Node directory, byte[] name) {
    synchronized (lockOf(directory, name)) {
      return known(directory, name);
    }
  }

  /**
   * Returns the time since when all entries of a directory have been known, as it was told to a
   * {@link TreePass}, or 0 where they are not.
   */
  public long listedAt(Node directory) {
    return nodes.listed(directory.id());
  }

  /**
   * Asks the origin whether a directory that was listed whole has the names that it had then: it
   * has, if the time of its own last change is the same.
   */
  public boolean hasSameNames(Node directory) throws FsException {
    long changed = nodes.listedChanged(directory.id());
    return changed != 0
        && listedAt(directory) != 0
        && refresh(directory)
        && directory.attributes().changed() == changed;
  }

  /** Tells that not all entries of a directory may be known any more. */
  public void forgetListing(Node directory) {
    nodes.setListed(directory.id(), 0, 0);
  }

  /** Calls for each node that is known. */
  public void forEach(Consumer<Node> taker) {
    nodes.forEach(
        id -> {
          if (!nodes.isStale(id)) {
            taker.accept(new Node(nodes, id));
          }
        });
  }

  /** Returns the bytes that everything known takes, names and the index of names included. */
  public long bytes() {
    return nodes.bytes() + index.bytes();
  }

  NodeTable nodes() {
    return nodes;
  }

  /** Returns how many entries are known. */
  public long size() {
    return live.get();
  }

  /**
   * Asks the origin what a name leads to. Where the content has another version than the known
   * node, the listener lets go of the old one first and a new node is returned.
   *
   * @throws FsException NOT_FOUND and the like, as the origin says
   */
  public Node lookup(Node parent, byte[] name) throws FsException {
    Attributes fresh = statOrRemove(parent, name);
    Node known = unchanged(parent, name, fresh);
    if (known != null) {
      return known;
    }
    synchronized (lockOf(parent, name)) {
      return replace(parent, name, statOrRemove(parent, name));
    }
  }

  /**
   * Takes what the origin has just told of an entry of a directory, as {@link #lookup} would.
   *
   * @throws FsException as the origin says, where something has changed and it is asked again
   */
  public Node listed(Node parent, byte[] name, Attributes fresh) throws FsException {
    Node known = unchanged(parent, name, fresh);
    if (known != null) {
      return known;
    }
    synchronized (lockOf(parent, name)) {
      // what was listed may be older than what a lookup has found meanwhile
      return index.find(parent.id(), name) == 0
          ? add(parent, name, fresh)
          : replace(parent, name, statOrRemove(parent, name));
    }
  }

  /** Returns the node that the name is known to lead to, with fresh attributes, or null. */
  private @Nullable Node unchanged(Node parent, byte[] name, Attributes fresh) throws FsException {
    Node known = known(parent, name);
    if (known == null) {
      return null;
    }
    Attributes before = known.attributes();
    if (!sameContent(before, fresh)) {
      return null;
    }
    if (!before.equals(fresh)) {
      known.update(fresh);
    }
    return known;
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
    Attributes known = node.attributes();
    if (!sameContent(known, fresh)) {
      return false;
    }
    if (!known.equals(fresh)) {
      node.update(fresh);
    }
    return true;
  }

  private Attributes statOrRemove(Node parent, byte[] name) throws FsException {
    try {
      return origin.stat(parent.path().child(name));
    } catch (FsException e) {
      if (isGone(e) && index.find(parent.id(), name) != 0) {
        synchronized (lockOf(parent, name)) {
          remove(parent, name);
        }
      }
      if (e.code() == FsError.SYMLINK) {
        // one stands where a directory was: what that held is gone
        throw new FsException(FsError.NOT_FOUND, e.getMessage(), e);
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

  private Node replace(Node parent, byte[] name, Attributes fresh) throws FsException {
    Node known = unchanged(parent, name, fresh);
    if (known != null) {
      return known;
    }
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
    Node node = new Node(nodes, nodes.add(parent.id(), name, fresh));
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

  private void remove(Node parent, byte[] name) {
    forget(letGo(parent, name));
  }

  private @Nullable Node letGo(Node parent, byte[] name) {
    long id = index.find(parent.id(), name);
    return id == 0 ? null : letGo(new Node(nodes, id));
  }

  /** The name is {@linkplain #isNamed a name} still, so that nobody takes it for none meanwhile. */
  private Node letGo(Node old) {
    List<Node> gone = old.attributes().isDirectory() ? knownWithin(old) : List.of(old);
    gone.forEach(Node::markStale);
    gone.forEach(listener::replaced);
    gone.stream().filter(node -> !node.equals(old)).forEach(this::forget);
    return old;
  }

  private void forget(@Nullable Node old) {
    if (old != null && index.remove(old.id())) {
      live.decrementAndGet();
    }
  }

  /**
   * Directories keep their node when they change; so does everything that is not a regular file.
   */
  private static boolean sameContent(Attributes known, Attributes fresh) {
    return known.type() == fresh.type()
        && (!known.isRegular() || known.version().equals(fresh.version()));
  }

  private Object lockOf(Node parent, byte[] name) {
    return changeLocks[(NameIndex.hash(parent.id(), name) & Integer.MAX_VALUE) % LOCKS];
  }
}
