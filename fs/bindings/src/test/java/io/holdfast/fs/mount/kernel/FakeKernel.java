package io.holdfast.fs.mount.kernel;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;

/**
 * The kernel's side of a connection, on a socket pair that keeps messages apart as /dev/fuse does:
 * it sends requests and takes replies. Not thread-safe.
 */
final class FakeKernel implements AutoCloseable {
  private static final int AF_UNIX = 1;
  private static final int SOCK_SEQPACKET = 5;
  private static final int LARGEST = 2 << 20;

  private static final Sockets SOCKETS = LibraryLoader.create(Sockets.class).load("c");

  private final Pointer memory =
      jnr.ffi.Memory.allocateDirect(Runtime.getSystemRuntime(), LARGEST, true);
  private final AtomicLong unique = new AtomicLong();
  private final int kernel;
  private final int daemon;
  private int caller;

  /** The functions of the C library for sockets. */
  public interface Sockets {
    int socketpair(int domain, int type, int protocol, long pair);
  }

  FakeKernel() {
    if (SOCKETS.socketpair(AF_UNIX, SOCK_SEQPACKET, 0, memory.address()) != 0) {
      throw new AssertionError("socketpair: " + Linux.describe(Linux.errno()));
    }
    kernel = Memory.getInt(memory.address());
    daemon = Memory.getInt(memory.address() + Integer.BYTES);
  }

  /** The daemon's end. */
  int descriptor() {
    return daemon;
  }

  /** A reply. */
  record Reply(long unique, int error, ByteBuffer body) {}

  /**
   * Sets the thread of the next requests; before, they come from a thread that the daemon does not
   * see.
   */
  void setCaller(int thread) {
    caller = thread;
  }

  /** Sends a request; returns its number. */
  long send(int opcode, long node, ByteBuffer body) {
    long number = 2 * unique.incrementAndGet();
    int length = Wire.IN_HEADER + body.remaining();
    long at = memory.address();
    Memory.clear(at, Wire.IN_HEADER);
    Memory.putInt(at, length);
    Memory.putInt(at + Wire.OPCODE, opcode);
    Memory.putLong(at + Wire.UNIQUE, number);
    Memory.putLong(at + Wire.NODE, node);
    Memory.putInt(at + Wire.PID, caller);
    byte[] bytes = new byte[body.remaining()];
    body.get(bytes);
    Memory.put(at + Wire.IN_HEADER, bytes, 0, bytes.length);
    if (LIBC.write(kernel, at, length) != length) {
      throw new AssertionError("write: " + Linux.describe(Linux.errno()));
    }
    return number;
  }

  /** Waits for the next reply. */
  Reply receive() {
    int length = (int) LIBC.read(kernel, memory.address(), LARGEST);
    if (length < Wire.OUT_HEADER || length != Memory.getInt(memory.address())) {
      throw new AssertionError("a reply of " + length + " bytes");
    }
    byte[] body = Memory.bytes(memory.address() + Wire.OUT_HEADER, length - Wire.OUT_HEADER);
    return new Reply(
        Memory.getLong(memory.address() + Wire.OUT_UNIQUE),
        Memory.getInt(memory.address() + Wire.OUT_ERROR),
        ByteBuffer.wrap(body).order(ByteOrder.nativeOrder()));
  }

  Reply ask(int opcode, long node, ByteBuffer body) {
    long number = send(opcode, node, body);
    Reply reply = receive();
    if (reply.unique() != number) {
      throw new AssertionError("reply to " + reply.unique() + " instead of " + number);
    }
    return reply;
  }

  static ByteBuffer body(int length) {
    return ByteBuffer.allocate(length).order(ByteOrder.nativeOrder());
  }

  static ByteBuffer name(String name) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    return body(bytes.length + 1).put(0, bytes);
  }

  /** An offer as a kernel makes it; those before 5.17 send no second word of flags. */
  static ByteBuffer init(int minor, long flags) {
    ByteBuffer body = body(minor < 36 ? 16 : 64);
    body.putInt(0, 7).putInt(4, minor).putInt(8, 131_072).putInt(12, (int) flags);
    if (minor >= 36) {
      body.putInt(16, (int) (flags >>> Integer.SIZE));
    }
    return body;
  }

  static ByteBuffer read(long offset, int size) {
    return body(40).putLong(8, offset).putInt(16, size);
  }

  /** Ends the connection: the daemon's threads see that, and end. */
  @Override
  public void close() {
    LIBC.close(kernel);
  }

  /** To be called when no thread of the daemon uses its end any more. */
  void closeDaemonsEnd() {
    LIBC.close(daemon);
  }
}
