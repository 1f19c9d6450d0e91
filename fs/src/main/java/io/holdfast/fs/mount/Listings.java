package io.holdfast.fs.mount;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlFiles;
import io.holdfast.fs.mount.Filesystem.Entry;
import io.holdfast.fs.mount.Filesystem.ListSink;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.Tree;
import io.holdfast.fs.tree.TreePass;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Lists directories of the dataset from the tree, which holds the listing that the origin gave, so
 * that a reader needs no memory of its own and can go on where it was, under another daemon too.
 * Who begins to read gets the origin's listing of that moment, or the remembered one where that
 * {@linkplain Remembered holds}. Several who begin at the same time share one. Thread-safe.
 */
final class Listings {
  /** Places of entries without attributes, which the tree does not have: above every node's id. */
  private static final long UNKNOWN = 1L << 40;

  private static final byte[] HIDDEN = ControlFiles.NAME.getBytes(StandardCharsets.UTF_8);

  private final Origin origin;
  private final Tree tree;
  private final Remembered remembered;
  private final LongSupplier nanoTime;
  private final ConcurrentHashMap<Long, CompletableFuture<Optional<FsException>>> running =
      new ConcurrentHashMap<>();
  private final ConcurrentHashMap<Long, List<ListedEntry>> unknown = new ConcurrentHashMap<>();

  Listings(Origin origin, Tree tree, Remembered remembered, LongSupplier nanoTime) {
    this.origin = origin;
    this.tree = tree;
    this.remembered = remembered;
    this.nanoTime = nanoTime;
  }

  void list(Node directory, long after, ListSink sink) throws FsException {
    if (after == 0 && !remembered.holds(directory)) {
      bringIn(directory);
    }
    boolean[] hasRoom = {true};
    if (after < UNKNOWN) {
      tree.forEachEntry(directory, after, entry -> hasRoom[0] = pass(directory, entry, sink));
    }
    for (ListedEntry entry : unknown.getOrDefault(directory.id(), List.of())) {
      if (entry.place() > after && hasRoom[0]) {
        hasRoom[0] = isHidden(directory, entry.name()) || sink.take(entry);
      }
    }
  }

  private boolean pass(Node directory, Node entry, ListSink sink) {
    byte[] name = entry.name();
    return isHidden(directory, name)
        || sink.take(new ListedEntry(name, entry.id(), new Entry(entry.id(), entry.attributes())));
  }

  private static boolean isHidden(Node directory, byte[] name) {
    return directory.id() == Tree.ROOT && Arrays.equals(name, HIDDEN);
  }

  /** Brings a listing into the tree that began no sooner than this call. */
  private void bringIn(Node directory) throws FsException {
    boolean waited = false;
    while (true) {
      CompletableFuture<Optional<FsException>> own = new CompletableFuture<>();
      CompletableFuture<Optional<FsException>> other = running.putIfAbsent(directory.id(), own);
      Optional<FsException> failure = other == null ? bringAlone(directory, own) : other.join();
      // one that was under way already may have passed what has changed just now
      if (other == null || waited) {
        if (failure.isPresent()) {
          throw failure.get();
        }
        return;
      }
      waited = true;
    }
  }

  private Optional<FsException> bringAlone(
      Node directory, CompletableFuture<Optional<FsException>> own) {
    Optional<FsException> failure =
        Optional.of(new FsException(FsError.IO, "the listing failed in the daemon itself"));
    try {
      bring(directory);
      failure = Optional.empty();
    } catch (FsException e) {
      failure = Optional.of(e);
    } finally {
      running.remove(directory.id(), own);
      own.complete(failure);
    }
    return failure;
  }

  private void bring(Node directory) throws FsException {
    TreePass pass = new TreePass(tree, nanoTime.getAsLong(), TreePass.ChangeSink.NONE);
    List<ListedEntry> without = new ArrayList<>();
    origin.listWithAttributes(
        directory.path(),
        (name, type, inode, attributes) -> {
          pass.found(directory, name, attributes);
          if (attributes == null) {
            without.add(new ListedEntry(name, UNKNOWN + without.size() + 1, type, inode));
          }
        });
    pass.complete(directory);
    if (without.isEmpty()) {
      unknown.remove(directory.id());
    } else {
      unknown.put(directory.id(), without);
    }
  }
}
