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
import java.util.List;
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
 * <p>Nodes are numbered here, from 0 on: 0 is the directory, then the links, then the directory of
 * snapshots and the snapshots themselves. Thread-safe; the monitor guards the choice of a link's
 * snapshot, and the content is made under it.
 */
public final class ControlFiles {
  /** The directory's name in the root of the mount. */
  public static final String NAME = ".holdfast";

  /** The node of the directory itself. */
  public static final long DIRECTORY = 0;

  private static final byte[] SNAPSHOTS_NAME = "snapshots".getBytes(StandardCharsets.UTF_8);
  private static final Duration SAME_SNAPSHOT = Duration.ofSeconds(1);
  private static final Duration KEEP = Duration.ofSeconds(30);

  /** One a second for a month; together they stay below the numbers that a mount has for these. */
  private static final long SNAPSHOTS_OF_ONE = 2_592_000;

  private static final long GENERATIONS = 100_000;
  private static final int READABLE = 0444;
  private static final int LISTABLE = 0555;
  private static final int LINK = 0777;

  /** So many digits that every target has the same length, which stat may tell in advance. */
  private static final String TARGET_FORMAT = "snapshots/%012d-%s";

  private record Link(String name, Supplier<byte[]> content) {}

  /** What a link led to at one moment. Immutable. */
  private static final class Snapshot {
    final long node;
    final String name;
    final byte[] content;

    /** When it was made: by the calendar, in nanoseconds since 1970, and by the ticker. */
    final long madeAt = System.currentTimeMillis() * 1_000_000;

    final long made;

    Snapshot(long node, String name, byte[] content, long made) {
      this.node = node;
      this.name = name;
      this.content = content;
      this.made = made;
    }
  }

  private final List<Link> links = new ArrayList<>();
  private final long snapshotsNode;
  private final Ticker ticker;
  private final long startedAt = System.currentTimeMillis() * 1_000_000;
  private final Snapshot[] newest;
  private final Cache<Long, Snapshot> snapshots;

  /** What each thread got in the last second, by thread and link. */
  private final Cache<Long, Snapshot> given;

  private long lastNode;

  /**
   * Creates the directory.
   *
   * @param files what makes the content of each file, by name, in the order of the listing
   * @param generation how many of these the mount has had before: the kernel may remember their
   *     snapshots, so that those of this one have other numbers
   * @param ticker a clock of nanoseconds
   */
  public ControlFiles(Map<String, Supplier<byte[]>> files, long generation, Ticker ticker) {
    files.forEach((name, content) -> links.add(new Link(name, content)));
    this.ticker = ticker;
    this.snapshotsNode = links.size() + 1L;
    this.lastNode = snapshotsNode + generation % GENERATIONS * SNAPSHOTS_OF_ONE;
    this.newest = new Snapshot[links.size()];
    this.snapshots =
        Caffeine.newBuilder().expireAfterWrite(KEEP).ticker(ticker).executor(Runnable::run).build();
    this.given =
        Caffeine.newBuilder()
            .expireAfterWrite(SAME_SNAPSHOT)
            .ticker(ticker)
            .executor(Runnable::run)
            .build();
  }

  /** Returns the node that a name leads to. */
  public long lookup(long parent, byte[] name) throws FsException {
    String text = new String(name, StandardCharsets.UTF_8);
    if (parent == DIRECTORY) {
      if (Arrays.equals(name, SNAPSHOTS_NAME)) {
        return snapshotsNode;
      }
      for (int i = 0; i < links.size(); i++) {
        if (links.get(i).name.equals(text)) {
          return i + 1L;
        }
      }
    }
    if (parent == snapshotsNode) {
      for (Snapshot snapshot : snapshots.asMap().values()) {
        if (snapshot.name.equals(text)) {
          return snapshot.node;
        }
      }
    }
    throw new FsException(FsError.NOT_FOUND, NAME + "/" + text + ": no such control file");
  }

  /** Returns the attributes of a node. */
  public Attributes attributes(long node) throws FsException {
    if (node == DIRECTORY || node == snapshotsNode) {
      return attributes(node, Attributes.DIRECTORY | LISTABLE, 0, startedAt);
    }
    Link link = linkOf(node);
    if (link != null) {
      long length = String.format(TARGET_FORMAT, 0, link.name).length();
      return attributes(node, Attributes.SYMLINK | LINK, length, startedAt);
    }
    Snapshot snapshot = snapshot(node);
    return attributes(
        node, Attributes.REGULAR | READABLE, snapshot.content.length, snapshot.madeAt);
  }

  private static Attributes attributes(long node, int mode, long size, long time) {
    // inode numbers that no real filesystem gives out
    return new Attributes(mode, 1, 0, 0, 0, ~node, size, (size + 511) / 512, time, time, time, "");
  }

  /**
   * Returns the target of a link: a snapshot that the thread got less than a second ago, or else
   * one that was made less than a second ago.
   *
   * @param thread who asks; 0 where that is unknown
   */
  public byte[] readLink(long node, int thread) throws FsException {
    Link link = linkOf(node);
    if (link == null) {
      throw new FsException(FsError.INVALID, NAME + ": not a symlink");
    }
    return ("snapshots/" + snapshot((int) node - 1, link, thread).name)
        .getBytes(StandardCharsets.UTF_8);
  }

  /** Who looks at a file twice, as cp does before and after it opens it, sees the same one. */
  private synchronized Snapshot snapshot(int index, Link link, int thread) {
    Long who = (long) thread << Byte.SIZE | index;
    Snapshot same = thread == 0 ? null : given.getIfPresent(who);
    if (same != null) {
      return same;
    }
    Snapshot newest = fresh(index, link);
    given.put(who, newest);
    return newest;
  }

  private Snapshot fresh(int index, Link link) {
    long now = ticker.read();
    Snapshot last = newest[index];
    if (last != null && now - last.made < SAME_SNAPSHOT.toNanos()) {
      return last;
    }
    byte[] content = link.content.get();
    long node = ++lastNode;
    String target = String.format(TARGET_FORMAT, node, link.name);
    String name = target.substring(target.indexOf('/') + 1);
    Snapshot made = new Snapshot(node, name, content, ticker.read());
    newest[index] = made;
    snapshots.put(node, made);
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
    } else if (node != snapshotsNode) {
      throw new FsException(FsError.NOT_DIRECTORY, NAME + ": not a directory");
    }
  }

  /** Returns the content of a snapshot; the caller does not change it. */
  public byte[] content(long node) throws FsException {
    return snapshot(node).content;
  }

  private @Nullable Link linkOf(long node) {
    return node > DIRECTORY && node < snapshotsNode ? links.get((int) node - 1) : null;
  }

  private Snapshot snapshot(long node) throws FsException {
    Snapshot snapshot = snapshots.getIfPresent(node);
    if (snapshot == null) {
      throw new FsException(FsError.STALE, NAME + ": that snapshot has been forgotten");
    }
    return snapshot;
  }
}
