package io.holdfast.fs.tree;

import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.OriginPath;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fills the tree with everything that the origin has below a directory, several listings at once,
 * and what is known already is brought up to date. It follows no symlink; an entry that cannot be
 * read is logged and left out. Lookups go on meanwhile. Thread-safe.
 */
public final class TreeScan {
  private static final Logger log = LoggerFactory.getLogger(TreeScan.class);
  private static final byte SLASH = '/';

  private final Origin origin;
  private final Tree tree;
  private final Executor threads;

  /** Takes what a scan finds, besides the tree. Called by several threads at once. */
  @FunctionalInterface
  public interface Counter {
    /** Takes an entry. */
    void found(OriginPath directory, OriginPath name, Attributes attributes);
  }

  /**
   * Creates scans.
   *
   * @param threads run the listings; bounded in number, and not the thread that calls {@link #run}
   */
  public TreeScan(Origin origin, Tree tree, Executor threads) {
    this.origin = origin;
    this.tree = tree;
    this.threads = threads;
  }

  /**
   * Scans, and returns when everything has been found.
   *
   * @param top where to begin
   * @param goesOn whether the scan is to go on
   * @throws FsException where the directory itself cannot be scanned
   */
  public void run(Node top, TreePass pass, Counter counter, BooleanSupplier goesOn)
      throws FsException {
    origin.scan(top.path(), threads, new Sink(pass, counter, goesOn));
  }

  private final class Sink implements Origin.ScanSink {
    private final TreePass pass;
    private final Counter counter;
    private final BooleanSupplier goesOn;

    Sink(TreePass pass, Counter counter, BooleanSupplier goesOn) {
      this.pass = pass;
      this.counter = counter;
      this.goesOn = goesOn;
    }

    @Override
    public void entries(OriginPath directory, List<Origin.ScannedEntry> entries) {
      Node parent = find(directory);
      for (Origin.ScannedEntry entry : entries) {
        Attributes attributes = entry.attributes();
        if (parent != null) {
          pass.found(parent, entry.name().bytes(), attributes);
        }
        if (attributes == null) {
          log.warn("left out: {}", directory.child(entry.name().bytes()));
        } else {
          counter.found(directory, entry.name(), attributes);
        }
      }
    }

    @Override
    public void complete(OriginPath directory) {
      Node node = find(directory);
      if (node != null && goesOn.getAsBoolean()) {
        pass.complete(node);
      }
    }

    @Override
    public void failed(OriginPath directory, FsException cause) {
      log.warn("left out: {}", cause.getMessage());
      Node node = find(directory);
      if (node != null) {
        tree.forgetListing(node);
      }
    }

    @Override
    public boolean goesOn() {
      return goesOn.getAsBoolean();
    }
  }

  /** Returns the directory of that path, or null where it has gone since it was found. */
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
