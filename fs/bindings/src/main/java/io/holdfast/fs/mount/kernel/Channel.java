package io.holdfast.fs.mount.kernel;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import jnr.constants.platform.Errno;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;

/**
 * The connection to the kernel: an open /dev/fuse. Thread-safe.
 *
 * <p>One call of writev writes a message, with header and bytes apart, so that the bytes go to the
 * kernel without a copy. If the call fails, nobody waits for the answer any more (ENOENT), or the
 * connection has ended (ENODEV). There is nothing to do then.
 */
public final class Channel {
  static final int NOTIFY_INVAL_INODE = 2;
  static final int INVAL_INODE = 24;

  /** The offset from which on INVAL_INODE drops pages: a negative one drops none. */
  static final long NO_PAGES = -1;

  private static final long ROOT = 1;
  private static final int NOTIFY_STORE = 4;
  private static final int NOTIFY_RESEND = 7;
  private static final int VECTOR = 16;
  private static final int HEAD = Wire.OUT_HEADER + Wire.STORE;
  private static final int SPACE = HEAD + 2 * VECTOR;

  /** The bytes of memory that an answer takes, besides those that it sends. */
  static final int ANSWER = Wire.OUT_HEADER + 2 * VECTOR;

  private final int fd;
  private final ThreadLocal<Pointer> spaces =
      ThreadLocal.withInitial(
          () -> jnr.ffi.Memory.allocateDirect(Runtime.getSystemRuntime(), SPACE, true));

  /** Speaks over an open /dev/fuse, which stays with the caller. */
  public Channel(int fd) {
    this.fd = fd;
  }

  /** Returns the descriptor. */
  public int fd() {
    return fd;
  }

  /** Allocates memory for the calling thread's answers, which then need no more. */
  public void prepare() {
    Pointer unused = spaces.get();
  }

  /** Tells whether a request waits to be received. */
  public boolean requestWaits() {
    return Linux.awaitReadable(fd, 0);
  }

  /** Reads a request; returns its length, 0 to try again, or -1 when the connection has ended. */
  public int receive(long buffer, int capacity) {
    return received(LIBC.read(fd, buffer, capacity));
  }

  /**
   * The same into several pieces of memory.
   *
   * @param vectors a struct iovec for each
   */
  public int receiveApart(long vectors, int count) {
    return received(LIBC.readv(fd, vectors, count));
  }

  private static int received(long length) {
    if (length >= Wire.IN_HEADER) {
      return (int) length;
    }
    int errno = length < 0 ? Linux.errno() : 0;
    // interrupted, or the request went away while it was being copied
    boolean passing =
        errno == Errno.EINTR.intValue()
            || errno == Errno.EAGAIN.intValue()
            || errno == Errno.ENOENT.intValue();
    return passing ? 0 : -1;
  }

  /** Answers a request with bytes. */
  public void reply(long unique, long address, int length) {
    send(unique, 0, address, length);
  }

  /**
   * Answers a request with an error.
   *
   * @param error a negative errno, or 0 for success without bytes
   */
  public void reply(long unique, int error) {
    send(unique, error, 0, 0);
  }

  /**
   * Answers a request with memory of the caller's, so that it can be answered whatever the heap and
   * the thread have.
   *
   * @param memory {@link #ANSWER} bytes
   * @param error a negative errno, or 0 if there are bytes
   */
  void reply(long memory, long unique, int error, long address, int length) {
    long vectors = memory + Wire.OUT_HEADER;
    long unused = send(memory, vectors, Wire.OUT_HEADER, unique, error, address, length);
  }

  /**
   * Sends the kernel a notice, which it has not asked for.
   *
   * @return 0 or an errno; ENOENT if the kernel does not know the node or name
   */
  int tell(int code, long address, int length) {
    return send(0, code, address, length) < 0 ? Linux.errno() : 0;
  }

  /**
   * Tells whether the kernel still has the filesystem of this connection, aborted or not. Once it
   * has not, it gives the numbers of the mount to other mounts.
   */
  public boolean hasFilesystem() {
    // about the root, which every filesystem has
    long message = LIBC.malloc(INVAL_INODE);
    Memory.clear(message, INVAL_INODE);
    Memory.putLong(message, ROOT);
    Memory.putLong(message + 8, NO_PAGES);
    int errno = tell(NOTIFY_INVAL_INODE, message, INVAL_INODE);
    LIBC.free(message);
    return errno == 0;
  }

  /**
   * Has the kernel send again all requests that were received and are not answered (Linux 6.9). To
   * be called before any is received: the kernel would send these again, too.
   */
  public void resend() {
    int unused = tell(NOTIFY_RESEND, 0, 0);
  }

  /** Has the kernel keep bytes of a file; returns 0 or an errno, as {@link #tell}. */
  int store(long node, long offset, CheckedBytes bytes) {
    long head = spaces.get().address();
    Wire.store(head + Wire.OUT_HEADER, node, offset, bytes.length());
    long sent = send(head, head + HEAD, HEAD, 0, NOTIFY_STORE, bytes.address(), bytes.length());
    return sent < 0 ? Linux.errno() : 0;
  }

  private long send(long unique, int error, long address, int length) {
    long head = spaces.get().address();
    return send(head, head + HEAD, Wire.OUT_HEADER, unique, error, address, length);
  }

  /** Sends a message. The caller has written the head, except the header at its beginning. */
  private long send(
      long head, long vectors, int headLength, long unique, int error, long address, int length) {
    Memory.putInt(head, headLength + length);
    Memory.putInt(head + Wire.OUT_ERROR, error);
    Memory.putLong(head + Wire.OUT_UNIQUE, unique);
    Memory.putLong(vectors, head);
    Memory.putLong(vectors + 8, headLength);
    Memory.putLong(vectors + VECTOR, address);
    Memory.putLong(vectors + VECTOR + 8, length);
    return LIBC.writev(fd, vectors, length == 0 ? 1 : 2);
  }
}
