package io.holdfast.fs.mount.kernel;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Filesystem;
import io.holdfast.fs.mount.Filesystem.Entry;
import io.holdfast.fs.mount.ListedEntry;
import io.holdfast.fs.mount.PendingReplies;
import io.holdfast.fs.origin.Attributes;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers READDIR and READDIRPLUS. Keeps no listing between two requests: an entry's offset is its
 * place in the directory, behind the two entries that every directory has. Keeps only a guess of
 * which threads look at entries ({@link Listers}). Thread-safe.
 */
final class Directories {
  private static final byte[] SELF = {'.'};
  private static final byte[] PARENT = {'.', '.'};

  /** Offsets of the two entries that every directory has. */
  private static final long SELF_OFFSET = 1;

  private static final long PARENT_OFFSET = 2;

  /**
   * The entries that come with their attributes before it is known whether the reader wants these.
   * So a reader that wants names alone does not pay 3 us for each inode.
   */
  private static final int FIRST = 16;

  /**
   * After this time, a reply ends, and leaves the rest to the next request: an origin may be slow.
   */
  private static final long LONGEST_NANOS = Duration.ofMillis(500).toNanos();

  private final Filesystem filesystem;
  private final PendingReplies pendingReplies;
  private final Listers listers = new Listers();
  private final KeptListings keptListings;
  private final LongSupplier nanoTime;

  /**
   * Creates them.
   *
   * @param nanoTime a clock of nanoseconds
   */
  Directories(
      Filesystem filesystem,
      PendingReplies pendingReplies,
      KeptListings keptListings,
      LongSupplier nanoTime) {
    this.filesystem = filesystem;
    this.pendingReplies = pendingReplies;
    this.keptListings = keptListings;
    this.nanoTime = nanoTime;
  }

  /**
   * A request for entries.
   *
   * @param thread the thread that asks, as the kernel numbers threads
   * @param offset offset of the first entry
   * @param plus whether entries may come with their attributes
   * @param kernelChooses whether the kernel asks for attributes only if it thinks that the reader
   *     wants them
   */
  record Range(long node, int thread, long offset, boolean plus, boolean kernelChooses) {}

  /** Learns that a thread has looked up an entry that is no directory. */
  void looked(long parent, int thread) {
    listers.looked(parent, thread);
    if (keptListings.looked(parent, thread)) {
      listers.looksAtAll(parent, thread);
    }
  }

  /**
   * Writes the entries of a range that fit.
   *
   * @param shown takes the nodes that the reply shows; the caller takes them out of the pending
   *     replies after the reply
   * @return the number of bytes written
   */
  int read(Range range, List<Long> shown, long to, int capacity) throws FsException {
    long node = range.node;
    long offset = range.offset;
    Reply reply = new Reply(range, look(range), shown, to, capacity);
    boolean hasRoom =
        (offset >= SELF_OFFSET || reply.dots(SELF, node, SELF_OFFSET))
            && (offset >= PARENT_OFFSET || reply.dots(PARENT, node, PARENT_OFFSET));
    if (range.plus && !range.kernelChooses) {
      keptListings.listed(node, range.thread);
    }
    if (hasRoom) {
      filesystem.list(node, Math.max(0, offset - PARENT_OFFSET), reply::wants, reply::take);
    }
    return reply.written;
  }

  private Listers.Look look(Range range) {
    boolean begins = range.offset == 0;
    if (!range.plus) {
      return Listers.Look.NAMES;
    }
    if (range.kernelChooses) {
      return begins ? Listers.Look.SOME : Listers.Look.ALL;
    }
    return begins
        ? listers.begin(range.node, range.thread)
        : listers.goOn(range.node, range.thread);
  }

  private final class Reply {
    private final Range range;
    private final Listers.Look look;
    private final List<Long> shown;
    private final long to;
    private final int capacity;
    private final long begun = nanoTime.getAsLong();
    private final Duration before;
    private boolean holdsBack;

    /** Whether the next entry is the one without attributes. */
    private boolean held;

    private int written;
    private @Nullable Duration ttl;

    Reply(Range range, Listers.Look look, List<Long> shown, long to, int capacity) {
      this.range = range;
      this.look = look;
      this.shown = shown;
      this.to = to;
      this.capacity = capacity;
      this.before = filesystem.believeNames(range.node);
      this.holdsBack =
          look != Listers.Look.NAMES
              && !range.kernelChooses
              && listers.holdsBack(range.node, range.thread);
    }

    boolean wants(int type) {
      held = holdsBack && type != Attributes.DIRECTORY;
      return look != Listers.Look.NAMES && !held && !hasEnough();
    }

    private boolean hasEnough() {
      return look == Listers.Look.SOME && shown.size() >= FIRST;
    }

    boolean dots(byte[] name, long inode, long offset) {
      return write(name, Attributes.DIRECTORY, inode, offset, null);
    }

    boolean take(ListedEntry entry) {
      boolean late = !shown.isEmpty() && nanoTime.getAsLong() - begun > LONGEST_NANOS;
      if (hasEnough() || late) {
        return false;
      }
      Entry leads = entry.leads();
      if (leads != null && !pendingReplies.enterIfCurrent(filesystem, leads.node())) {
        return true; // the entry has gone since it was listed
      }
      boolean taken =
          write(entry.name(), entry.type(), entry.inode(), entry.place() + PARENT_OFFSET, leads);
      if (leads != null && taken) {
        shown.add(leads.node());
      } else if (leads != null) {
        pendingReplies.leave(leads.node());
      } else if (taken && held) {
        holdsBack = false;
        listers.heldBack(range.node, range.thread);
      }
      return taken;
    }

    private boolean write(byte[] name, int type, long inode, long offset, @Nullable Entry leads) {
      int entry = range.plus ? Wire.ENTRY : 0;
      int size = Wire.direntSize(name) + entry;
      if (written + size > capacity) {
        return false;
      }
      if (leads != null) {
        Wire.entry(to + written, leads.node(), leads.attributes(), ttl());
      } else {
        Memory.clear(to + written, entry);
      }
      Wire.dirent(to + written + entry, name, type, inode, offset);
      written += size;
      return true;
    }

    /**
     * Returns how long the kernel may believe the entries. Asks again once the listing is there:
     * the time may have ended meanwhile, and a new one counts only if the origin was asked.
     */
    private Duration ttl() {
      if (ttl == null) {
        ttl = Requests.shorter(before, filesystem.believeNames(range.node));
      }
      return ttl;
    }
  }
}
