package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.control.ControlDirectory;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;

/** A daemon that lives and listens but never answers; it has ended once it is closed. */
final class SilentDaemon implements AutoCloseable {
  private final FileChannel lock;
  private final ServerSocketChannel listener;

  SilentDaemon(ControlDirectory control, String name) throws IOException {
    Files.createDirectories(control.path());
    Files.writeString(control.processFile(name), "4711\n/mnt/" + name + "\n");
    lock =
        FileChannel.open(
            control.lockFile(name), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    assertThat(lock.tryLock()).isNotNull();
    listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    listener.bind(UnixDomainSocketAddress.of(control.socket(name)));
  }

  @Override
  public void close() throws IOException {
    listener.close();
    lock.close();
  }
}
