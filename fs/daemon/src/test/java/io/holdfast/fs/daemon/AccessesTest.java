package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.holdfast.fs.AccessEvent;
import io.holdfast.fs.Await;
import io.holdfast.fs.FsException;
import io.holdfast.fs.accesslog.AccessLogWriter;
import io.holdfast.fs.accesslog.Sampling;
import io.holdfast.fs.stats.Activity;
import io.holdfast.fs.stats.JobBy;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The access log at a daemon's takeover. */
class AccessesTest {
  @TempDir Path temp;
  @TempDir Path state;

  private Optional<AccessLogWriter> open(Path file, @Nullable Supervision supervision)
      throws FsException {
    Activity activity = new Activity(JobBy.CGROUP, 1 << 20, System::nanoTime);
    return Accesses.open(file, supervision, Sampling.parse("1/1"), activity);
  }

  /** The first daemon has mounted, and has left its session. */
  private Supervision laterDaemon() throws IOException {
    Files.createFile(state.resolve("session"));
    return Supervision.at(state);
  }

  private static ServerSocketChannel listen(Path socket) throws IOException {
    return ServerSocketChannel.open(StandardProtocolFamily.UNIX)
        .bind(UnixDomainSocketAddress.of(socket));
  }

  @Test
  void socket_thatIsGone_isStillOneForALaterDaemon() throws Exception {
    Path socket = temp.resolve("a.sock");
    Supervision supervision = Supervision.at(state);
    ServerSocketChannel server = listen(socket);
    open(socket, supervision).orElseThrow().close();
    server.close();
    Files.delete(socket);
    try (AccessLogWriter later = open(socket, laterDaemon()).orElseThrow()) {
      later.add(new AccessEvent(AccessEvent.Kind.READ, 1, () -> "f", 0, 1, null, 1, null));
      Await.until("nobody has taken it", () -> later.figures().dropped() == 1);
    }
    assertThat(socket).doesNotExist();
  }

  @Test
  void file_ofALaterDaemon_isOneEvenWhereTheLogWasASocketElsewhere() throws Exception {
    Path socket = temp.resolve("a.sock");
    Supervision supervision = Supervision.at(state);
    ServerSocketChannel server = listen(socket);
    open(socket, supervision).orElseThrow().close();
    server.close();
    Path file = temp.resolve("a.log");
    open(file, laterDaemon()).orElseThrow().close();
    assertThat(file).isRegularFile();
  }

  /** A mount with all its residents is worth more than its access log. */
  @Test
  void log_thatCannotBeWritten_endsOnlyTheFirstDaemon() throws Exception {
    Path file = temp.resolve("gone/a.log");
    Supervision supervision = Supervision.at(state);
    assertThatExceptionOfType(FsException.class).isThrownBy(() -> open(file, null));
    assertThatExceptionOfType(FsException.class).isThrownBy(() -> open(file, supervision));
    assertThat(open(file, laterDaemon())).isEmpty();
  }
}
