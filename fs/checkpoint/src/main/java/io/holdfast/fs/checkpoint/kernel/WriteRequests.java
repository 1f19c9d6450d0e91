package io.holdfast.fs.checkpoint.kernel;

import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.checkpoint.Change;
import io.holdfast.fs.checkpoint.CheckpointFilesystem;
import io.holdfast.fs.checkpoint.ErrnoException;
import io.holdfast.fs.checkpoint.FileTree;
import io.holdfast.fs.checkpoint.Stat;
import io.holdfast.fs.checkpoint.StoreWaits;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.CallerSignals;
import io.holdfast.fs.mount.Opcode;
import io.holdfast.fs.mount.kernel.Channel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import jnr.constants.platform.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decodes the requests of a writable mount, calls the filesystem, and replies. The layouts are
 * those of include/uapi/linux/fuse.h, 7.19 to 7.45; the offsets here are from the beginning of the
 * body, behind the header of 40 bytes. Thread-safe: each thread brings its own memory.
 *
 * <p>Each {@code write} of a program is a request, and is answered before it returns: the kernel's
 * writeback cache would bring writes later, and in another order than other changes.
 */
final class WriteRequests {
  private static final Logger log = LoggerFactory.getLogger(WriteRequests.class);

  /** The most bytes of a write. */
  static final int LARGEST_WRITE = 1 << 20;

  /** Room for the longest request: a write, with its headers. */
  static final int REQUEST = LARGEST_WRITE + 4096;

  /** Room for the longest reply: that of a read. */
  static final int REPLY = LARGEST_WRITE;

  private static final int BODY = 40;
  private static final int ENTRY = 128;
  private static final int ATTR_OUT = 104;
  private static final int DIRENT = 24;
  private static final long SECOND = 1_000_000_000L;

  /** How long the kernel keeps names and attributes: only requests change them. */
  private static final int VALID_SECONDS = 60;

  private static final long ASYNC_READ = 1;
  private static final long BIG_WRITES = 1 << 5;
  private static final long PARALLEL_DIROPS = 1 << 18;
  private static final long ABORT_ERROR = 1 << 21;
  private static final long MAX_PAGES = 1 << 22;
  private static final long HANDLE_KILLPRIV_V2 = 1 << 28;

  /** The message has a second word of flags: Linux 5.17. */
  private static final long INIT_EXT = 1 << 30;

  /** In the second word: the kernel can send requests again that were not answered: Linux 6.9. */
  private static final int HAS_RESEND = 1 << 7;

  private static final long WANTED =
      ASYNC_READ
          | BIG_WRITES
          | PARALLEL_DIROPS
          | ABORT_ERROR
          | MAX_PAGES
          | HANDLE_KILLPRIV_V2
          | INIT_EXT;

  private static final int OLDEST = 28;
  private static final int NEWEST = 45;
  private static final int KEEP_CACHE = 2;
  private static final int WRITE_KILLS_PRIVILEGES = 4;

  private final Channel channel;
  private final CheckpointFilesystem filesystem;
  private final Initialized initialized;

  /** Is told that the kernel begins to use the mount. */
  interface Initialized {
    /**
     * Comes before the answer.
     *
     * @param resends whether the kernel can send requests again that were not answered
     */
    void agreed(boolean resends) throws ErrnoException;

    /** Comes behind it. */
    void answered();
  }

  /** Where a request's header is for the next daemon, if this one is killed. */
  interface Slots {
    /**
     * Leaves the slot of the calling thread to its request, and gives the thread another.
     *
     * @return the slot, for {@link #give}
     * @throws ErrnoException ENOMEM if there is no memory for another
     */
    long leave() throws ErrnoException;

    /** Takes a slot back whose request is answered. */
    void give(long slot);
  }

  /** A request that is being answered, for a thread of a program. */
  private static final class Answering {
    final Thread thread = Thread.currentThread();
    final long unique;
    final int caller;
    final long since = System.nanoTime();

    /** Set once it waits for the store, and keeps no thread. */
    StoreWaits.@Nullable Wait wait;

    boolean keepsThread = true;

    Answering(long unique, int caller) {
      this.unique = unique;
      this.caller = caller;
    }
  }

  /** By the number of the request, so that INTERRUPT finds it. */
  private final Map<Long, Answering> answering = new HashMap<>();

  WriteRequests(Channel channel, CheckpointFilesystem filesystem, Initialized initialized) {
    this.channel = channel;
    this.filesystem = filesystem;
    this.initialized = initialized;
  }

  /**
   * Answers a request, or leaves it to wait for the store.
   *
   * @param reply room for an answer of {@link #REPLY} bytes
   */
  void answer(long request, long reply, Slots slots) {
    int code = Memory.getInt(request + 4);
    long unique = Memory.getLong(request + 8);
    Opcode opcode = Opcode.of(code);
    if (opcode == null) {
      channel.reply(unique, -Errno.ENOSYS.intValue());
      return;
    }
    Answering begun = begin(unique, Memory.getInt(request + 32));
    try {
      answer(opcode, begun, request, reply, slots);
    } catch (ErrnoException e) {
      channel.reply(unique, -e.errno());
    } catch (InterruptedException e) {
      channel.reply(unique, -Errno.EINTR.intValue());
    } catch (ArithmeticException e) {
      channel.reply(unique, -Errno.EFBIG.intValue());
    } catch (OutOfMemoryError e) {
      channel.reply(unique, -Errno.ENOMEM.intValue());
      OutOfMemory.tell(e);
    } catch (RuntimeException | Error e) {
      channel.reply(unique, -Errno.EIO.intValue());
      log.error("a request failed in the daemon itself: {}", opcode, e);
    } finally {
      end(begun);
    }
  }

  private Answering begin(long unique, int caller) {
    Answering begun = new Answering(unique, caller);
    synchronized (answering) {
      answering.put(unique, begun);
    }
    return begun;
  }

  /** The thread has done its part. */
  private void end(Answering ended) {
    synchronized (answering) {
      if (ended.keepsThread) {
        answering.remove(ended.unique);
      }
      boolean unused = Thread.interrupted(); // the next request is another one
    }
  }

  /**
   * Ends the waiting of a program that ends by its signal. Any other program goes on waiting, as it
   * does on other file systems; the kernel gets EAGAIN a moment later, and tells of its next
   * signal.
   */
  private void interrupt(long interrupted, long unique) {
    StoreWaits.Wait wait = null;
    synchronized (answering) {
      Answering request = answering.get(interrupted);
      if (request != null && CallerSignals.end(request.caller, request.since)) {
        wait = request.wait;
        if (request.keepsThread) {
          request.thread.interrupt();
          return;
        }
      }
    }
    if (wait == null) {
      CallerSignals.later(() -> channel.reply(unique, -Errno.EAGAIN.intValue()));
    } else {
      wait.interrupt();
    }
  }

  /** Replies once the store has what a program has asked for. */
  private void sync(Answering request, OptionalLong awaited, Slots slots)
      throws ErrnoException, InterruptedException {
    long unique = request.unique;
    if (awaited.isEmpty()) {
      channel.reply(unique, 0);
      return;
    }
    long slot = slots.leave();
    synchronized (answering) { // so that an INTERRUPT finds the thread or the wait
      request.keepsThread = Thread.interrupted();
    }
    if (request.keepsThread) {
      channel.reply(unique, -Errno.EINTR.intValue());
      slots.give(slot); // last: until then the next daemon needs it
      return;
    }
    StoreWaits.Wait begun;
    try {
      begun =
          filesystem.await(awaited.getAsLong(), failure -> synced(unique, slot, failure, slots));
    } catch (RuntimeException | Error e) {
      request.keepsThread = true;
      slots.give(slot);
      throw e;
    }
    synchronized (answering) {
      request.wait = begun;
    }
  }

  private void synced(long unique, long slot, @Nullable ErrnoException failure, Slots slots) {
    synchronized (answering) {
      answering.remove(unique);
    }
    channel.reply(unique, failure == null ? 0 : -failure.errno());
    slots.give(slot);
  }

  private void answer(Opcode opcode, Answering begun, long request, long reply, Slots slots)
      throws ErrnoException, InterruptedException {
    final long unique = begun.unique;
    final long node = Memory.getLong(request + 16);
    final int uid = Memory.getInt(request + 24);
    final int gid = Memory.getInt(request + 28);
    final long body = request + BODY;
    switch (opcode) {
      case INIT -> init(unique, body, reply);
      case DESTROY -> channel.reply(unique, 0);
      case INTERRUPT -> interrupt(Memory.getLong(body), unique);
      case FORGET -> filesystem.forget(node, Memory.getLong(body));
      case BATCH_FORGET -> {
        for (int i = 0; i < Memory.getInt(body); i++) {
          filesystem.forget(
              Memory.getLong(body + 8 + 16L * i), Memory.getLong(body + 16 + 16L * i));
        }
      }
      case LOOKUP -> entry(unique, filesystem.lookup(node, text(body)), reply);
      case GETATTR -> attributes(unique, filesystem.attributes(node), reply);
      case SETATTR -> {
        boolean kills = (Memory.getInt(body) & SetAttr.KILL_PRIVILEGES) != 0;
        attributes(unique, filesystem.change(node, SetAttr.decode(body), kills), reply);
      }
      case READLINK -> bytes(unique, FileTree.textAsBytes(filesystem.readLink(node)), reply);
      case SYMLINK -> {
        String name = text(body);
        String target = text(body + name.length() + 1);
        int mode = Stat.SYMLINK | 0777;
        entry(unique, filesystem.make(node, name, mode, 0, uid, gid, target), reply);
      }
      case MKNOD -> {
        int mode = Memory.getInt(body);
        long device = Integer.toUnsignedLong(Memory.getInt(body + 4));
        entry(unique, filesystem.make(node, text(body + 16), mode, device, uid, gid, ""), reply);
      }
      case MKDIR -> {
        int mode = Stat.DIRECTORY | (Memory.getInt(body) & ~Stat.TYPE);
        entry(unique, filesystem.make(node, text(body + 8), mode, 0, uid, gid, ""), reply);
      }
      case UNLINK -> {
        filesystem.remove(node, text(body), false);
        channel.reply(unique, 0);
      }
      case RMDIR -> {
        filesystem.remove(node, text(body), true);
        channel.reply(unique, 0);
      }
      case RENAME -> rename(unique, node, Memory.getLong(body), body + 8, 0);
      case RENAME2 ->
          rename(unique, node, Memory.getLong(body), body + 16, Memory.getInt(body + 8));
      case LINK ->
          entry(unique, filesystem.link(Memory.getLong(body), node, text(body + 8)), reply);
      case OPEN -> opened(unique, filesystem.open(node, Memory.getInt(body)), reply);
      case CREATE -> create(unique, node, body, uid, gid, reply);
      case READ -> {
        int length = Math.min(Memory.getInt(body + 16), REPLY);
        long offset = Memory.getLong(body + 8);
        int count = filesystem.read(Memory.getLong(body), reply, length, offset);
        channel.reply(unique, reply, count);
      }
      case WRITE -> write(unique, body, reply);
      case RELEASE, RELEASEDIR -> {
        filesystem.release(Memory.getLong(body));
        channel.reply(unique, 0);
      }
      case FLUSH -> channel.reply(unique, 0); // all that was written is in the front
      case FSYNC, FSYNCDIR -> sync(begun, filesystem.sync(node, Memory.getLong(body)), slots);
      case OPENDIR -> opened(unique, filesystem.openDirectory(node), reply);
      case READDIR -> list(unique, body, reply);
      case STATFS -> {
        filesystem.statfs(reply);
        channel.reply(unique, reply, 80);
      }
      case GETXATTR -> value(unique, filesystem.xattr(node, text(body + 8)), body, reply);
      case LISTXATTR -> value(unique, names(filesystem.xattrNames(node)), body, reply);
      case SETXATTR -> {
        String name = text(body + 8);
        byte[] value = Memory.bytes(body + 8 + name.length() + 1, Memory.getInt(body));
        filesystem.setXattr(node, name, value, Memory.getInt(body + 4));
        channel.reply(unique, 0);
      }
      case REMOVEXATTR -> {
        filesystem.removeXattr(node, text(body));
        channel.reply(unique, 0);
      }
      case FALLOCATE -> {
        int mode = Memory.getInt(body + 24);
        long offset = Memory.getLong(body + 8);
        filesystem.allocate(Memory.getLong(body), mode, offset, Memory.getLong(body + 16));
        channel.reply(unique, 0);
      }
      case TMPFILE -> channel.reply(unique, -Errno.EOPNOTSUPP.intValue());
      // the kernel does these itself then, for good
      case ACCESS,
          READDIRPLUS,
          LSEEK,
          STATX,
          IOCTL,
          POLL,
          BMAP,
          GETLK,
          SETLK,
          SETLKW,
          COPY_FILE_RANGE ->
          channel.reply(unique, -Errno.ENOSYS.intValue());
    }
  }

  /**
   * fuse_init_in: 0 major u32, 4 minor, 8 max_readahead, 12 flags, 16 flags2 (with INIT_EXT).
   * fuse_init_out, 64 bytes: the same up to flags, 16 max_background u16, 18 congestion_threshold
   * u16, 20 max_write u32, 24 time_gran u32, 28 max_pages u16, 32 flags2 u32.
   */
  private void init(long unique, long body, long reply) throws ErrnoException {
    int minor = Memory.getInt(body + 4);
    if (Memory.getInt(body) != 7 || minor < OLDEST) {
      throw ErrnoException.of(Errno.EPROTO, "");
    }
    int flags = Memory.getInt(body + 12);
    int second = (flags & INIT_EXT) == 0 ? 0 : Memory.getInt(body + 16) & HAS_RESEND;
    Memory.clear(reply, 64);
    Memory.putInt(reply, 7);
    Memory.putInt(reply + 4, Math.min(minor, NEWEST));
    Memory.putInt(reply + 8, Memory.getInt(body + 8));
    Memory.putInt(reply + 12, (int) (flags & WANTED));
    Memory.putShort(reply + 16, 128);
    Memory.putShort(reply + 18, 96);
    Memory.putInt(reply + 20, LARGEST_WRITE);
    Memory.putInt(reply + 24, 1);
    Memory.putShort(reply + 28, LARGEST_WRITE / 4096);
    Memory.putInt(reply + 32, second);
    initialized.agreed(second != 0);
    channel.reply(unique, reply, 64);
    initialized.answered();
  }

  private void rename(long unique, long from, long to, long names, int flags)
      throws ErrnoException, InterruptedException {
    String name = text(names);
    filesystem.rename(from, name, to, text(names + name.length() + 1), flags);
    channel.reply(unique, 0);
  }

  /** fuse_create_in: 0 flags u32, 4 mode, 8 umask, 12 open_flags, 16 name. */
  private void create(long unique, long parent, long body, int uid, int gid, long reply)
      throws ErrnoException, InterruptedException {
    CheckpointFilesystem.Created created =
        filesystem.create(
            parent, text(body + 16), Memory.getInt(body), Memory.getInt(body + 4), uid, gid);
    putEntry(reply, created.found());
    putOpen(reply + ENTRY, created.handle());
    channel.reply(unique, reply, ENTRY + 16);
  }

  /** fuse_write_in: 0 fh u64, 8 offset u64, 16 size u32, 20 write_flags u32, 40 the bytes. */
  private void write(long unique, long body, long reply)
      throws ErrnoException, InterruptedException {
    int length = Memory.getInt(body + 16);
    boolean kills = (Memory.getInt(body + 20) & WRITE_KILLS_PRIVILEGES) != 0;
    long offset = Memory.getLong(body + 8);
    int count = filesystem.write(Memory.getLong(body), body + 40, length, offset, kills);
    Memory.putLong(reply, count);
    channel.reply(unique, reply, 8);
  }

  private void opened(long unique, long handle, long reply) {
    putOpen(reply, handle);
    channel.reply(unique, reply, 16);
  }

  /** fuse_open_out: 0 fh u64, 8 open_flags u32. Pages stay: only requests change files. */
  private static void putOpen(long to, long handle) {
    Memory.putLong(to, handle);
    Memory.putLong(to + 8, KEEP_CACHE);
  }

  private void entry(long unique, CheckpointFilesystem.Found found, long reply) {
    putEntry(reply, found);
    channel.reply(unique, reply, ENTRY);
  }

  /** fuse_entry_out: 0 nodeid u64, 16 entry_valid u64, 24 attr_valid u64, 40 attr. */
  private static void putEntry(long to, CheckpointFilesystem.Found found) {
    Memory.clear(to, ENTRY);
    Memory.putLong(to, found.node());
    Memory.putLong(to + 16, VALID_SECONDS);
    Memory.putLong(to + 24, VALID_SECONDS);
    putAttributes(to + 40, found.stat());
  }

  /** fuse_attr_out: 0 attr_valid u64, 16 attr. */
  private void attributes(long unique, Stat stat, long reply) {
    Memory.clear(reply, ATTR_OUT);
    Memory.putLong(reply, VALID_SECONDS);
    putAttributes(reply + 16, stat);
    channel.reply(unique, reply, ATTR_OUT);
  }

  /** fuse_attr, 88 bytes, cleared before. */
  private static void putAttributes(long to, Stat stat) {
    Memory.putLong(to, stat.inode());
    Memory.putLong(to + 8, stat.size());
    Memory.putLong(to + 16, stat.blocks());
    putTime(to, 24, 48, stat.accessed());
    putTime(to, 32, 52, stat.modified());
    putTime(to, 40, 56, stat.changed());
    Memory.putInt(to + 60, stat.mode());
    Memory.putInt(to + 64, stat.links());
    Memory.putInt(to + 68, stat.uid());
    Memory.putInt(to + 72, stat.gid());
    Memory.putInt(to + 76, (int) stat.device());
    Memory.putInt(to + 80, 4096);
  }

  private static void putTime(long attr, int seconds, int nanos, long value) {
    Memory.putLong(attr + seconds, Math.floorDiv(value, SECOND));
    Memory.putInt(attr + nanos, (int) Math.floorMod(value, SECOND));
  }

  /**
   * fuse_read_in: 0 fh u64, 8 offset u64, 16 size u32. The offset is that of the entry before.
   * fuse_dirent: 0 ino u64, 8 off u64, 16 namelen u32, 20 type u32, 24 name, padded to 8.
   */
  private void list(long unique, long body, long reply) throws ErrnoException {
    long offset = Memory.getLong(body + 8);
    int room = Math.min(Memory.getInt(body + 16), REPLY);
    int used = 0;
    for (CheckpointFilesystem.Listed listed : filesystem.list(Memory.getLong(body), offset)) {
      FileTree.Entry entry = listed.entry();
      byte[] name = FileTree.textAsBytes(entry.name());
      int size = (DIRENT + name.length + 7) & ~7;
      if (used + size > room) {
        break;
      }
      long to = reply + used;
      Memory.clear(to + size - 8, 8);
      Memory.putLong(to, entry.inode());
      Memory.putLong(to + 8, listed.offset());
      Memory.putInt(to + 16, name.length);
      Memory.putInt(to + 20, entry.type() >>> 12);
      Memory.put(to + DIRENT, name, 0, name.length);
      used += size;
    }
    channel.reply(unique, reply, used);
  }

  /** Replies with the value of an attribute; a size of 0 asks for the length alone. */
  private void value(long unique, byte[] value, long body, long reply) throws ErrnoException {
    int room = Memory.getInt(body);
    if (room == 0) {
      Memory.putLong(reply, value.length);
      channel.reply(unique, reply, 8);
    } else if (value.length > room) {
      throw ErrnoException.of(Errno.ERANGE, "");
    } else {
      bytes(unique, value, reply);
    }
  }

  private static byte[] names(List<String> names) {
    List<String> ended = new ArrayList<>();
    names.forEach(name -> ended.add(name + "\0"));
    return FileTree.textAsBytes(String.join("", ended));
  }

  private void bytes(long unique, byte[] bytes, long reply) {
    Memory.put(reply, bytes, 0, bytes.length);
    channel.reply(unique, reply, bytes.length);
  }

  private static String text(long address) {
    return FileTree.bytesAsText(Memory.string(address));
  }

  /**
   * fuse_setattr_in: 0 valid u32, 16 size u64, 32 atime u64, 40 mtime u64, 56 atimensec u32, 60
   * mtimensec u32, 68 mode u32, 76 uid u32, 80 gid u32.
   */
  private static final class SetAttr {
    static final int KILL_PRIVILEGES = 1 << 11;
    private static final int MODE = 1;
    private static final int UID = 1 << 1;
    private static final int GID = 1 << 2;
    private static final int SIZE = 1 << 3;
    private static final int ATIME = 1 << 4;
    private static final int MTIME = 1 << 5;
    private static final int ATIME_NOW = 1 << 7;
    private static final int MTIME_NOW = 1 << 8;

    static Change decode(long body) {
      int valid = Memory.getInt(body);
      return new Change(
          (valid & MODE) == 0 ? -1 : Memory.getInt(body + 68) & ~Stat.TYPE,
          (valid & UID) == 0 ? -1 : Memory.getInt(body + 76),
          (valid & GID) == 0 ? -1 : Memory.getInt(body + 80),
          (valid & SIZE) == 0 ? -1 : Memory.getLong(body + 16),
          time(valid, ATIME, ATIME_NOW, body + 32, body + 56),
          time(valid, MTIME, MTIME_NOW, body + 40, body + 60));
    }

    private static long time(int valid, int set, int now, long seconds, long nanos) {
      if ((valid & now) != 0) {
        return System.currentTimeMillis() * 1_000_000;
      }
      return (valid & set) == 0
          ? FileTree.OMIT
          : Math.addExact(
              Math.multiplyExact(Memory.getLong(seconds), SECOND), Memory.getInt(nanos));
    }
  }
}
