package io.holdfast.fs.control;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The control directory {@code /.holdfast}. On a mount whose opens the kernel does not ask about, a
 * file whose content changes would be served stale. Each control file is therefore a relative
 * symlink whose target is new at every readlink: it leads to a snapshot that was made at that
 * moment, is exact in size, and is forgotten some seconds later. Reads of the link within a second
 * lead to the same snapshot, or else {@code cp}, which does stat and then open, would find the file
 * replaced meanwhile.
 *
 * <p>Root and the mount's owner are led to another snapshot than the others where the content
 * differs. Those for the owner are in a directory that nobody else may enter, and nobody else may
 * read them: the kernel compares modes and owner at each step ({@code default_permissions}), also
 * of what it remembers. A number is never used for a snapshot of both kinds, whatever the kernel
 * remembers of it.
 *
 * <p>Nodes are numbered here, from 0 on: 0 is the directory, then the links, then the two
 * directories of snapshots and the snapshots themselves. Thread-safe; the monitor guards the choice
 * of a link's snapshot, and the content is made under it.
 */
public final class ControlFiles {
  /** The directory's name in the root of the mount. */
  public static final String NAME = ".holdfast";

  /** The node of the directory itself. */
  public static final long DIRECTORY = 0;

  private static final int ROOT = 0;
  private static final Duration SAME_SNAPSHOT = Duration.ofSeconds(1);

  /** Threads that get the same snapshot again; who is forgotten gets a new one. */
  private static final int MOST_THREADS = 4096;

  /** The first number of a snapshot, above those of all links. */
  private static final long FIRST = 64;

  /**
   * So many numbers has one daemon of a mount, and so many daemons follow each other before numbers
   * come again. Even numbers are of snapshots for all, odd ones of those for the owner.
   */
  private static final long NUMBERS_OF_ONE = 1L << 28;

  private static final long GENERATIONS = 1000;
  private static final int LINK = 0777;

  /**
   * A directory of snapshots.
   *
   * @param name as long as the other's: so every target has the same length, which stat may tell in
   *     advance
   */
  private record Shelf(String name, int mode, int fileMode, Snapshots snapshots) {
    byte[] nameBytes() {
      return bytes(name);
    }

    /** So many digits that every target has the same length. */
    String target(long number, String link) {
      return String.format(Locale.ROOT, "%s/%012d-%s", name, number, link);
    }
  }

  /**
   * What makes the content of a control file.
   *
   * @param forOwner for root and the mount's owner
   * @param forOthers for all other users
   */
  public record Content(Supplier<byte[]> forOwner, Supplier<byte[]> forOthers) {
    /** The same for all. */
    public static Content forAll(Supplier<byte[]> content) {
      return new Content(content, content);
    }

    boolean isForAll() {
      return forOwner.equals(forOthers);
    }
  }

  /** The user and the group that a mount belongs to. */
  public record Owner(int uid, int gid) {
    /** Tells whether a user sees what the owner sees. */
    public boolean admits(int user) {
      return user == ROOT || user == uid;
    }
  }

  /**
   * Who reads a link.
   *
   * @param thread 0 where it is unknown
   * @param uid the user, as the kernel checks accesses
   */
  public record Asker(int thread, int uid) {}

  private record Link(String name, Content content) {}

  /** A link as one kind of users sees it, and to a thread: 0 for all threads. */
  private record View(int link, boolean owners, int thread) {}

  private final List<Link> links = new ArrayList<>();
  private final Owner owner;
  private final Shelf forAll;
  private final Shelf forOwner;
  private final long firstShelf;
  private final Ticker ticker;
  private final long startedAt = System.currentTimeMillis() * 1_000_000;
  private final Map<View, Snapshot> newest = new HashMap<>();

  /** What each thread got in the last second. */
  private final Cache<View, Snapshot> given;

  private long lastNumber;

  /**
   * Creates the directory.
   *
   * @param files what makes the content of each file, by name, in the order of the listing
   * @param generation how many of these the mount has had before: the kernel may remember their
   *     snapshots, so that those of this one have other numbers
   * @param ticker a clock of nanoseconds
   */
  public ControlFiles(Map<String, Content> files, Owner owner, long generation, Ticker ticker) {
    files.forEach((name, content) -> links.add(new Link(name, content)));
    this.owner = owner;
    this.ticker = ticker;
    this.forAll = new Shelf("snapshots", 0555, 0444, new Snapshots(ticker));
    this.forOwner = new Shelf("for-owner", 0500, 0400, new Snapshots(ticker));
    this.firstShelf = links.size() + 1L;
    this.lastNumber = FIRST + generation % GENERATIONS * NUMBERS_OF_ONE;
    this.given =
        Caffeine.newBuilder()
            .expireAfterWrite(SAME_SNAPSHOT)
            .maximumSize(MOST_THREADS)
            .ticker(ticker)
            .executor(Runnable::run)
            .build();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Returns the node that a name leads to. */
  public long lookup(long parent, byte[] name) throws FsException {
    String text = new String(name, StandardCharsets.UTF_8);
    if (parent == DIRECTORY) {
      for (int i = 0; i < links.size(); i++) {
        if (links.get(i).name.equals(text)) {
          return i + 1L;
        }
      }
      if (Arrays.equals(name, forAll.nameBytes())) {
        return firstShelf;
      }
      if (Arrays.equals(name, forOwner.nameBytes())) {
        return firstShelf + 1;
      }
    }
    Shelf shelf = shelfOf(parent);
    Snapshot snapshot = shelf == null ? null : shelf.snapshots.named(text);
    if (snapshot == null) {
      throw new FsException(FsError.NOT_FOUND, NAME + "/" + text + ": no such control file");
    }
    return snapshot.node();
  }

  /** Returns the attributes of a node. */
  public Attributes attributes(long node) throws FsException {
    if (node == DIRECTORY) {
      return attributes(node, Attributes.DIRECTORY | 0555, 0, startedAt);
    }
    Shelf shelf = shelfOf(node);
    if (shelf != null) {
      return attributes(node, Attributes.DIRECTORY | shelf.mode, 0, startedAt);
    }
    Link link = linkOf(node);
    if (link != null) {
      long length = forAll.target(0, link.name).length();
      return attributes(node, Attributes.SYMLINK | LINK, length, startedAt);
    }
    Snapshot snapshot = snapshot(node);
    int mode = Attributes.REGULAR | holder(node).fileMode;
    return attributes(node, mode, snapshot.content().length, snapshot.madeAt());
  }

  private Attributes attributes(long node, int mode, long size, long time) {
    // inode numbers that no real filesystem gives out
    return new Attributes(
        mode, 1, owner.uid, owner.gid, 0, ~node, size, (size + 511) / 512, time, time, time, "");
  }

  /**
   * Returns the target of a link: a snapshot that the thread got less than a second ago, or else
   * one that was made less than a second ago.
   */
  public byte[] readLink(long node, Asker asker) throws FsException {
    Link link = linkOf(node);
    if (link == null) {
      throw new FsException(FsError.INVALID, NAME + ": not a symlink");
    }
    boolean owners = !link.content.isForAll() && owner.admits(asker.uid);
    Snapshot snapshot = snapshot(new View((int) node - 1, owners, asker.thread));
    return bytes((owners ? forOwner : forAll).name + "/" + snapshot.name());
  }

  /** Who looks at a file twice, as cp does before and after it opens it, sees the same one. */
  private synchronized Snapshot snapshot(View view) {
    Snapshot same = view.thread == 0 ? null : given.getIfPresent(view);
    if (same != null) {
      return same;
    }
    Snapshot fresh = fresh(new View(view.link, view.owners, 0));
    given.put(view, fresh);
    return fresh;
  }

  private Snapshot fresh(View view) {
    Snapshot last = newest.get(view);
    if (last != null && ticker.read() - last.made() < SAME_SNAPSHOT.toNanos()) {
      return last;
    }
    Link link = links.get(view.link);
    byte[] content = (view.owners ? link.content.forOwner : link.content.forOthers).get();
    lastNumber += 2;
    long node = lastNumber + (view.owners ? 1 : 0);
    Shelf shelf = view.owners ? forOwner : forAll;
    String name = shelf.target(node, link.name).substring(shelf.name.length() + 1);
    Snapshot made = new Snapshot(node, name, content, ticker.read());
    newest.put(view, made);
    shelf.snapshots.put(made);
    return made;
  }

  /** Takes what is in the directory. */
  @FunctionalInterface
  public interface NameSink {
    /** Takes a name, with the type and the inode number of what it leads to. */
    void entry(byte[] name, int type, long inode);
  }

  /** Passes the names of the control files; the snapshots are not listed. */
  public void list(long node, NameSink sink) throws FsException {
    if (node == DIRECTORY) {
      for (int i = 0; i < links.size(); i++) {
        byte[] name = links.get(i).name.getBytes(StandardCharsets.UTF_8);
        sink.entry(name, Attributes.SYMLINK, ~(i + 1L));
      }
    } else if (shelfOf(node) == null) {
      throw new FsException(FsError.NOT_DIRECTORY, NAME + ": not a directory");
    }
  }

  /** Returns the content of a snapshot; the caller does not change it. */
  public byte[] content(long node) throws FsException {
    return snapshot(node).content();
  }

  private @Nullable Link linkOf(long node) {
    return node > DIRECTORY && node < firstShelf ? links.get((int) node - 1) : null;
  }

  private @Nullable Shelf shelfOf(long node) {
    return node == firstShelf ? forAll : node == firstShelf + 1 ? forOwner : null;
  }

  private Shelf holder(long node) {
    return node % 2 == 0 ? forAll : forOwner;
  }

  private Snapshot snapshot(long node) throws FsException {
    Snapshot snapshot = holder(node).snapshots.at(node);
    if (snapshot == null) {
      throw new FsException(FsError.STALE, NAME + ": that snapshot has been forgotten");
    }
    return snapshot;
  }
}
