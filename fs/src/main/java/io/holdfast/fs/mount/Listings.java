package io.holdfast.fs.mount;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlFiles;
import io.holdfast.fs.mount.Filesystem.Entry;
import io.holdfast.fs.mount.Filesystem.ListSink;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.tree.Moment;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.Tree;
import io.holdfast.fs.tree.TreePass;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Lists directories of the dataset from the tree, which holds the listing that the origin gave, so
 * that a reader needs no memory of its own and can go on where it was, under another daemon too.
 * Who begins to read gets the names of that moment: the origin lists the directory, unless it has
 * not changed since it did so last, or the memory {@linkplain Remembered holds}. Several who begin
 * at the same time share one listing. Thread-safe.
 */
final class Listings {
  /** Places of entries without attributes, which the tree does not have: above every node's id. */
  private static final long UNKNOWN = 1L << 40;

  private static final byte[] HIDDEN = ControlFiles.NAME.getBytes(StandardCharsets.UTF_8);

  /** For so long after a listing the attributes of its entries are taken as it told them. */
  private static final long YOUNG_NANOS = Duration.ofSeconds(2).toNanos();

  private final Origin origin;
  private final Tree tree;
  private final Remembered remembered;
  private final ConcurrentHashMap<Long, CompletableFuture<Optional<FsException>>> running =
      new ConcurrentHashMap<>();
  private final ConcurrentHashMap<Long, List<ListedEntry>> unknown = new ConcurrentHashMap<>();

  Listings(Origin origin, Tree tree, Remembered remembered) {
    this.origin = origin;
    this.tree = tree;
    this.remembered = remembered;
  }

  void list(Node directory, long after, IntPredicate looks, ListSink sink) throws FsException {
    if (after == 0 && !remembered.holds(directory)) {
      renew(directory);
    }
    boolean[] hasRoom = {true};
    if (after < UNKNOWN) {
      boolean ask = !remembered.holds(directory) && !isYoung(directory);
      tree.forEachSettledEntry(
          directory,
          after,
          entry -> {
            boolean look = looks.test(entry.type());
            ListedEntry listed = look ? lookedUp(directory, entry, ask) : named(entry);
            hasRoom[0] = listed == null || isHidden(directory, listed.name()) || sink.take(listed);
            return hasRoom[0];
          });
    }
    for (ListedEntry entry : unknown.getOrDefault(directory.id(), List.of())) {
      if (entry.place() > after && hasRoom[0]) {
        hasRoom[0] = isHidden(directory, entry.name()) || sink.take(entry);
      }
    }
  }

  private void renew(Node directory) throws FsException {
    long listed = tree.listedAt(directory);
    try {
      if (!tree.hasSameNames(directory)) {
        bringIn(directory);
      }
    } catch (FsException e) {
      if (listed == 0) {
        throw e;
      }
      remembered.fallBack(e);
    }
  }

  private static ListedEntry named(Node entry) {
    return new ListedEntry(entry.name(), entry.id(), entry.type(), entry.inode());
  }

  /**
   * Returns an entry with what it leads to; null for one that has gone, or has another place now.
   */
  private @Nullable ListedEntry lookedUp(Node directory, Node entry, boolean ask) {
    byte[] name = entry.name();
    try {
      return ask && !tree.lookup(directory, name).equals(entry)
          ? null
          : new ListedEntry(name, entry.id(), new Entry(entry.id(), entry.attributes()));
    } catch (FsException e) {
      return e.code() == FsError.NOT_FOUND ? null : named(entry);
    }
  }

  /** Tells whether a listing has just told the attributes of the entries. */
  private boolean isYoung(Node directory) {
    long listed = tree.listedAt(directory);
    return listed != 0 && System.nanoTime() - listed < YOUNG_NANOS;
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
    TreePass pass = new TreePass(tree, Moment.now(), TreePass.ChangeSink.NONE);
    List<ListedEntry> without = new ArrayList<>();
    origin.list(
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
