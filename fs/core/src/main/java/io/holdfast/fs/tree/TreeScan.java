package io.holdfast.fs.tree;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.KnownEntries;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.OriginPath;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fills the tree with all entries of the origin below a directory, with several listings at once,
 * and updates the known ones. A scan follows no symlink. It logs and leaves out an entry whose
 * attributes cannot be read. Lookups go on meanwhile. Thread-safe.
 */
public final class TreeScan {
  private static final Logger log = LoggerFactory.getLogger(TreeScan.class);
  private static final byte SLASH = '/';
  private static final int MOST_WARNINGS = 20;

  /** How often directories are scanned again that were replaced while they were reached. */
  private static final int MOST_ROUNDS = 5;

  private final Origin origin;
  private final Tree tree;
  private final Executor threads;

  /** Takes the entries that a scan finds, besides the tree. Called by several threads at once. */
  @FunctionalInterface
  public interface Counter {
    /** Takes an entry. */
    void found(OriginPath directory, OriginPath name, Attributes attributes);

    /** Learns of a key of the store that has no valid path. */
    default void hidden(String key) {}
  }

  /**
   * Creates scans.
   *
   * @param threads run the listings; bounded in number, and never the thread that calls {@link
   *     #run}
   */
  public TreeScan(Origin origin, Tree tree, Executor threads) {
    this.origin = origin;
    this.tree = tree;
    this.threads = threads;
  }

  /**
   * Scans, and returns when the scan has ended.
   *
   * @param top the directory to begin with
   * @param goesOn whether the scan is to go on
   * @throws FsException where the top directory itself cannot be scanned
   */
  public void run(Node top, TreePass pass, Counter counter, BooleanSupplier goesOn)
      throws FsException {
    run(top, new Sink(pass, counter, goesOn, false));
  }

  /** Scans like {@link #run}, but asks the store itself, and no cache on the way. */
  public void runSynced(Node top, TreePass pass, BooleanSupplier goesOn) throws FsException {
    run(top, new Sink(pass, (directory, name, attributes) -> {}, goesOn, true));
  }

  private void run(Node top, Sink sink) throws FsException {
    origin.scan(top.path(), threads, sink);
    for (int round = 1; sink.hasMoved() && sink.goesOn(); round++) {
      sink.mayMove = round < MOST_ROUNDS;
      for (OriginPath directory : sink.takeMoved()) {
        scanAgain(directory, sink);
      }
    }
  }

  /** Scans a directory by its name, which leads to another directory than before, or to none. */
  private void scanAgain(OriginPath directory, Sink sink) {
    Node parent = find(directory.parent());
    if (parent == null) {
      return; // gone with its directory, or already listed with the new one
    }
    try {
      Node now = tree.lookupWhateverTheWay(parent, directory.name());
      if (now.attributes().isDirectory()) {
        origin.scan(directory, threads, sink);
      }
    } catch (FsException e) {
      if (e.code() != FsError.NOT_FOUND && e.code() != FsError.NOT_DIRECTORY) {
        sink.failed(directory, e);
      }
    }
  }

  private final class Sink implements Origin.ScanSink {
    private final TreePass pass;
    private final Counter counter;
    private final BooleanSupplier goesOn;
    private final boolean synced;
    private final AtomicInteger warnings = new AtomicInteger();
    private final Set<OriginPath> moved = ConcurrentHashMap.newKeySet();

    /** The directories whose listings have begun: another one may take the path before the end. */
    private final Map<OriginPath, Node> begun = new ConcurrentHashMap<>();

    /**
     * The directories that the tree did not know when their listings began, as while a lookup
     * replaces one: a listing may be of the old directory.
     */
    private final Set<OriginPath> unknown = ConcurrentHashMap.newKeySet();

    private volatile boolean mayMove = true;

    Sink(TreePass pass, Counter counter, BooleanSupplier goesOn, boolean synced) {
      this.pass = pass;
      this.counter = counter;
      this.goesOn = goesOn;
      this.synced = synced;
    }

    @Override
    public boolean isSynced() {
      return synced;
    }

    @Override
    public void entries(OriginPath directory, List<Origin.ScannedEntry> entries) {
      Node parent = listed(directory);
      for (Origin.ScannedEntry entry : entries) {
        if (parent != null) {
          pass.found(parent, entry.name().bytes(), entry.attributes());
        }
        counter.found(directory, entry.name(), entry.attributes());
      }
    }

    @Override
    public void unread(OriginPath directory, OriginPath name, FsException cause) {
      Node parent = listed(directory);
      if (parent != null) {
        pass.unread(parent, cause);
      }
      warn(cause);
    }

    @Override
    public void hidden(String key) {
      counter.hidden(key);
    }

    @Override
    public KnownEntries known(OriginPath directory) {
      Node parent = find(directory);
      if (parent == null) {
        unknown.add(directory);
        return KnownEntries.NONE;
      }
      begun.put(directory, parent);
      return tree.knownEntries(parent);
    }

    private @Nullable Node listed(OriginPath directory) {
      Node parent = begun.get(directory);
      return parent == null ? find(directory) : parent;
    }

    @Override
    public void way(OriginPath directory, List<Attributes> way) throws FsException {
      if (unknown.contains(directory)) {
        throw new FsException(FsError.STALE, directory + ": not known when its listing began");
      }
      Node parent = listed(directory);
      if (parent != null) {
        pass.reached(parent, way);
      }
    }

    @Override
    public void complete(OriginPath directory) {
      if (!goesOn.getAsBoolean()) {
        return;
      }
      Node node = find(directory);
      Node before = begun.get(directory);
      if (before != null && !before.equals(node)) {
        failed(directory, new FsException(FsError.STALE, directory + ": replaced while listed"));
        return;
      }
      begun.remove(directory);
      if (node == null) {
        return;
      }
      try {
        pass.complete(node);
      } catch (FsException e) {
        warn(e);
      }
    }

    boolean hasMoved() {
      return !moved.isEmpty();
    }

    List<OriginPath> takeMoved() {
      List<OriginPath> taken = List.copyOf(moved);
      moved.clear();
      return taken;
    }

    @Override
    public void failed(OriginPath directory, FsException cause) {
      begun.remove(directory);
      unknown.remove(directory);
      if (cause.code() == FsError.STALE && mayMove && !directory.isRoot()) {
        moved.add(directory);
        return;
      }
      pass.failed(cause);
      Node node = find(directory);
      if (node != null) {
        tree.forgetListing(node);
      }
      warn(cause);
    }

    /** Logs the first failures; {@link TreePass#requireWhole} reports how many there were. */
    private void warn(FsException cause) {
      if (warnings.incrementAndGet() <= MOST_WARNINGS) {
        log.warn("left out: {}", cause.getMessage());
      }
    }

    @Override
    public boolean goesOn() {
      return goesOn.getAsBoolean();
    }
  }

  /** Returns the known directory at a path, or null where it has gone. */
  private @Nullable Node find(OriginPath path) {
    byte[] bytes = path.bytes();
    Node node = tree.root();
    int from = 0;
    while (from < bytes.length && node != null) {
      int to = from;
      while (to < bytes.length && bytes[to] != SLASH) {
        to++;
      }
      node = tree.known(node, java.util.Arrays.copyOfRange(bytes, from, to));
      from = to + 1;
    }
    return node == null || !node.attributes().isDirectory() ? null : node;
  }
}
