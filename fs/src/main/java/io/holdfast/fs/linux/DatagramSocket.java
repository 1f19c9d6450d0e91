package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;

import java.nio.charset.StandardCharsets;
import jnr.constants.platform.Errno;

/**
 * A unix socket of somebody else to which datagrams are sent, which Java cannot. Holds no
 * descriptor between two of them. Immutable and thread-safe.
 */
public final class DatagramSocket {
  private static final int AF_UNIX = 1;
  private static final int SOCK_DGRAM = 2;
  private static final int SOCK_CLOEXEC = 0x80000;
  private static final int MSG_DONTWAIT = 0x40;
  private static final int MSG_NOSIGNAL = 0x4000;

  /** struct sockaddr_un: u16 sun_family, char sun_path[108]. */
  private static final int FAMILY_SIZE = 2;

  private static final int LONGEST_ADDRESS = 107;

  private final byte[] address;

  /**
   * Names the socket.
   *
   * @param address a path, or a name behind '@' for one that is in no directory
   * @throws IllegalArgumentException when it is neither
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
   * @return 0, or the error number: EAGAIN where the receiver has too many waiting
   */
  public int send(String text) {
    int fd = LIBC.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
      return Linux.errno();
    }
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > Scratch.AREA_CAPACITY) {
      LIBC.close(fd);
      return Errno.EMSGSIZE.intValue();
    }
    long name = Linux.scratch().path();
    Memory.putShort(name, AF_UNIX);
    Memory.putString(name + FAMILY_SIZE, address);
    long content = Linux.scratch().area();
    Memory.put(content, bytes, 0, bytes.length);
    // A path ends with a NUL, a name in no directory with its length.
    int length = FAMILY_SIZE + address.length + (address[0] == 0 ? 0 : 1);
    long sent = LIBC.sendto(fd, content, bytes.length, MSG_DONTWAIT | MSG_NOSIGNAL, name, length);
    int errno = sent < 0 ? Linux.errno() : 0;
    LIBC.close(fd);
    return errno;
  }
}
