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
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What happens when the dataset has changed, however that became known: what stands for an old
 * version is let go of, and the kernel's view of it ends. Thread-safe; but for what {@link
 * Tree.ChangeListener} has, {@link #changed} and {@link #missing}, not to be called by a thread
 * that answers requests.
 */
public final class DatasetChanges implements Tree.ChangeListener, TreePass.ChangeSink {
  private static final Logger log = LoggerFactory.getLogger(DatasetChanges.class);

  /**
   * Extents of one file that are looked at for strays: those of 512 GiB, where items are of 8 MiB.
   * What may be left behind them in a file that is larger, the kernel gives up when it needs it.
   */
  private static final long MOST_STRAYS = 1 << 16;

  /** How long a refresh waits for answers that others asked for. */
  private static final Duration LONGEST_TELLING = Duration.ofSeconds(30);

  private final Tree tree;
  private final TreeScan scan;
  private final ItemLayout layout;
  private final Transit transit;
  private final Residency residency;
  private final KernelView kernel;
  private final Executor later;
  private final OutdatedNames outdated;
  private final Openings openings = new Openings();
  private final UnderWay tasks = new UnderWay();
  private final AtomicBoolean telling = new AtomicBoolean();
  private final AtomicBoolean ending = new AtomicBoolean();

  /**
   * What it is made of.
   *
   * @param metadataTtl how long the kernel keeps names
   * @param later where a file that has changed is looked up again, and the kernel is told of names;
   *     not a thread that answers requests
   */
  public record Parts(
      Tree tree,
      TreeScan scan,
      ItemLayout layout,
      Transit transit,
      Residency residency,
      KernelView kernel,
      Duration metadataTtl,
      Executor later) {}

  /** Composes it. */
  public DatasetChanges(Parts parts) {
    tree = parts.tree;
    scan = parts.scan;
    layout = parts.layout;
    transit = parts.transit;
    residency = parts.residency;
    kernel = parts.kernel;
    later = parts.later;
    outdated = new OutdatedNames(parts.metadataTtl);
  }

  /** Learns that the kernel is told that there is no such name. */
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

  /** Returns the directories that are not to be shown with all of their rights yet. */
  Openings openings() {
    return openings;
  }

  @Override
  public void willHaveOtherRights(Node directory, Attributes fresh) {
    openings.begin(directory, fresh);
  }

  @Override
  public void otherRights(Node directory) {
    kernel.expireRights(directory.id());
    Openings.Opening opening = openings.of(directory.id());
    if (opening != null) {
      execute(() -> open(directory, opening));
    }
  }

  /**
   * Has the kernel ask for all that is known below a directory, and then show the directory with
   * all of its rights. An answer from before, which would come later, is waited for first, and one
   * with less than these rights at the end.
   */
  private void open(Node directory, Openings.Opening opening) {
    forgetBelow(directory);
    awaitReplies();
    outdated.tellReplaced(kernel::expire);
    expireBelow(directory);
    if (openings.end(directory.id(), opening)) {
      awaitReplies();
      kernel.expireRights(directory.id());
      Node parent = directory.parent();
      if (parent != null) {
        kernel.expireAttributes(parent.id(), directory.name(), directory.id());
      }
    }
  }

  /** What is remembered of a listing is from before as well. */
  private void forgetBelow(Node directory) {
    tree.forEachBelow(
        directory,
        node -> {
          if (node.type() == Attributes.DIRECTORY) {
            tree.forgetListing(node);
          }
          return !ending.get();
        });
    tree.forgetListing(directory);
  }

  private void awaitReplies() {
    boolean all = false;
    while (!all && !ending.get()) {
      all = kernel.awaitReplies();
    }
  }

  private void expireBelow(Node directory) {
    tree.forEachBelow(
        directory,
        node -> {
          Node parent = node.parent();
          if (parent != null && node.type() == Attributes.SYMLINK) {
            // followed without asking for its attributes
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
   * Whoever has found out, such as a peer that asks for the new version: the kernel leads to the
   * old one for as long as it was told to, and each read of that fails. Later, since the lookup of
   * the name may be what is being answered.
   */
  private void tellReplaced() {
    if (telling.getAndSet(true)) {
      return;
    }
    try {
      execute(
          () -> {
            telling.set(false);
            outdated.tellReplaced(kernel::expire);
          });
    } catch (OutOfMemoryError e) {
      telling.set(false);
      throw e;
    }
  }

  /** A reply that still shows what the name led to comes after all that the kernel is told now. */
  private void expireOnceReplied(long parent, byte[] name) {
    execute(
        () -> {
          awaitReplies();
          kernel.expire(parent, name);
        });
  }

  private void execute(Runnable task) {
    int begun = tasks.begin();
    try {
      later.execute(
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
   * Waits until the kernel has been told of what was found out before, by whomever, and until no
   * answer from then is on its way.
   *
   * @throws FsException TIMED_OUT where the origin keeps one for too long
   */
  private void awaitTold() throws FsException {
    long end = System.nanoTime() + LONGEST_TELLING.toNanos();
    boolean told = false;
    boolean replied = false;
    while (!(told && replied) && !ending.get()) {
      if (System.nanoTime() - end > 0) {
        throw new FsException(
            FsError.TIMED_OUT, "the origin has not answered what was asked before the refresh");
      }
      told = told || tasks.awaitEarlier();
      replied = replied || kernel.awaitReplies();
    }
  }

  /** The entry of what stays does too: for those who work in a directory, and a file's pages. */
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

  /** Also where the tree has known its attributes for long, which the kernel was told before. */
  @Override
  public void found(Node directory, byte[] name, Node found) {
    kernel.expireAttributes(directory.id(), name, found.id());
  }

  @Override
  public void otherNames(Node directory) {
    kernel.expireDirectory(directory.id());
  }

  /** Learns, from a fetch or a question, that a file has another version by now. */
  public void changed(long node) {
    try {
      Node changed = tree.node(node);
      execute(() -> refreshLater(changed));
    } catch (FsException e) {
      log.debug("replaced already: {}", e.getMessage());
    }
  }

  /**
   * Asks the origin for everything at and below a path, and shows the kernel what is different.
   * When it returns, the kernel shows nothing of what was so before it was called.
   *
   * @param path names separated by slashes, relative to the root; empty for the whole dataset
   * @return entries known before that were different
   */
  public long refresh(String path) throws FsException {
    Node top = find(path);
    long different = refresh(top) ? 1 : 0;
    Node directory = top;
    if (directory.attributes().isDirectory() && !directory.isStale()) {
      TreePass pass = new TreePass(tree, Moment.now(), this);
      scan.run(directory, pass, (in, name, is) -> {}, () -> !ending.get());
      different += pass.different();
      outdated.tellWithin(id -> isWithin(id, directory), kernel::expire);
      pass.requireWhole();
      pass.requireSettled();
    }
    awaitTold();
    return different;
  }

  private boolean isWithin(long id, Node directory) {
    Node node = tree.handle(id);
    return node != null && node.isWithin(directory);
  }

  /**
   * Returns what a path is known to lead to. What is not known is asked for; and the kernel has to
   * ask, for each name of the path of which it may believe something else.
   */
  private Node find(String path) throws FsException {
    Node at = tree.root();
    byte @Nullable [] last = null;
    for (String name : path.split("/", -1)) {
      if (!name.isEmpty() && !name.equals(".")) {
        at = last == null ? at : tree.lookupWhateverTheWay(at, last);
        last = name.getBytes(StandardCharsets.UTF_8);
        boolean unused = outdated.tell(at.id(), last, kernel::expire);
      }
    }
    Node known = last == null ? at : tree.known(at, last);
    return known == null ? tree.lookupWhateverTheWay(at, last) : known;
  }

  /** Asks the origin for one node, for which nobody waits. */
  private void refreshLater(Node node) {
    try {
      boolean unused = refresh(node);
    } catch (FsException e) {
      log.warn("could not refresh {}: {}", node.path(), e.getMessage());
    }
  }

  /** Asks the origin for one node. */
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
   * Has pages go that the daemon before this one had let linger, and that nobody would drop any
   * more: those of items that are not resident, of files that the kernel knows.
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

  /**
   * Asks the origin for every file that has resident items, so that memory held for old versions
   * comes free.
   */
  public void refreshResidents() {
    for (long id : residency.residentNodes()) {
      try {
        refreshLater(tree.node(id));
      } catch (FsException e) {
        log.debug("replaced already: {}", e.getMessage());
      }
    }
  }

  /** Ends what goes on, early. */
  public void stop() {
    ending.set(true);
  }
}
