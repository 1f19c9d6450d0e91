package io.holdfast.fs.mount;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.transit.Content;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.ItemLayout;
import io.holdfast.fs.transit.Transit;
import io.holdfast.fs.tree.Moment;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.Tree;
import io.holdfast.fs.tree.TreePass;
import io.holdfast.fs.tree.TreeScan;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acts on a change of the dataset, however it became known: releases what is kept of the old
 * version, and has the kernel ask again. Thread-safe. A thread that answers requests may call only
 * {@link #changed}, {@link #missing} and the methods of {@link Tree.ChangeListener}.
 */
public final class DatasetChanges implements Tree.ChangeListener, TreePass.ChangeSink {
  private static final Logger log = LoggerFactory.getLogger(DatasetChanges.class);

  /**
   * The most extents of one file that are searched for strays: 512 GiB with items of 8 MiB. Strays
   * behind them stay until the kernel needs the memory.
   */
  private static final long MOST_STRAYS = 1 << 16;

  /** How long a refresh waits for answers to other requests. */
  private static final Duration LONGEST_TELLING = Duration.ofSeconds(30);

  private final Tree tree;
  private final TreeScan scan;
  private final ItemLayout layout;
  private final Transit transit;
  private final Residency residency;
  private final KernelView kernel;
  private final Executor later;
  private final Executor waiter;
  private final Executor teller;
  private final OutdatedNames outdated;
  private final Openings openings = new Openings();
  private final RightsChanges rightsChanges = new RightsChanges(System::nanoTime);
  private final UnderWay tasks = new UnderWay();
  private final AtomicBoolean telling = new AtomicBoolean();

  /** Directories that the kernel is to ask for once more, and whether a task will see to that. */
  private final Set<Node> closed = ConcurrentHashMap.newKeySet();

  private final AtomicBoolean closing = new AtomicBoolean();

  /** The first id of nodes that this daemon has added. */
  private final long firstOwn;

  private final AtomicBoolean ending = new AtomicBoolean();

  /**
   * The parts that a change concerns.
   *
   * @param metadataTtl how long the kernel keeps names
   * @param succeeds whether the kernel has been told of names by an earlier daemon of the mount
   * @param later runs lookups of files that have changed; not on a thread that answers requests
   * @param waiter runs what waits for replies to requests, as long as these take
   * @param teller tells the kernel of names that lead elsewhere by now; waits for no reply
   */
  public record Parts(
      Tree tree,
      TreeScan scan,
      ItemLayout layout,
      Transit transit,
      Residency residency,
      KernelView kernel,
      Duration metadataTtl,
      boolean succeeds,
      Executor later,
      Executor waiter,
      Executor teller) {}

  /** Creates the object; no change is acted on yet. */
  public DatasetChanges(Parts parts) {
    tree = parts.tree;
    scan = parts.scan;
    layout = parts.layout;
    transit = parts.transit;
    residency = parts.residency;
    kernel = parts.kernel;
    later = parts.later;
    waiter = parts.waiter;
    teller = parts.teller;
    firstOwn = tree.end();
    outdated = new OutdatedNames(parts.metadataTtl, parts.succeeds);
  }

  /** Notes that the kernel is told that there is no such name. */
  void missing(long parent, byte[] name) {
    outdated.missing(parent, name);
  }

  @Override
  public void replaced(Node old) {
    Node parent = old.parent();
    String path = old.path().toString();
    transit.abandon(old.id(), path);
    long freed = residency.release(old.id());
    if (parent != null) {
      if (!kernel.replace(parent.id(), old.name(), old.id())) {
        expireOnceReplied(parent.id(), old.name());
      }
      if (!parent.isStale()) {
        outdated.replaced(parent.id(), old.name());
        tellReplaced();
      }
    }
    log.info(
        "{} changed at the origin, was {}; {} resident bytes released", path, old.version(), freed);
  }

  /** Returns the directories that the kernel must not see with all of their rights yet. */
  Openings openings() {
    return openings;
  }

  /** Returns the directories that were closed to some users lately. */
  RightsChanges rightsChanges() {
    return rightsChanges;
  }

  @Override
  public void willHaveOtherRights(Node directory, Attributes fresh) {
    openings.begin(directory, fresh);
  }

  @Override
  public void otherRights(Node directory) {
    rightsChanges.note(directory.id(), directory.attributes());
    kernel.expireRights(directory.id());
    Openings.Opening opening = openings.of(directory.id());
    if (opening != null) {
      execute(waiter, () -> open(directory, opening));
    } else {
      closed.add(directory);
      executeOnce(closing, waiter, this::expireClosed);
    }
  }

  /**
   * Has the kernel ask once more for directories whose rights are fewer now: a reply that was on
   * its way may have shown the rights of before, for a directory that the kernel did not know yet.
   */
  private void expireClosed() {
    List<Node> directories = List.copyOf(closed);
    directories.forEach(closed::remove);
    awaitReplies();
    directories.forEach(this::expireRights);
  }

  private void expireRights(Node directory) {
    kernel.expireRights(directory.id());
    Node parent = directory.parent();
    if (parent != null) {
      kernel.expireAttributes(parent.id(), directory.name(), directory.id());
    }
  }

  /**
   * Has the kernel ask again for every entry that is known below a directory, and then shows the
   * directory with all of its rights. Waits first for replies from before, which would show old
   * entries afterwards; and at the end for replies that show the directory with fewer rights.
   */
  private void open(Node directory, Openings.Opening opening) {
    forgetBelow(directory);
    awaitReplies();
    outdated.tellReplaced(kernel::expire);
    expireBelow(directory);
    if (openings.end(directory.id(), opening)) {
      awaitReplies();
      expireRights(directory);
    }
  }

  /**
   * Forgets the listings at and below a directory, also those under way: they are from before as
   * well.
   */
  private void forgetBelow(Node directory) {
    tree.forEachBelow(
        directory,
        node -> {
          if (node.type() == Attributes.DIRECTORY) {
            tree.forgetListingUnderWay(node);
          }
          return !ending.get();
        });
    tree.forgetListingUnderWay(directory);
  }

  private void awaitReplies() {
    KernelView.Earlier replies = kernel.earlierReplies();
    boolean all = false;
    while (!all && !ending.get()) {
      all = replies.await();
    }
  }

  private void expireBelow(Node directory) {
    tree.forEachBelow(
        directory,
        node -> {
          Node parent = node.parent();
          if (parent != null && node.type() == Attributes.SYMLINK) {
            // the kernel follows a symlink without asking for its attributes
            kernel.expire(parent.id(), node.name());
          } else if (parent != null) {
            kernel.expireAttributes(parent.id(), node.name(), node.id());
          }
          return !ending.get();
        });
  }

  @Override
  public void elsewhere(Node directory) {
    changed(directory.id());
  }

  /**
   * Tells the kernel of all replaced names. Until then the kernel leads to the old node, of which
   * each read fails, whether a user's request or a peer's question has found the new version.
   * Another thread does it later, because the request that is being answered may be a lookup of the
   * name.
   */
  private void tellReplaced() {
    executeOnce(telling, teller, () -> outdated.tellReplaced(kernel::expire));
  }

  /** Executes a task that does all there is to do, unless it is to begin already. */
  private void executeOnce(AtomicBoolean isToBegin, Executor executor, Runnable task) {
    if (isToBegin.getAndSet(true)) {
      return;
    }
    try {
      execute(
          executor,
          () -> {
            isToBegin.set(false);
            task.run();
          });
    } catch (OutOfMemoryError e) {
      isToBegin.set(false);
      throw e;
    }
  }

  /**
   * Expires a name once all replies have been given: one of them may still show the old node, and
   * come after anything that the kernel is told now.
   */
  private void expireOnceReplied(long parent, byte[] name) {
    execute(
        waiter,
        () -> {
          awaitReplies();
          kernel.expire(parent, name);
        });
  }

  private void execute(Executor executor, Runnable task) {
    UnderWay.Begun begun = tasks.begin();
    try {
      executor.execute(
          () -> {
            try {
              task.run();
            } finally {
              tasks.end(begun);
            }
          });
    } catch (RejectedExecutionException e) {
      tasks.end(begun);
      log.debug("the mount is ending", e);
    } catch (OutOfMemoryError e) {
      tasks.end(begun);
      throw e;
    }
  }

  /**
   * Waits until the kernel has been told of every change that was found before this call, and until
   * no reply from before this call is on its way.
   *
   * @throws FsException TIMED_OUT if the origin delays such a reply for too long
   */
  private void awaitTold() throws FsException {
    long end = System.nanoTime() + LONGEST_TELLING.toNanos();
    KernelView.Earlier earlierTasks = tasks.earlier();
    KernelView.Earlier replies = kernel.earlierReplies();
    boolean told = false;
    boolean replied = false;
    while (!(told && replied) && !ending.get()) {
      if (System.nanoTime() - end > 0) {
        throw new FsException(
            FsError.TIMED_OUT, "the origin has not answered what was asked before the refresh");
      }
      told = told || earlierTasks.await();
      replied = replied || replies.await();
    }
  }

  /**
   * Has the kernel ask again. If the node stays, only its attributes and listing expire: the name
   * goes on leading there, for processes that work in the directory, and for the file's pages.
   */
  @Override
  public void changed(Node directory, byte[] name, boolean stays) {
    Node now = stays ? tree.known(directory, name) : null;
    if (now == null) {
      expire(directory, name);
    } else if (now.attributes().isDirectory()) {
      kernel.expireDirectory(now.id());
    } else {
      kernel.expireAttributes(directory.id(), name, now.id());
    }
  }

  /**
   * Has the kernel ask for a directory's attributes again, even if the tree has known them for
   * long: the kernel may have been told older ones.
   */
  @Override
  public void found(Node directory, byte[] name, Node found) {
    if (found.type() == Attributes.DIRECTORY) {
      kernel.expireAttributes(directory.id(), name, found.id());
    }
  }

  /** An earlier daemon may have told the kernel that there is no such name, and noted that. */
  @Override
  public void added(Node directory, byte[] name) {
    if (outdated.hasInherited() || outdated.hasForgotten()) {
      kernel.expire(directory.id(), name);
    }
  }

  /**
   * Tells whether the kernel may have been told that the name of a node is missing, and this object
   * does not know. An earlier daemon may have told it of any name. This daemon may have forgotten a
   * name that it has added since; it tells the kernel of no name that it knows. A kernel that knows
   * the node has looked the name up since.
   */
  private boolean mayCountAsMissing(Node node) {
    boolean mayBe = outdated.hasInherited() || (node.id() >= firstOwn && outdated.hasForgotten());
    return mayBe && !kernel.mayKnow(node.id());
  }

  /** Acts on what the pass of a refresh finds. */
  private final class Refreshed implements TreePass.ChangeSink {
    @Override
    public void changed(Node directory, byte[] name, boolean stays) {
      DatasetChanges.this.changed(directory, name, stays);
    }

    @Override
    public void added(Node directory, byte[] name) {
      DatasetChanges.this.added(directory, name);
    }

    @Override
    public void otherNames(Node directory) {
      DatasetChanges.this.otherNames(directory);
    }

    /** Others than the kernel's lookups may have added the name. */
    @Override
    public void found(Node directory, byte[] name, Node found) {
      if (mayCountAsMissing(found)) {
        kernel.expire(directory.id(), name);
      } else {
        DatasetChanges.this.found(directory, name, found);
      }
    }
  }

  @Override
  public void otherNames(Node directory) {
    kernel.expireDirectory(directory.id());
  }

  /** Learns from a fetch, or from a request, that a file has another version by now. */
  public void changed(long node) {
    try {
      Node changed = tree.node(node);
      execute(later, () -> refreshLater(changed));
    } catch (FsException e) {
      log.debug("replaced already: {}", e.getMessage());
    }
  }

  /**
   * Asks the origin for everything at and below a path, and has the kernel ask again for what is
   * different. When the method returns, the kernel shows nothing that is older than the call.
   *
   * @param path names separated by slashes, relative to the root; empty for the whole dataset
   * @return the number of known entries that were different
   */
  public long refresh(String path) throws FsException {
    Node top = find(path);
    tree.sync(top);
    long different = refresh(top) ? 1 : 0;
    Node above = top.parent();
    if (above != null) {
      // a listing that the kernel keeps may lack the name, or have it still
      kernel.expireDirectory(above.id());
    }
    Node directory = top;
    if (directory.attributes().isDirectory() && !directory.isStale()) {
      TreePass pass = new TreePass(tree, Moment.now(), new Refreshed());
      scan.runSynced(directory, pass, () -> !ending.get());
      different += pass.different();
      outdated.tellWithin(id -> isWithin(id, directory), kernel::expire);
      pass.requireWhole();
      pass.requireSettled();
    }
    awaitTold();
    requireTold(top);
    return different;
  }

  /**
   * Requires that the kernel knows what it was told of a node's names, on its way and below it.
   *
   * @throws FsException TIMED_OUT if it does not, because somebody uses a directory
   */
  private void requireTold(Node top) throws FsException {
    OptionalLong inVain =
        kernel.inVain(
            id -> {
              Node directory = tree.handle(id);
              return directory != null
                  && !directory.isStale()
                  && (directory.isWithin(top) || top.isWithin(directory));
            });
    if (inVain.isPresent()) {
      Node directory = tree.handle(inVain.getAsLong());
      throw new FsException(
          FsError.TIMED_OUT,
          (directory == null ? "a directory" : directory.path())
              + ": in use, so the kernel may show it as it was: end the program that hangs in it,"
              + " and refresh again");
    }
  }

  private boolean isWithin(long id, Node directory) {
    Node node = tree.handle(id);
    return node != null && node.isWithin(directory);
  }

  /**
   * Returns the node that a path is known to lead to, and asks the origin for names that are not
   * known. Has the kernel ask again for each name of the path of which it may believe something
   * else.
   */
  private Node find(String path) throws FsException {
    Node at = tree.root();
    byte @Nullable [] last = null;
    for (String name : path.split("/", -1)) {
      if (!name.isEmpty() && !name.equals(".")) {
        at = last == null ? at : tree.lookupWhateverTheWay(at, last);
        tree.sync(at);
        last = name.getBytes(StandardCharsets.UTF_8);
        Node known = tree.known(at, last);
        if (!outdated.tell(at.id(), last, kernel::expire)
            && (known == null || mayCountAsMissing(known))) {
          kernel.expire(at.id(), last);
        }
      }
    }
    Node known = last == null ? at : tree.known(at, last);
    return known == null ? tree.lookupWhateverTheWay(at, last) : known;
  }

  /** Asks the origin for one node; logs a failure, because nobody waits for the answer. */
  private void refreshLater(Node node) {
    try {
      boolean unused = refresh(node);
    } catch (FsException e) {
      log.warn("could not refresh {}: {}", node.path(), e.getMessage());
    }
  }

  /** Asks the origin for one node, and tells whether it was different. */
  private boolean refresh(Node node) throws FsException {
    Node parent = node.parent();
    Attributes before = node.attributes();
    if (before.isDirectory()) {
      kernel.expireDirectory(node.id());
    }
    if (parent == null) {
      return false;
    }
    try {
      Node now = tree.lookupWhateverTheWay(parent, node.name());
      if (now.equals(node)) {
        boolean different = !now.attributes().sameButForAccess(before);
        if (different || before.isDirectory()) {
          kernel.expireAttributes(parent.id(), node.name(), node.id());
        }
        return different;
      }
    } catch (FsException e) {
      if (e.code() != FsError.NOT_FOUND && e.code() != FsError.NOT_DIRECTORY) {
        throw e;
      }
    }
    expire(parent, node.name());
    return true;
  }

  private void expire(Node directory, byte[] name) {
    if (!outdated.tell(directory.id(), name, kernel::expire)) {
      kernel.expire(directory.id(), name);
    }
  }

  /**
   * Tells the kernel of names that the previous daemon has parted from their nodes: it may not have
   * come to that. The kernel would lead to the old nodes.
   */
  public void tellParted() {
    execute(teller, () -> tree.takeParted(this::tellIfOutdated));
  }

  /**
   * Expires the name of a node that has lost it, unless the kernel has been told already, perhaps
   * long ago. If an up-to-date name expired, the kernel would forget everything below that nobody
   * has open, and all pages that are not pinned yet.
   */
  private void tellIfOutdated(Node old) {
    Node directory = old.parent();
    if (directory != null && !ending.get() && mayLeadTo(directory, old)) {
      expire(directory, old.name());
    }
  }

  /**
   * Tells whether the kernel may still follow a name to a node that has lost it. A kernel that
   * knows the next node has looked the name up since, and may know the old one because somebody has
   * it open.
   */
  private boolean mayLeadTo(Node directory, Node old) {
    if (!kernel.mayKnow(old.id())) {
      return false;
    }
    Node now = tree.known(directory, old.name());
    return now == null || !kernel.mayKnow(now.id());
  }

  /**
   * Drops pages that the previous daemon had in its window: those of items that are not resident,
   * of files that the kernel knows. Nobody else would drop them.
   */
  public void dropStrays() {
    tree.forEach(
        node -> {
          long size = node.attributes().isRegular() ? node.attributes().size() : 0;
          Content content = new Content(node.id(), node::path, node.version());
          boolean known = false;
          long items = Math.min(layout.count(size), MOST_STRAYS);
          for (long extent = 0; extent < items && !ending.get(); extent++) {
            Item item = layout.item(content, extent);
            if (!residency.isResident(item)) {
              known = known || kernel.mayKnow(node.id());
              if (!known) {
                return;
              }
              residency.dropStray(item);
            }
          }
        });
  }

  /** Asks the origin for every file that has resident items, to free the memory of old versions. */
  public void refreshResidents() {
    for (long id : residency.residentNodes()) {
      try {
        refreshLater(tree.node(id));
      } catch (FsException e) {
        log.debug("replaced already: {}", e.getMessage());
      }
    }
  }

  /** Has scans and waits end early. */
  public void stop() {
    ending.set(true);
  }
}
