package io.holdfast.fs.accesslog;

import io.holdfast.fs.linux.TrustedPlace;
import java.io.IOException;
import java.io.OutputStream;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes to a Unix socket that a program listens at. While nobody listens, events are lost, and the
 * stream tries the socket again once a second. For one thread.
 */
final class SocketStream extends OutputStream {
  private static final long RETRY_NANOS = Duration.ofSeconds(1).toNanos();
  private static final int TYPE = 0170000;
  private static final int SOCKET = 0140000;

  /** Takes, for each write, whether a program took it. */
  interface Counter {
    void count(boolean taken);
  }

  private final Path socket;
  private final UnixDomainSocketAddress address;
  private final LongSupplier nanoTime;
  private final Counter counter;
  private @Nullable SocketChannel channel;
  private long retryAt;

  SocketStream(Path socket, LongSupplier nanoTime, Counter counter) {
    this.socket = socket;
    this.address = UnixDomainSocketAddress.of(socket);
    this.nanoTime = nanoTime;
    this.counter = counter;
    this.retryAt = nanoTime.getAsLong();
  }

  static boolean isSocket(Path file) throws IOException {
    return Files.exists(file) && ((int) Files.getAttribute(file, "unix:mode") & TYPE) == SOCKET;
  }

  /**
   * Connects before the first event.
   *
   * @throws IOException if nobody listens, or others could have put a socket there
   */
  void connect() throws IOException {
    TrustedPlace.checkSocket("the log", socket);
    channel = SocketChannel.open(address);
  }

  @Override
  public void write(int single) {
    write(new byte[] {(byte) single}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) {
    boolean taken = false;
    try {
      if (channel == null && nanoTime.getAsLong() - retryAt >= 0) {
        connect();
      }
      if (channel != null) {
        for (ByteBuffer left = ByteBuffer.wrap(bytes, offset, length); left.hasRemaining(); ) {
          channel.write(left);
        }
        taken = true;
      }
    } catch (IOException e) {
      close(); // the lost event is counted
      retryAt = nanoTime.getAsLong() + RETRY_NANOS;
    }
    counter.count(taken);
  }

  @Override
  public void close() {
    SocketChannel open = channel;
    channel = null;
    if (open != null) {
      try {
        open.close();
      } catch (IOException e) {
        retryAt = nanoTime.getAsLong() + RETRY_NANOS;
      }
    }
  }
}
