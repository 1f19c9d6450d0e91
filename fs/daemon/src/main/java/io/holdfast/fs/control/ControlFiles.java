package io.holdfast.fs.control;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import io.holdfast.fs.ControlInodes;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.mount.ControlNodes;
import io.holdfast.fs.origin.Attributes;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The control directory {@code /.holdfast}. The kernel opens files of this mount without a request,
 * so it would serve stale content of a file that changes. Each control file is therefore a relative
 * symlink with a new target at every readlink. The target is a snapshot that was made at that
 * moment, has an exact size, and is forgotten some seconds later. Readlinks within a second return
 * the same snapshot; otherwise {@code cp}, which calls stat and then open, would find the file
 * replaced meanwhile.
 *
 * <p>Root and the mount's owner get another snapshot than other users where the content differs.
 * The owner's snapshots are in a directory that only root and the owner may enter, and only they
 * may read the files. The kernel checks modes and owner at each step ({@code default_permissions}),
 * also for cached entries. A number is never used for snapshots of both kinds, whatever the kernel
 * has cached.
 *
 * <p>Nodes are numbered from 0: first the directory, then the links, then the two directories of
 * snapshots, and then the snapshots. Thread-safe; the monitor guards the choice of a link's
 * snapshot, and the content is made under it.
 */
public final class ControlFiles implements ControlNodes {
  private static final int ROOT = 0;
  private static final Duration SAME_SNAPSHOT = Duration.ofSeconds(1);

  /** Most threads that get the same snapshot again; a thread beyond that gets a new one. */
  private static final int MOST_THREADS = 4096;

  /** The first number of a snapshot, greater than the numbers of all links. */
  private static final long FIRST = 64;

  /**
   * Milliseconds after which first numbers repeat, nearly nine years. Each has an even number, for
   * all users, and an odd one, for the owner.
   */
  private static final long MOST_MILLIS = 1L << 38;

  private static final int LINK = 0777;

  /**
   * A directory of snapshots.
   *
   * @param name has the same length as the other directory's name, so that every target has the
   *     same length, which stat reports in advance
   */
  private record Shelf(String name, int mode, int fileMode, Snapshots snapshots) {
    byte[] nameBytes() {
      return bytes(name);
    }

    /** Returns a target; all targets of a link have the same length. */
    String target(long number, String link) {
      return String.format(Locale.ROOT, "%s/%012d-%s", name, number, link);
    }
  }

  /**
   * Makes the content of a control file.
   *
   * @param forOwner content for root and the mount's owner
   * @param forOthers content for all other users
   */
  public record Content(Supplier<byte[]> forOwner, Supplier<byte[]> forOthers) {
    /** Returns a content that is the same for all users. */
    public static Content forAll(Supplier<byte[]> content) {
      return new Content(content, content);
    }

    boolean isForAll() {
      return forOwner.equals(forOthers);
    }
  }

  /** The user and the group that a mount belongs to. */
  public record Owner(int uid, int gid) {
    /** Tells whether a user gets the owner's content. */
    public boolean admits(int user) {
      return user == ROOT || user == uid;
    }
  }

  private record Link(String name, Content content) {}

  /** A link for one kind of users and for one thread; thread 0 stands for all threads. */
  private record View(int link, boolean owners, int thread) {}

  private final List<Link> links = new ArrayList<>();
  private final Owner owner;
  private final Shelf forAll;
  private final Shelf forOwner;
  private final long firstShelf;
  private final Ticker ticker;
  private final long startedAt = System.currentTimeMillis() * 1_000_000;
  private final Map<View, FileSnapshot> newest = new HashMap<>();

  /** The snapshots that each thread got in the last second. */
  private final Cache<View, FileSnapshot> given;

  private long lastNumber;

  /**
   * Creates the directory.
   *
   * @param files makers of the files' content, by name, in the order of the listing
   * @param ticker a clock of nanoseconds, which goes on from one daemon of a mount to the next. The
   *     kernel may have cached the snapshots of the daemons before, so the numbers of this one's
   *     begin with the time: no daemon makes one each millisecond
   */
  public ControlFiles(Map<String, Content> files, Owner owner, Ticker ticker) {
    files.forEach((name, content) -> links.add(new Link(name, content)));
    this.owner = owner;
    this.ticker = ticker;
    this.forAll = new Shelf("snapshots", 0555, 0444, new Snapshots(ticker));
    this.forOwner = new Shelf("for-owner", 0500, 0400, new Snapshots(ticker));
    this.firstShelf = links.size() + 1L;
    long millis = TimeUnit.NANOSECONDS.toMillis(ticker.read());
    this.lastNumber = FIRST + 2 * Math.floorMod(millis, MOST_MILLIS);
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

  @Override
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
    FileSnapshot snapshot = shelf == null ? null : shelf.snapshots.named(text);
    if (snapshot == null) {
      throw new FsException(FsError.NOT_FOUND, NAME + "/" + text + ": no such control file");
    }
    return snapshot.node();
  }

  @Override
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
    FileSnapshot snapshot = snapshot(node);
    int mode = Attributes.REGULAR | holder(node).fileMode;
    return attributes(node, mode, snapshot.content().length, snapshot.madeAt());
  }

  private Attributes attributes(long node, int mode, long size, long time) {
    long inode = ControlInodes.of(node);
    return new Attributes(
        mode, 1, owner.uid, owner.gid, 0, inode, size, (size + 511) / 512, time, time, time, "");
  }

  /**
   * Returns the target of a link: the snapshot that the thread got less than a second ago, or else
   * one that was made less than a second ago.
   */
  @Override
  public byte[] readLink(long node, Asker asker) throws FsException {
    Link link = linkOf(node);
    if (link == null) {
      throw new FsException(FsError.INVALID, NAME + ": not a symlink");
    }
    boolean owners = !link.content.isForAll() && owner.admits(asker.uid());
    FileSnapshot snapshot = snapshot(new View((int) node - 1, owners, asker.thread()));
    return bytes((owners ? forOwner : forAll).name + "/" + snapshot.name());
  }

  /**
   * A program that looks at a file twice, as cp does before and after it opens the file, sees the
   * same one.
   */
  private synchronized FileSnapshot snapshot(View view) {
    FileSnapshot same = view.thread == 0 ? null : given.getIfPresent(view);
    if (same != null) {
      return same;
    }
    FileSnapshot fresh = fresh(new View(view.link, view.owners, 0));
    given.put(view, fresh);
    return fresh;
  }

  private FileSnapshot fresh(View view) {
    FileSnapshot last = newest.get(view);
    if (last != null && ticker.read() - last.made() < SAME_SNAPSHOT.toNanos()) {
      return last;
    }
    Link link = links.get(view.link);
    byte[] content = (view.owners ? link.content.forOwner : link.content.forOthers).get();
    lastNumber += 2;
    long node = lastNumber + (view.owners ? 1 : 0);
    Shelf shelf = view.owners ? forOwner : forAll;
    String name = shelf.target(node, link.name).substring(shelf.name.length() + 1);
    FileSnapshot made = new FileSnapshot(node, name, content, ticker.read());
    newest.put(view, made);
    shelf.snapshots.put(made);
    return made;
  }

  /** Passes the names of the control files; the snapshots are not listed. */
  @Override
  public void list(long node, NameSink sink) throws FsException {
    if (node == DIRECTORY) {
      for (int i = 0; i < links.size(); i++) {
        byte[] name = links.get(i).name.getBytes(StandardCharsets.UTF_8);
        sink.entry(name, Attributes.SYMLINK, ControlInodes.of(i + 1L));
      }
    } else if (shelfOf(node) == null) {
      throw new FsException(FsError.NOT_DIRECTORY, NAME + ": not a directory");
    }
  }

  @Override
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

  private FileSnapshot snapshot(long node) throws FsException {
    FileSnapshot snapshot = holder(node).snapshots.at(node);
    if (snapshot == null) {
      throw new FsException(FsError.STALE, NAME + ": that snapshot has been forgotten");
    }
    return snapshot;
  }
}
