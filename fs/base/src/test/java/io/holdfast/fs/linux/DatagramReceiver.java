package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import jnr.ffi.LibraryLoader;

/** A unix socket that gets datagrams, as a service manager has one. For one thread. */
public final class DatagramReceiver implements AutoCloseable {
  /** The functions that only a receiver needs. */
  public interface Calls {
    int bind(int fd, long address, int length);
  }

  private static final Calls CALLS = LibraryLoader.create(Calls.class).load("c");
  private static final int AF_UNIX = 1;
  private static final int SOCK_DGRAM_CLOEXEC = 2 | 0x80000;
  private static final int LARGEST = 4096;

  private final int fd;

  /**
   * Listens.
   *
   * @param address a path, or a name behind '@'
   */
  public DatagramReceiver(String address) {
    fd = LIBC.socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0);
    byte[] bytes = address.replace('@', '\0').getBytes(StandardCharsets.UTF_8);
    long name = Linux.scratch().path();
    Memory.putShort(name, AF_UNIX);
    Memory.putString(name + 2, bytes);
    if (CALLS.bind(fd, name, 2 + bytes.length) != 0) {
      throw new IllegalStateException(address + ": " + Linux.describe(Linux.errno()));
    }
  }

  /** Returns the next datagram, or "" where none comes in time. */
  public String next(Duration deadline) {
    if (!Linux.awaitReadable(fd, (int) deadline.toMillis())) {
      return "";
    }
    long area = Linux.scratch().area();
    long length = LIBC.read(fd, area, LARGEST);
    return new String(Memory.bytes(area, (int) length), StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    LIBC.close(fd);
  }
}
