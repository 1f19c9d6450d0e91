package io.holdfast.fs.mount.kernel;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Exposures;
import io.holdfast.fs.mount.Filesystem;
import io.holdfast.fs.mount.Filesystem.Entry;
import io.holdfast.fs.mount.ListedEntry;
import io.holdfast.fs.origin.Attributes;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Answers READDIR and READDIRPLUS. Directories are not opened here, and nothing is kept between two
 * requests: an entry's offset is its place in the listing, behind the two that every directory has.
 * Thread-safe.
 */
final class Directories {
  private static final byte[] SELF = {'.'};
  private static final byte[] PARENT = {'.', '.'};

  /** Offsets of the first two entries. */
  private static final long SELF_OFFSET = 1;

  private static final long PARENT_OFFSET = 2;

  /**
   * Entries that come with what they lead to before it is known whether anybody wants that: the
   * kernel asks so for the beginning of each directory, and goes on so when the entries are looked
   * at. Who wants names alone does not pay for 3 us of inode a name.
   */
  private static final int FIRST = 16;

  private final Filesystem filesystem;
  private final Exposures exposures;

  Directories(Filesystem filesystem, Exposures exposures) {
    this.filesystem = filesystem;
    this.exposures = exposures;
  }

  /**
   * Writes the entries from an offset on that fit.
   *
   * @param shown null for names alone; else each comes with what it leads to, and the nodes are
   *     added, to be taken out of the exposures after the reply
   * @return the bytes written
   */
  int read(long node, long offset, @Nullable List<Long> shown, long to, int capacity)
      throws FsException {
    int most = offset == 0 && shown != null ? FIRST : Integer.MAX_VALUE;
    Reply reply = new Reply(node, shown, most, to, capacity);
    boolean hasRoom =
        (offset >= SELF_OFFSET || reply.dots(SELF, node, SELF_OFFSET))
            && (offset >= PARENT_OFFSET || reply.dots(PARENT, node, PARENT_OFFSET));
    if (hasRoom) {
      filesystem.list(node, Math.max(0, offset - PARENT_OFFSET), shown != null, reply::take);
    }
    return reply.written;
  }

  private final class Reply {
    private final long directory;
    private final @Nullable List<Long> shown;
    private final int most;
    private final long to;
    private final int capacity;
    private int written;
    private @Nullable Duration ttl;

    Reply(long directory, @Nullable List<Long> shown, int most, long to, int capacity) {
      this.directory = directory;
      this.shown = shown;
      this.most = most;
      this.to = to;
      this.capacity = capacity;
    }

    boolean dots(byte[] name, long inode, long offset) {
      return write(name, Attributes.DIRECTORY, inode, offset, null);
    }

    boolean take(ListedEntry entry) {
      if (shown != null && shown.size() >= most) {
        return false;
      }
      Entry leads = shown == null ? null : entry.leads();
      if (leads != null && !exposures.enterIfCurrent(filesystem, leads.node())) {
        return true; // gone since it was listed
      }
      boolean taken =
          write(entry.name(), entry.type(), entry.inode(), entry.place() + PARENT_OFFSET, leads);
      if (leads != null && taken) {
        shown.add(leads.node());
      } else if (leads != null) {
        exposures.leave(leads.node());
      }
      return taken;
    }

    private boolean write(byte[] name, int type, long inode, long offset, @Nullable Entry leads) {
      int entry = shown == null ? 0 : Wire.ENTRY;
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
        ttl = filesystem.believeNames(directory);
      }
      return ttl;
    }
  }
}
