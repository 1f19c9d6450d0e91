package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;

import java.nio.charset.StandardCharsets;
import jnr.constants.platform.Errno;

/**
 * Sends datagrams to a unix socket of another program, which Java cannot. Holds no descriptor
 * between two datagrams. Immutable and thread-safe.
 */
public final class DatagramSocket {
  private static final int AF_UNIX = 1;
  private static final int SOCK_DGRAM = 2;
  private static final int SOCK_CLOEXEC = 0x80000;
  private static final int SOCK_NONBLOCK = 0x800;

  /** struct sockaddr_un: u16 sun_family, char sun_path[108]. */
  private static final int FAMILY_SIZE = 2;

  private static final int LONGEST_ADDRESS = 107;

  private final byte[] address;

  /**
   * Names the socket.
   *
   * @param address a path, or a name behind '@' for one that is in no directory
   * @throws IllegalArgumentException if it is neither
   */
  public DatagramSocket(String address) {
    byte[] bytes = address.getBytes(StandardCharsets.UTF_8);
    boolean named = address.startsWith("@");
    if (bytes.length < 2 || bytes.length > LONGEST_ADDRESS || !(named || bytes[0] == '/')) {
      throw new IllegalArgumentException("'" + address + "' is no address of a unix socket");
    }
    if (named) {
      bytes[0] = 0;
    }
    this.address = bytes;
  }

  /**
   * Sends a datagram, without waiting.
   *
   * @param text at most some KiB
   * @return 0, or the error number; EAGAIN if too many datagrams wait for the receiver
   */
  public int send(String text) {
    int fd = LIBC.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
      return Linux.errno();
    }
    int errno = connect(fd) == 0 ? write(fd, text.getBytes(StandardCharsets.UTF_8)) : Linux.errno();
    LIBC.close(fd);
    return errno;
  }

  private int connect(int fd) {
    long name = Linux.scratch().path();
    Memory.putShort(name, AF_UNIX);
    Memory.putString(name + FAMILY_SIZE, address);
    // A path ends with a NUL, a name in no directory with its length.
    return LIBC.connect(fd, name, FAMILY_SIZE + address.length + (address[0] == 0 ? 0 : 1));
  }

  private static int write(int fd, byte[] bytes) {
    if (bytes.length > Scratch.AREA_CAPACITY) {
      return Errno.EMSGSIZE.intValue();
    }
    long area = Linux.scratch().area();
    Memory.put(area, bytes, 0, bytes.length);
    return LIBC.write(fd, area, bytes.length) < 0 ? Linux.errno() : 0;
  }
}
