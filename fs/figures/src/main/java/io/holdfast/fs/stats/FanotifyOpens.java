package io.holdfast.fs.stats;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.util.Map;
import java.util.function.IntSupplier;

/**
 * Opens that fanotify tells. The kernel merges two opens of one file by one thread that nobody has
 * read yet, so these are one.
 *
 * <p>The kernel keeps opens in its memory until they are read. Too many may wait there, if for long
 * they come faster than they are counted, or if the daemon is stopped. Those that wait are then
 * dropped. The kernel's own bound is not used: it is so low that a quick reader reaches it.
 */
final class FanotifyOpens implements OpenSource {
  private static final int FAN_CLOEXEC = 1;
  private static final int FAN_NONBLOCK = 2;
  private static final int FAN_UNLIMITED_QUEUE = 0x10;

  /** With this flag, opens of one file by two threads of a process are two events. */
  private static final int FAN_REPORT_TID = 0x100;

  private static final int FAN_MARK_ADD = 1;
  private static final int FAN_MARK_FILESYSTEM = 0x100;
  private static final int FAN_MARK_FLUSH = 0x80;
  private static final long FAN_OPEN = 0x20;

  /**
   * struct fanotify_event_metadata: 0 event_len u32, 8 mask u64, 16 fd i32, 20 pid i32 (the
   * thread's id).
   */
  private static final int EVENT_FD = 16;

  private static final int EVENT_THREAD = 20;
  private static final int EVENT_SIZE = 24;
  private static final int BUFFER = 64 << 10;

  /** The most opens that may wait, in some 20 MB of the kernel's memory; fewer for a test. */
  private static final long MOST_WAITING = Long.getLong("holdfast.most-waiting-opens", 1 << 18);

  private static final long FIONREAD = 0x541b;

  /** Asks for the attributes that the kernel knows, without a request to the daemon. */
  private static final int AT_STATX_DONT_SYNC = 0x4000;

  private static final int STATX_INO = 0x100;
  private static final int STATX_SIZE = 0x200;
  private static final int STATX_INO_OFFSET = 32;
  private static final int STATX_SIZE_OFFSET = 40;

  private final IsolatedThreads thread;
  private final long buffer = LIBC.malloc(BUFFER + Integer.BYTES);
  private int group;
  private IntSupplier opener = () -> -1;
  private long overflows;

  /**
   * Creates the source.
   *
   * @param thread is told of failures
   * @param group of {@link #makeGroup}, closed with the source
   */
  FanotifyOpens(IsolatedThreads thread, int group) {
    this.thread = thread;
    this.group = group;
  }

  /** Returns a descriptor, or -1 if this process may not watch. */
  static int makeGroup() {
    return LIBC.fanotify_init(
        FAN_CLOEXEC | FAN_NONBLOCK | FAN_UNLIMITED_QUEUE | FAN_REPORT_TID,
        Linux.O_RDONLY | Linux.O_CLOEXEC);
  }

  /**
   * Begins to watch a filesystem; returns 0 or a positive errno.
   *
   * @param root opens its root: returns a descriptor, or a negative errno
   */
  int begin(IntSupplier root) {
    opener = root;
    return mark(group, root);
  }

  /** Ends to watch; the opens until then can still be taken. */
  void end() {
    LIBC.fanotify_mark(group, FAN_MARK_FLUSH | FAN_MARK_FILESYSTEM, 0, Linux.AT_FDCWD, 0);
  }

  @Override
  public boolean await(int millis) {
    return Linux.awaitReadable(group, millis);
  }

  @Override
  public boolean take(Map<Integer, OpenBatch> byThread) {
    long length = LIBC.read(group, buffer, BUFFER);
    if (length > BUFFER - EVENT_SIZE && waiting(buffer + BUFFER) > MOST_WAITING) {
      letGo();
    }
    take(length, byThread);
    return length > 0;
  }

  @Override
  public long overflows() {
    return overflows;
  }

  @Override
  public void close() {
    LIBC.free(buffer);
    LIBC.close(group);
  }

  /** Watches a filesystem; returns 0 or a positive errno. */
  private static int mark(int group, IntSupplier opener) {
    int root = opener.getAsInt();
    if (root < 0) {
      return -root;
    }
    long text = Linux.scratch().path();
    Memory.putString(text, Linux.pathBytes(Linux.descriptorPath(root)));
    int result =
        LIBC.fanotify_mark(
            group, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_OPEN, Linux.AT_FDCWD, text);
    int errno = result == 0 ? 0 : Linux.errno();
    LIBC.close(root);
    return errno;
  }

  /** Returns the number of opens that wait to be read. Needs memory for a number. */
  private long waiting(long number) {
    Memory.putInt(number, 0);
    return LIBC.ioctl(group, FIONREAD, number) == 0 ? Memory.getInt(number) / EVENT_SIZE : 0;
  }

  /**
   * Drops the opens that wait, by watching with a new group. If there is no new group, goes on with
   * the old one.
   */
  private void letGo() {
    int fresh = makeGroup();
    if (fresh < 0) {
      return;
    }
    if (mark(fresh, opener) == 0) {
      LIBC.close(group);
      group = fresh;
      overflows++;
    } else {
      LIBC.close(fresh);
    }
  }

  private void take(long length, Map<Integer, OpenBatch> byThread) {
    for (long at = buffer; at < buffer + length; at += Memory.getInt(at)) {
      int fd = Memory.getInt(at + EVENT_FD);
      if (fd >= 0) {
        try {
          take(fd, Memory.getInt(at + EVENT_THREAD), byThread);
        } catch (Throwable e) { // the events behind this one have descriptors, too
          thread.failed(e);
        } finally {
          LIBC.close(fd);
        }
      }
    }
  }

  private static void take(int fd, int thread, Map<Integer, OpenBatch> byThread) {
    long area = Linux.scratch().area();
    long path = Linux.scratch().path();
    Memory.putByte(path, 0);
    int flags = Linux.AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
    boolean known = LIBC.statx(fd, path, flags, STATX_INO | STATX_SIZE, area) == 0;
    OpenBatch.add(
        byThread,
        thread,
        known ? Memory.getLong(area + STATX_INO_OFFSET) : 0,
        known ? Memory.getLong(area + STATX_SIZE_OFFSET) : 0);
  }
}
