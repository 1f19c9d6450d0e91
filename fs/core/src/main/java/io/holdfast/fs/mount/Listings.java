package io.holdfast.fs.mount;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.mount.Filesystem.Entry;
import io.holdfast.fs.mount.Filesystem.ListSink;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.Tree;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Lists directories of the dataset from the tree. The tree holds the listing that the origin gave,
 * so a reader needs no memory of its own, and can go on where it was, under another daemon too. A
 * reader that begins gets the names of that moment: the origin lists the directory, unless the
 * directory has not changed since it was listed last, or {@link MetadataCache} still answers for
 * it. Readers that begin at the same time share one listing. Thread-safe.
 */
final class Listings {
  /**
   * The first place of entries without attributes, which the tree does not have: above every node's
   * id.
   */
  private static final long UNKNOWN = 1L << 61;

  /** The most places that names of one hash may take. */
  private static final int OF_ONE_HASH = 1 << 20;

  /**
   * The most names without attributes that are remembered. A directory of more names is listed
   * again for each request.
   */
  private static final long MOST_UNKNOWN = 200_000;

  private static final Duration UNKNOWN_FOR = Duration.ofMinutes(10);

  private static final byte[] HIDDEN = ControlNodes.NAME.getBytes(StandardCharsets.UTF_8);

  /** How long after a listing its attributes of entries count as fresh; see {@link #YOUNG_PART}. */
  private static final long YOUNG_NANOS = Duration.ofSeconds(2).toNanos();

  /**
   * Attributes of a listing count as fresh for no more than this part of the TTL, because the
   * kernel then believes them for a whole TTL.
   */
  private static final int YOUNG_PART = 100;

  /**
   * How many entries the origin is asked for at once, for the first time in a request and later. A
   * reader may want no more than the first few; what does not fit the reply is asked for again.
   */
  private static final int FIRST_ASKED = 16;

  private static final int MOST_ASKED = 32;

  private final Tree tree;
  private final MetadataCache metadata;
  private final Function<Node, Attributes> shown;
  private final ConcurrentHashMap<Long, CompletableFuture<List<ListedEntry>>> running =
      new ConcurrentHashMap<>();

  /** The entries that came without attributes, of each directory that is not known whole. */
  private final Cache<Long, List<ListedEntry>> unknown =
      Caffeine.newBuilder()
          .expireAfterAccess(UNKNOWN_FOR)
          .maximumWeight(MOST_UNKNOWN)
          .weigher((Long directory, List<ListedEntry> entries) -> 1 + entries.size())
          .executor(Runnable::run)
          .build();

  /**
   * Creates listings.
   *
   * @param shown returns a node's attributes as the kernel is to see them
   */
  Listings(Tree tree, MetadataCache metadata, Function<Node, Attributes> shown) {
    this.tree = tree;
    this.metadata = metadata;
    this.shown = shown;
  }

  void list(Node directory, long after, IntPredicate looks, ListSink sink) throws FsException {
    List<ListedEntry> without = begin(directory, after);
    boolean[] hasRoom = {true};
    if (after < UNKNOWN) {
      boolean ask = !metadata.holds(directory) && !isYoung(directory);
      Confirmation confirmation = new Confirmation(directory);
      tree.forEachSettledEntry(
          directory,
          after,
          entry -> {
            boolean look = looks.test(entry.type());
            boolean askAlone = look && ask && !confirmation.covers(entry);
            ListedEntry listed = look ? lookedUp(directory, entry, askAlone) : named(entry);
            hasRoom[0] = listed == null || isHidden(directory, listed.name()) || sink.take(listed);
            return hasRoom[0];
          });
    }
    for (ListedEntry entry : without) {
      if (entry.place() > after && hasRoom[0]) {
        hasRoom[0] = isHidden(directory, entry.name()) || sink.take(entry);
      }
    }
  }

  /**
   * Makes sure that the listing is there. If a reader goes on with a listing that began under
   * another daemon, the tree may not have all of it.
   *
   * @return the entries that the tree does not have
   * @throws FsException IO if the reader goes on among these, and the tree has them by now, in its
   *     own order
   */
  private List<ListedEntry> begin(Node directory, long after) throws FsException {
    if (after == 0 && !metadata.holds(directory)) {
      renew(directory);
    }
    List<ListedEntry> without = unknown.getIfPresent(directory.id());
    if (tree.listedAt(directory) != 0) {
      if (after >= UNKNOWN) {
        throw new FsException(
            FsError.IO, directory.path() + ": listed anew since it was begun: begin again");
      }
      return List.of();
    }
    return without == null ? bringIn(directory) : without;
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
      metadata.fallBack(e);
    }
  }

  private static ListedEntry named(Node entry) {
    return new ListedEntry(entry.name(), entry.id(), entry.type(), entry.inode());
  }

  /**
   * Returns an entry with the node that it leads to; null if the entry has gone, or has another
   * place now.
   */
  private @Nullable ListedEntry lookedUp(Node directory, Node entry, boolean ask) {
    byte[] name = entry.name();
    try {
      return ask && !tree.lookup(directory, name).equals(entry)
          ? null
          : new ListedEntry(name, entry.id(), new Entry(entry.id(), shown.apply(entry)));
    } catch (FsException e) {
      // if the directory itself has gone, its entries stay known until the tree drops it
      boolean gone = e.code() == FsError.NOT_FOUND && tree.known(directory, name) == null;
      return gone ? null : named(entry);
    }
  }

  /**
   * Asks the origin for the entries of one request, some at a time: the way to the directory costs
   * more than an entry.
   */
  private final class Confirmation {
    private final Node directory;
    private final Set<Node> asked = new HashSet<>();
    private Set<Node> confirmed = Set.of();

    Confirmation(Node directory) {
      this.directory = directory;
    }

    /**
     * Tells whether an entry has fresh attributes. Asks for it, and for the next ones, if need be.
     */
    boolean covers(Node entry) {
      if (!asked.contains(entry)) {
        ask(entry, asked.isEmpty() ? FIRST_ASKED : MOST_ASKED);
      }
      return confirmed.contains(entry);
    }

    private void ask(Node first, int most) {
      List<Node> entries = new ArrayList<>(List.of(first));
      tree.forEachEntry(
          directory,
          first.id(),
          next -> {
            entries.add(next);
            return entries.size() < most;
          });
      asked.clear();
      asked.addAll(entries);
      try {
        confirmed = tree.confirm(directory, entries);
      } catch (FsException e) {
        confirmed = Set.of(); // the question for a single entry tells what is wrong
      }
    }
  }

  /** Tells whether a listing has just told the attributes of the entries. */
  private boolean isYoung(Node directory) {
    long listed = tree.listedAt(directory);
    long young = Math.min(YOUNG_NANOS, metadata.ttl().toNanos() / YOUNG_PART);
    return listed != 0 && System.nanoTime() - listed < young;
  }

  private static boolean isHidden(Node directory, byte[] name) {
    return directory.id() == Tree.ROOT && Arrays.equals(name, HIDDEN);
  }

  /**
   * Brings a listing into the tree that began after this call.
   *
   * @return the entries that the tree does not have
   */
  private List<ListedEntry> bringIn(Node directory) throws FsException {
    boolean waited = false;
    while (true) {
      CompletableFuture<List<ListedEntry>> own = new CompletableFuture<>();
      CompletableFuture<List<ListedEntry>> other = running.putIfAbsent(directory.id(), own);
      if (other == null) {
        bringAlone(directory, own);
      }
      CompletableFuture<List<ListedEntry>> listing = other == null ? own : other;
      // a listing that was under way already may have passed a name that has changed just now
      if (other == null || waited) {
        return outcome(listing);
      }
      boolean unused = listing.handle((without, failure) -> true).join();
      waited = true;
    }
  }

  private static List<ListedEntry> outcome(CompletableFuture<List<ListedEntry>> listing)
      throws FsException {
    try {
      return listing.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof FsException failure) {
        throw failure;
      }
      throw new FsException(FsError.IO, "the listing failed in the daemon itself", e);
    }
  }

  private void bringAlone(Node directory, CompletableFuture<List<ListedEntry>> own) {
    try {
      own.complete(bring(directory));
    } catch (FsException e) {
      own.completeExceptionally(e);
    } finally {
      running.remove(directory.id(), own);
      own.completeExceptionally(new IllegalStateException("neither listed nor failed"));
    }
  }

  private List<ListedEntry> bring(Node directory) throws FsException {
    SortedMap<Long, ListedEntry> without = new TreeMap<>();
    tree.bringIn(
        directory,
        (name, type, inode, cause) -> {
          long place = place(name, without);
          without.putIfAbsent(place, new ListedEntry(name, place, type, inode));
        });
    // an origin may list a name twice, and give attributes only once
    List<ListedEntry> all =
        without.values().stream()
            .filter(entry -> tree.known(directory, entry.name()) == null)
            .toList();
    if (tree.listedAt(directory) == 0) {
      unknown.put(directory.id(), all);
    } else {
      unknown.invalidate(directory.id());
    }
    return all;
  }

  /** Returns the place of a name, which is the same in the next listing. */
  private static long place(byte[] name, SortedMap<Long, ListedEntry> taken) {
    long place = UNKNOWN + Integer.toUnsignedLong(Arrays.hashCode(name)) * OF_ONE_HASH;
    ListedEntry there = taken.get(place);
    while (there != null && !Arrays.equals(there.name(), name)) {
      place++;
      there = taken.get(place);
    }
    return place;
  }
}
