package io.holdfast.fs.tree;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.KnownEntries;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.Origin.EntrySink;
import io.holdfast.fs.origin.Origin.Found;
import io.holdfast.fs.origin.OriginPath;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The entries of the dataset that were asked for so far. The origin is the truth: {@link #lookup}
 * and {@link #refresh} ask it each time, since the kernel caches their answers for the metadata TTL
 * and asks only when it wants to know afresh.
 *
 * <p>Thread-safe. A lookup that finds the same version takes no lock. A change of version is
 * carried out under a lock of {@link Names}; nothing of a fetch happens under it, and no call to
 * the origin. So an answer may come late: it counts only where the name still leads to what it led
 * to before the origin was asked. Else somebody has had a younger answer, and the origin is asked
 * again.
 */
public final class Tree {
  /** The id of the root. */
  public static final long ROOT = 1;

  /** An answer is late only where somebody else has just changed the same name. */
  private static final int MOST_QUESTIONS = 16;

  private final Origin origin;
  private final ChangeListener listener;
  private final Node root;
  private final NodeTable nodes;
  private final Names names;
  private final AtomicLong incomplete = new AtomicLong();
  private final Way way;
  private final NameSweep sweep;

  /** Learns that a node's version is no longer what its name leads to. */
  @FunctionalInterface
  public interface ChangeListener {
    /**
     * Lets go of everything that stands for this node. It is stale already and nothing has taken
     * its name yet; when this method returns, no pin, no fetch and no kernel entry leads from the
     * name to the node.
     */
    void replaced(Node old);

    /**
     * Learns what attributes a directory is about to have, with other rights than it was known to
     * have. Does not wait.
     */
    default void willHaveOtherRights(Node directory, Attributes fresh) {}

    /**
     * Has those who decide by a directory's rights ask for them again: they are others than they
     * were told. Does not wait.
     */
    default void otherRights(Node directory) {}

    /**
     * Learns that a directory's name leads to another one, from whoever came by the directory. The
     * name is to be looked up, but not by the calling thread: it may answer a request that has the
     * directory. Does not wait.
     */
    default void elsewhere(Node directory) {}

    /** Returns a listener that tells another one, which need not be there yet. */
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
   * @param nodes what is known of it from before, or nothing
   * @throws FsException where nothing is known and the origin does not answer for its root
   */
  public Tree(Origin origin, NodeTable nodes, ChangeListener listener) throws FsException {
    this.origin = origin;
    this.nodes = nodes;
    this.listener = listener;
    way = new Way(listener);
    sweep = new NameSweep(this);
    names = new Names(this, listener, sweep);
    if (nodes.isEmpty()) {
      nodes.add(0, new byte[0], origin.stat(OriginPath.ROOT));
    }
    root = Objects.requireNonNull(nodes.node(ROOT));
    nodes.forEach(names::know);
  }

  /** Has names that the origin no longer has go, on other threads than those that ask for them. */
  public void sweepOn(Executor threads) {
    sweep.runOn(threads);
  }

  /** Learns that everything has been listed: what has become known since then was asked for. */
  void scanned() {
    sweep.knowsAll();
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
    Node node = handle(id);
    if (node == null || node.isStale()) {
      throw new FsException(FsError.STALE, "node " + id + ": replaced at the origin");
    }
    return node;
  }

  /** Tells whether a node is what its name leads to. */
  public boolean isCurrent(long id) {
    return nodes.contains(id) && !nodes.isStale(id);
  }

  /** Returns a node by its id, also one that has been replaced, or null where it is no more. */
  public @Nullable Node handle(long id) {
    return nodes.contains(id) ? nodes.node(id) : null;
  }

  /** Returns the node that a name is known to lead to, without asking the origin. */
  public @Nullable Node known(Node parent, byte[] name) {
    Node known = nodes.node(names.find(parent, name));
    return known == null || known.isStale() ? null : known;
  }

  /** Returns what is known of a directory's entries, as the origin wants it for a listing. */
  public KnownEntries knownEntries(Node directory) {
    return name -> attributes(directory, name);
  }

  private @Nullable Attributes attributes(Node directory, byte[] name) {
    Node known = known(directory, name);
    return known == null ? null : known.attributes();
  }

  /**
   * Tells whether a name leads to something. It does where it is just being taken from a node that
   * has changed, also before it {@linkplain #known is known} to lead to another one.
   */
  public boolean isNamed(Node parent, byte[] name) {
    return names.find(parent, name) != 0;
  }

  /**
   * Returns the directory that a name is known to lead to. Where it is known to lead to none, the
   * origin is asked: there may be one by now.
   *
   * @throws FsException as {@link #lookup}
   */
  public Node directory(Node parent, byte[] name) throws FsException {
    Node known = known(parent, name);
    return known != null && known.attributes().isDirectory()
        ? known
        : lookupWhateverTheWay(parent, name);
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

  /** Calls for the nodes known below a directory, until they are not taken any more. */
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
   * Calls for the entries known within a directory, in the order in which they became known, which
   * stays. New ones may come, or not.
   *
   * @param after the id of the entry to go on behind, also one that has been replaced since; 0 to
   *     begin
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
   * The same for who shows the entries: one whose name is just changing is waited for.
   *
   * @throws FsException STALE where it changes for too long, or the directory is none any more
   */
  public void forEachSettledEntry(Node directory, long after, EntryTaker taker) throws FsException {
    new Passage(nodes, names, directory, taker).pass(after);
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
          Node node = nodes.node(id);
          if (node != null && !node.isStale()) {
            taker.accept(node);
          }
        });
  }

  /** Returns the bytes that everything known takes, names and the index of names included. */
  public long bytes() {
    return nodes.bytes() + names.bytes();
  }

  /** Returns the bytes of it that found no room where names belong. */
  public long elsewhereBytes() {
    return nodes.elsewhere();
  }

  /** Returns how many listings of directories could not be brought in whole. */
  public long incompleteListings() {
    return incomplete.get();
  }

  void countIncomplete() {
    incomplete.incrementAndGet();
  }

  NodeTable nodes() {
    return nodes;
  }

  /** Tells whether entries have had access control lists that the kernel can decide by. */
  public boolean hasAcls() {
    return nodes.hasAcls();
  }

  /** Returns how many entries are known. */
  public long size() {
    return names.count();
  }

  /**
   * Asks the origin what a name leads to. Where the content has another version than the known
   * node, the listener lets go of the old one first and a new node is returned.
   *
   * <p>The directory is looked at as well, and so are all above it where the name leads to
   * something new: who was let through them may not be any more.
   *
   * @throws FsException NOT_FOUND and the like, as the origin says; STALE where a directory on the
   *     way has other rights than it was known to have, or is another one. Whoever comes by the
   *     path again, and looks up each name of it, gets an answer
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
   * The same for whom rights do not concern, and who does not come by the path again. STALE where a
   * directory on the way is another one.
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
   * Takes what the origin has just told of an entry of a directory, as {@link #lookup} would.
   *
   * @throws FsException as the origin says, where something has changed and it is asked again
   */
  public Node listed(Node parent, byte[] name, Attributes fresh) throws FsException {
    // what was listed may be older than what has been found meanwhile
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
   * Has the origin list a directory, and brings the listing in.
   *
   * @param without takes the entries whose attributes cannot be had, which the tree does not have
   * @throws FsException as the origin says, or where not everything that was listed is known
   */
  public void bringIn(Node directory, EntrySink without) throws FsException {
    TreePass pass = new TreePass(this, Moment.now(), TreePass.ChangeSink.NONE);
    EntrySink sink =
        new EntrySink() {
          @Override
          public void way(List<Attributes> way) throws FsException {
            pass.reached(directory, way);
          }

          @Override
          public void entry(byte[] name, int type, long inode, @Nullable Attributes attributes) {
            pass.found(directory, name, attributes);
            if (attributes == null) {
              without.entry(name, type, inode, null);
            }
          }
        };
    try {
      origin.list(directory.path(), sink.knowing(knownEntries(directory)));
      pass.complete(directory);
    } finally {
      sweep.listed(directory, pass.added());
    }
  }

  /**
   * Has the directories that led to what is listed be known as they are, before anything of it is.
   *
   * @throws FsException STALE where these are other directories
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
   * Has the directories that led to an entry be known as they are. One that is another one is left
   * to who looks up its name. They are asked for: what was told of them may be older than what has
   * become known since.
   *
   * @return what to tell whoever came by them
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
   * Gives a node what the origin has told, unless it has got something else since the origin was
   * asked: which of the two is older, nobody knows. Nobody learns of anything below a directory
   * before its rights are known to have changed.
   *
   * @param before what was known before the origin was asked
   * @return whether the node has these attributes now
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
   * Asks the origin for the attributes of a node.
   *
   * @return whether the node still stands for what its name leads to; its {@link Node#attributes()}
   *     are fresh then, and else still those of its own version
   */
  public boolean refresh(Node node) throws FsException {
    // where others always have an answer first, theirs has to do
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
   * Asks the origin what a name leads to, and has it lead there.
   *
   * @param wholeWay whether all directories on the way are looked at from the beginning, and not
   *     only once the name leads to something new
   */
  private Node ask(Node parent, byte[] name, boolean wholeWay) throws FsException {
    boolean whole = wholeWay;
    for (int i = 0; i < MOST_QUESTIONS; i++) {
      Names.Lead before = names.lead(parent, name);
      Attributes known = attributes(parent, name);
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

  /** Returns null where it is gone, but the name has changed since it led to what is given. */
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
        // one stands where a directory was: what that held is gone
        throw new FsException(FsError.NOT_FOUND, e.getMessage(), e);
      }
      throw e;
    }
  }

  /**
   * Tells whether it is the directory that is gone, or another one. Its entries go with it then,
   * all at once: one by one, they would leave an empty directory for a moment.
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
