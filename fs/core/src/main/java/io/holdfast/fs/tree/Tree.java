package io.holdfast.fs.tree;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.KnownEntries;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.Origin.EntrySink;
import io.holdfast.fs.origin.Origin.Found;
import io.holdfast.fs.origin.Origin.FoundEntries;
import io.holdfast.fs.origin.Origin.KnownEntry;
import io.holdfast.fs.origin.Origin.UnreadSink;
import io.holdfast.fs.origin.OriginPath;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The entries of the dataset that have been asked for. The origin is the truth: {@link #lookup} and
 * {@link #refresh} ask it each time. The kernel caches their answers for the metadata TTL, so it
 * asks only when it wants a fresh answer.
 *
 * <p>Thread-safe. A lookup that finds the same version takes no lock. A change of version takes a
 * lock of {@link Names}; no fetch and no call to the origin happens under the lock. So an answer of
 * the origin may be late. The tree accepts an answer only if the name still leads to the node from
 * before the question. Otherwise another thread has had a younger answer, and the tree asks again.
 */
public final class Tree {
  /** The id of the root. */
  public static final long ROOT = 1;

  /**
   * Most times that the origin is asked. An answer is late only if another thread has just changed
   * the same name.
   */
  private static final int MOST_QUESTIONS = 16;

  private final Origin origin;
  private final ChangeListener listener;
  private final Node root;
  private final NodeTable nodes;
  private final Names names;
  private final AtomicLong incomplete = new AtomicLong();
  private final AncestorRights way;
  private final NameSweep sweep;

  /** Learns of changes of names and rights. */
  @FunctionalInterface
  public interface ChangeListener {
    /**
     * Releases everything that belongs to this node. The node is already stale, and no other node
     * has its name yet. When this method returns, no pin, fetch or kernel entry leads from the name
     * to the node.
     */
    void replaced(Node old);

    /**
     * Learns the attributes, with other rights, that a directory is about to get. Does not wait.
     */
    default void willHaveOtherRights(Node directory, Attributes fresh) {}

    /**
     * Learns that a directory's rights have changed, so that the kernel asks for them again. Does
     * not wait.
     */
    default void otherRights(Node directory) {}

    /**
     * Learns from a request by path that a directory's name leads to another directory. The
     * listener looks up the name, but on another thread: the calling thread may answer a request
     * for the same directory. Does not wait.
     */
    default void elsewhere(Node directory) {}

    /** Returns a listener that forwards to another one, which may be created later. */
    static ChangeListener of(Supplier<? extends ChangeListener> listener) {
      return new ChangeListener() {
        @Override
        public void replaced(Node old) {
          listener.get().replaced(old);
        }

        @Override
        public void willHaveOtherRights(Node directory, Attributes fresh) {
          listener.get().willHaveOtherRights(directory, fresh);
        }

        @Override
        public void otherRights(Node directory) {
          listener.get().otherRights(directory);
        }

        @Override
        public void elsewhere(Node directory) {
          listener.get().elsewhere(directory);
        }
      };
    }
  }

  /**
   * Creates the tree of an origin.
   *
   * @param nodes the nodes known from before, or none
   * @throws FsException where no nodes are known and the origin does not answer for its root
   */
  public Tree(Origin origin, NodeTable nodes, ChangeListener listener) throws FsException {
    this.origin = origin;
    this.nodes = nodes;
    this.listener = listener;
    way = new AncestorRights(listener);
    sweep = new NameSweep(this);
    names = new Names(this, listener, sweep);
    if (nodes.isEmpty()) {
      nodes.add(0, new byte[0], origin.stat(OriginPath.ROOT));
    }
    root = Objects.requireNonNull(nodes.node(ROOT));
    nodes.forEach(names::know);
  }

  /** Starts sweeps of names that the origin no longer has, on these threads. */
  public void sweepOn(Executor threads) {
    sweep.runOn(threads);
  }

  /** Learns that a scan has listed everything. */
  void scanned() {
    sweep.knowsAll();
  }

  /**
   * Loads the entries of an image. Only for a tree that has not answered any request.
   *
   * @param now the current moment, to convert the image's times
   * @throws IOException where the image cannot be read to its end; the entries before that are
   *     loaded
   * @throws FsException NO_MEMORY; the entries before that are loaded
   */
  public void loaded(TreeImage image, Moment now) throws IOException, FsException {
    long offset = now.offsetOf(image.written());
    names.expect(image.entries());
    image.read(
        new TreeImage.Sink() {
          @Override
          public long entry(long directory, byte[] name, Attributes attributes) throws FsException {
            long id = nodes.add(directory, name, attributes);
            names.know(id);
            return id;
          }

          @Override
          public void listed(long directory, long at, long changed) {
            nodes.setListed(directory, at - offset, changed);
          }
        });
  }

  /**
   * Writes the known entries to a file that {@link #loaded} reads. The tree may be used meanwhile.
   *
   * @param dataset tells this dataset from all others
   * @return bytes of the file
   * @throws IOException where the file cannot be written; its former content remains
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

  /** Returns a number that grows whenever {@link #write} would write something else. */
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
    Node node = handle(id);
    if (node == null || node.isStale()) {
      throw new FsException(FsError.STALE, "node " + id + ": replaced at the origin");
    }
    return node;
  }

  /** Tells whether a node is the one that its name leads to. */
  public boolean isCurrent(long id) {
    Node node = nodes.nodeIfThere(id);
    return node != null && !node.isStale();
  }

  /** Returns a node by its id, even if it has been replaced, or null where its record is gone. */
  public @Nullable Node handle(long id) {
    return nodes.nodeIfThere(id);
  }

  /** Returns the node that a name is known to lead to, without asking the origin. */
  public @Nullable Node known(Node parent, byte[] name) {
    Node known = nodes.node(names.find(parent, name));
    return known == null || known.isStale() ? null : known;
  }

  /**
   * Returns the known attributes of a directory's entries, in the form that the origin takes for a
   * listing.
   */
  public KnownEntries knownEntries(Node directory) {
    return name -> attributes(directory, name);
  }

  private @Nullable Attributes attributes(Node directory, byte[] name) {
    return attributes(known(directory, name));
  }

  private static @Nullable Attributes attributes(@Nullable Node known) {
    return known == null || known.isStale() ? null : known.attributes();
  }

  /**
   * Tells whether a name leads to an entry. A name that is just changing does, even before its next
   * node is {@linkplain #known known}.
   */
  public boolean isNamed(Node parent, byte[] name) {
    return names.find(parent, name) != 0;
  }

  /**
   * Returns the directory that a name leads to. Asks the origin if the tree knows none: there may
   * be one by now.
   *
   * @throws FsException as {@link #lookup}
   */
  public Node directory(Node parent, byte[] name) throws FsException {
    Node known = known(parent, name);
    return known != null && known.attributes().isDirectory()
        ? known
        : lookupWhateverTheWay(parent, name);
  }

  /** Returns a node and, for a directory, all known nodes below it; the node itself comes first. */
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

  /** Passes the known nodes below a directory until the taker returns false. */
  public void forEachBelow(Node directory, EntryTaker taker) {
    Deque<Node> directories = new ArrayDeque<>(List.of(directory));
    boolean[] goesOn = {true};
    while (goesOn[0] && !directories.isEmpty()) {
      forEachEntry(
          directories.remove(),
          0,
          entry -> {
            if (entry.type() == Attributes.DIRECTORY) {
              directories.add(entry);
            }
            goesOn[0] = taker.take(entry);
            return goesOn[0];
          });
    }
  }

  /** Takes the entries of a directory. */
  @FunctionalInterface
  public interface EntryTaker {
    /** Takes an entry; returns whether to go on. */
    boolean take(Node entry);
  }

  /**
   * Passes the known entries of a directory in the order in which they became known, which never
   * changes. Entries that are added meanwhile may or may not be passed.
   *
   * @param after the id of the entry to continue behind, which may have been replaced; 0 to begin
   */
  public void forEachEntry(Node directory, long after, EntryTaker taker) {
    nodes.forEachEntry(
        directory.id(),
        after,
        id -> {
          Node entry = nodes.node(id);
          return entry == null || entry.isStale() || taker.take(entry);
        });
  }

  /**
   * Passes the known entries like {@link #forEachEntry}, but waits for an entry whose name is just
   * changing. For listings.
   *
   * @throws FsException STALE where a name changes for too long, or the directory was replaced
   */
  public void forEachSettledEntry(Node directory, long after, EntryTaker taker) throws FsException {
    new DirectoryCursor(nodes, names, directory, taker).pass(after);
  }

  /**
   * Returns the time since when all entries of a directory are known, as the {@link TreePass} got
   * it, or 0 where they are not.
   */
  public long listedAt(Node directory) {
    return nodes.listed(directory.id());
  }

  /**
   * Asks the origin whether a completely listed directory still has the same names: it has if its
   * own change time is the same.
   */
  public boolean hasSameNames(Node directory) throws FsException {
    long changed = nodes.listedChanged(directory.id());
    return changed != 0
        && listedAt(directory) != 0
        && refresh(directory)
        && directory.attributes().changed() == changed;
  }

  /** Records that some entries of a directory may be unknown from now on. */
  public void forgetListing(Node directory) {
    nodes.setListed(directory.id(), 0, 0);
  }

  /**
   * Records that some entries of a directory may have other attributes by now than the tree knows,
   * even if a {@link TreePass} that began before this call still lists all of them.
   */
  public void forgetListingUnderWay(Node directory) {
    nodes.forgetListed(directory.id(), System.nanoTime());
  }

  /** Returns a number above the ids of all nodes; later nodes get this id or a higher one. */
  public long end() {
    return nodes.end();
  }

  /**
   * Passes the nodes that an earlier process has parted from their names, lately or long ago, in
   * directories that are still there; none when called again. Called by one thread.
   */
  public void takeParted(Consumer<Node> taker) {
    nodes.takeParted(taker);
  }

  /** Passes each known node. */
  public void forEach(Consumer<Node> taker) {
    nodes.forEach(
        id -> {
          Node node = nodes.node(id);
          if (node != null && !node.isStale()) {
            taker.accept(node);
          }
        });
  }

  /** Returns the bytes of all known entries, including the names and their index. */
  public long bytes() {
    return nodes.bytes() + names.bytes();
  }

  /** Returns the bytes that did not fit where names belong and are stored elsewhere. */
  public long elsewhereBytes() {
    return nodes.elsewhere();
  }

  /** Returns how many listings of directories were incomplete. */
  public long incompleteListings() {
    return incomplete.get();
  }

  void countIncomplete() {
    incomplete.incrementAndGet();
  }

  NodeTable nodes() {
    return nodes;
  }

  /** Tells whether an entry has had an access control list that the kernel can evaluate. */
  public boolean hasAcls() {
    return nodes.hasAcls();
  }

  /** Returns the number of known entries. */
  public long size() {
    return names.count();
  }

  /**
   * Asks the origin what a name leads to. If the content has another version than the known node,
   * the listener releases the old node first, and then a new node is returned.
   *
   * <p>The origin also checks the directory and, if the name leads to something new, all its
   * ancestors: a user who could pass them before may not be allowed to any more.
   *
   * @throws FsException NOT_FOUND and the like, as the origin says; STALE where an ancestor has
   *     other rights than the known ones, or is another directory. A caller that walks the path
   *     again, name by name, gets an answer
   */
  public Node lookup(Node parent, byte[] name) throws FsException {
    Node before = known(parent, name);
    Node now = ask(parent, name, before == null);
    if (!now.equals(before)) {
      sweep.asked(now);
    }
    return now;
  }

  /**
   * Asks the origin at once about entries of a directory that a listing is about to show.
   *
   * @return the entries to which their names still lead, and which have fresh attributes now; of
   *     the others, {@link #lookup} tells what became of them
   */
  public Set<Node> confirm(Node directory, List<Node> entries) throws FsException {
    List<KnownEntry> known = new ArrayList<>(entries.size());
    for (Node entry : entries) {
      known.add(new KnownEntry(OriginPath.of(entry.name()), entry.attributes()));
    }
    FoundEntries found = origin.findAll(directory.path(), known, way.known(directory, false));
    Set<Node> confirmed = new HashSet<>();
    if (way.isAsKnown(directory, found.way())) {
      for (int i = 0; i < entries.size(); i++) {
        Node entry = entries.get(i);
        Attributes before = known.get(i).attributes();
        Attributes fresh = found.entries().get(i);
        if (fresh != null
            && before.sameEntry(fresh)
            && !entry.isStale()
            && update(entry, before, fresh)) {
          confirmed.add(entry);
        }
      }
    }
    return confirmed;
  }

  /**
   * Looks up a name like {@link #lookup}, for callers that neither depend on rights nor walk the
   * path again. Throws STALE only where an ancestor is another directory.
   */
  public Node lookupWhateverTheWay(Node parent, byte[] name) throws FsException {
    try {
      return lookup(parent, name);
    } catch (FsException e) {
      if (e.code() != FsError.STALE || parent.isStale()) {
        throw e;
      }
      return lookup(parent, name);
    }
  }

  /**
   * Adds an entry of a directory with the attributes that the origin has just listed, as {@link
   * #lookup} would.
   *
   * @throws FsException as the origin says, where an entry has changed and the origin is asked
   *     again
   */
  public Node listed(Node parent, byte[] name, Attributes fresh) throws FsException {
    // the listing may be older than a later answer of the origin
    Node known = known(parent, name);
    if (known != null) {
      Attributes before = known.attributes();
      return before.sameEntry(fresh)
              && before.sameButForAccess(fresh)
              && update(known, before, fresh)
          ? known
          : ask(parent, name, true);
    }
    Node added = names.addIfNone(parent, name, fresh);
    return added == null ? ask(parent, name, true) : added;
  }

  /**
   * Lists a directory at the origin and adds the entries to the tree.
   *
   * @param unread takes the entries whose attributes cannot be read; the tree does not get them
   * @throws FsException as the origin says, or where the tree could not add a listed entry
   */
  public void bringIn(Node directory, UnreadSink unread) throws FsException {
    TreePass pass = new TreePass(this, Moment.now(), TreePass.ChangeSink.NONE);
    EntrySink sink =
        new EntrySink() {
          @Override
          public void way(List<Attributes> way) throws FsException {
            pass.reached(directory, way);
          }

          @Override
          public void entry(byte[] name, int type, long inode, Attributes attributes) {
            pass.found(directory, name, attributes);
          }

          @Override
          public void unread(byte[] name, int type, long inode, FsException cause) {
            pass.unread(directory, cause);
            unread.unread(name, type, inode, cause);
          }
        };
    try {
      origin.list(directory.path(), sink.knowing(knownEntries(directory)));
      pass.complete(directory);
    } catch (OutOfMemoryError e) {
      OutOfMemory.tell(e);
      FsException failure =
          new FsException(FsError.NO_MEMORY, directory.path() + ": no memory to list it", e);
      pass.failed(failure);
      throw failure;
    } finally {
      sweep.listed(directory, pass.added());
    }
  }

  /**
   * Checks the ancestors of a listing before its entries are added, and updates their rights in the
   * tree.
   *
   * @throws FsException STALE where the origin reached the listing through other directories
   */
  void requireWay(Node directory, List<Attributes> fresh) throws FsException {
    if (way.isAsKnown(directory, fresh)) {
      return;
    }
    FsException changed = renewed(directory, fresh);
    if (!way.isAsKnown(directory, fresh)) {
      throw changed;
    }
  }

  /**
   * Updates the rights of an entry's ancestors. The origin is asked again: its first answer may be
   * older than the tree's knowledge by now. A directory that was replaced is left to the next
   * lookup of its name.
   *
   * @return the failure for the caller
   */
  private FsException renewed(Node directory, List<Attributes> fresh) throws FsException {
    List<Node> nodes = new ArrayList<>();
    for (Node at = directory; at != null && nodes.size() < fresh.size(); at = at.parent()) {
      nodes.add(at);
    }
    boolean same = true;
    for (int i = nodes.size() - 1; i >= 0 && same; i--) {
      Node node = nodes.get(i);
      Attributes known = node.attributes();
      boolean asKnown = known.sameEntry(fresh.get(i)) && known.sameRights(fresh.get(i));
      same = asKnown || refresh(node) || node.parent() == null;
      if (!same) {
        listener.elsewhere(node);
      }
    }
    return new FsException(
        FsError.STALE, directory.path() + ": a directory on the way has changed at the origin");
  }

  /**
   * Updates a node with the origin's answer, unless the node has been updated since the origin was
   * asked: nobody knows which answer is older. If a directory's rights change, the listener learns
   * of the change before anybody sees an entry below the directory.
   *
   * @param before the attributes before the origin was asked
   * @return whether the node has the fresh attributes now
   */
  private boolean update(Node node, Attributes before, Attributes fresh) throws FsException {
    Attributes now = node.attributes();
    if (now.equals(fresh)) {
      return true;
    }
    if (!now.equals(before)) {
      return false;
    }
    boolean isWay = fresh.isDirectory() && !before.sameRights(fresh);
    return isWay ? way.update(node, before, fresh) : node.update(before, fresh);
  }

  /**
   * Has the store itself answer what is asked about a node from now on; see {@link Origin#sync}.
   */
  public void sync(Node node) throws FsException {
    origin.sync(node.path());
  }

  /**
   * Asks the origin for the attributes of a node.
   *
   * @return whether the name still leads to this version. If so, {@link Node#attributes()} are
   *     fresh; if not, they remain those of the node's own version
   */
  public boolean refresh(Node node) throws FsException {
    // if other threads' answers always come first, theirs must suffice
    boolean updated = false;
    for (int i = 0; i < MOST_QUESTIONS && !updated; i++) {
      Attributes before = node.attributes();
      Attributes fresh;
      try {
        fresh = origin.stat(node.path(), before);
      } catch (FsException e) {
        if (isGone(e)) {
          return false;
        }
        throw e;
      }
      if (!before.sameEntry(fresh)) {
        return false;
      }
      updated = update(node, before, fresh);
    }
    return true;
  }

  /**
   * Asks the origin what a name leads to, and updates the tree.
   *
   * @param wholeWay whether the origin checks all ancestors even if the name leads to nothing new
   */
  private Node ask(Node parent, byte[] name, boolean wholeWay) throws FsException {
    boolean whole = wholeWay;
    for (int i = 0; i < MOST_QUESTIONS; i++) {
      Names.Lead before = names.lead(parent, name);
      Attributes known = attributes(nodes.node(before.id()));
      Found found = findOrRemove(parent, name, whole, before, known);
      if (found != null) {
        if (!way.isAsKnown(parent, found.way())) {
          throw renewed(parent, found.way());
        }
        Node now = known(parent, name);
        if (now == null || !now.attributes().sameEntry(found.entry())) {
          now = whole ? names.replaceIfSame(parent, name, found.entry(), before) : null;
        } else if (known == null || !update(now, known, found.entry())) {
          now = null;
        }
        if (now != null) {
          return now;
        }
      }
      whole = true;
    }
    throw new FsException(
        FsError.STALE, parent.path().child(name) + ": changes while the origin is asked for it");
  }

  /**
   * Asks the origin for an entry, and removes the name if the entry is gone. Returns null if the
   * name has changed meanwhile.
   */
  private @Nullable Found findOrRemove(
      Node parent, byte[] name, boolean wholeWay, Names.Lead before, @Nullable Attributes known)
      throws FsException {
    try {
      return origin.find(parent.path(), name, way.known(parent, wholeWay), known);
    } catch (FsException e) {
      if (isGone(e)
          && isNamed(parent, name)
          && !goesWith(parent)
          && !names.removeIfSame(parent, name, before)) {
        return null;
      }
      if (e.code() == FsError.SYMLINK) {
        // a symlink has replaced a directory, so the entries below are gone
        throw new FsException(FsError.NOT_FOUND, e.getMessage(), e);
      }
      throw e;
    }
  }

  /**
   * Tells whether the directory itself is gone or was replaced. If so, its entries go with it, all
   * at once: removed one by one, they would leave an empty directory for a moment.
   */
  private boolean goesWith(Node directory) throws FsException {
    try {
      Attributes fresh = origin.stat(directory.path(), directory.attributes());
      if (directory.parent() == null || directory.attributes().sameEntry(fresh)) {
        return false;
      }
    } catch (FsException e) {
      if (!isGone(e)) {
        throw e;
      }
    }
    listener.elsewhere(directory);
    return true;
  }

  private static boolean isGone(FsException e) {
    return switch (e.code()) {
      case NOT_FOUND, NOT_DIRECTORY, SYMLINK -> true;
      default -> false;
    };
  }
}
