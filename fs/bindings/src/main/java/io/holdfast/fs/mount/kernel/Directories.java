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
import org.jspecify.annotations.Nullable;

/**
 * Answers READDIR and READDIRPLUS. Directories are not opened here, and no listing is kept between
 * two requests: an entry's offset is its place in it, behind the two that every directory has. What
 * is kept is a guess of who looks at entries: {@link Listers}. Thread-safe.
 */
final class Directories {
  private static final byte[] SELF = {'.'};
  private static final byte[] PARENT = {'.', '.'};

  /** Offsets of the first two entries. */
  private static final long SELF_OFFSET = 1;

  private static final long PARENT_OFFSET = 2;

  /**
   * Entries that come with what they lead to before it is known whether anybody wants that. Who
   * wants names alone does not pay for 3 us of inode a name.
   */
  private static final int FIRST = 16;

  /** After that, the rest of a piece is left to the next request: an origin may take its time. */
  private static final long LONGEST_NANOS = Duration.ofMillis(500).toNanos();

  private final Filesystem filesystem;
  private final PendingReplies pendingReplies;
  private final Listers listers = new Listers();

  Directories(Filesystem filesystem, PendingReplies pendingReplies) {
    this.filesystem = filesystem;
    this.pendingReplies = pendingReplies;
  }

  /**
   * What is asked for.
   *
   * @param thread who asks, as the kernel numbers threads
   * @param offset of the first entry
   * @param plus whether entries may come with what they lead to
   * @param kernelChooses whether the kernel asks for that only where it thinks that it is wanted
   */
  record Range(long node, int thread, long offset, boolean plus, boolean kernelChooses) {}

  /** Learns that somebody has looked up an entry that is no directory. */
  void looked(long parent, int thread) {
    listers.looked(parent, thread);
  }

  /**
   * Writes the entries of a range that fit.
   *
   * @param shown the nodes that entries lead to are added, to be taken out of the pending replies
   *     after the reply
   * @return the bytes written
   */
  int read(Range range, List<Long> shown, long to, int capacity) throws FsException {
    long node = range.node;
    long offset = range.offset;
    Reply reply = new Reply(range, look(range), shown, to, capacity);
    boolean hasRoom =
        (offset >= SELF_OFFSET || reply.dots(SELF, node, SELF_OFFSET))
            && (offset >= PARENT_OFFSET || reply.dots(PARENT, node, PARENT_OFFSET));
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
    private final long begun = System.nanoTime();
    private boolean holdsBack;

    /** Whether the next entry is the one that is held back. */
    private boolean held;

    private int written;
    private @Nullable Duration ttl;

    Reply(Range range, Listers.Look look, List<Long> shown, long to, int capacity) {
      this.range = range;
      this.look = look;
      this.shown = shown;
      this.to = to;
      this.capacity = capacity;
      this.holdsBack =
          look != Listers.Look.NAMES
              && !range.kernelChooses
              && listers.holdsBack(range.node, range.thread);
    }

    boolean wants(int type) {
      held = holdsBack && type != Attributes.DIRECTORY;
      return look != Listers.Look.NAMES && !held;
    }

    boolean dots(byte[] name, long inode, long offset) {
      return write(name, Attributes.DIRECTORY, inode, offset, null);
    }

    boolean take(ListedEntry entry) {
      boolean enough = look == Listers.Look.SOME && shown.size() >= FIRST;
      boolean late = !shown.isEmpty() && System.nanoTime() - begun > LONGEST_NANOS;
      if (enough || late) {
        return false;
      }
      Entry leads = entry.leads();
      if (leads != null && !pendingReplies.enterIfCurrent(filesystem, leads.node())) {
        return true; // gone since it was listed
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

    /** Asked once the listing is there. */
    private Duration ttl() {
      if (ttl == null) {
        ttl = filesystem.believeNames(range.node);
      }
      return ttl;
    }
  }
}
