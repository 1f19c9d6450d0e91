package io.holdfast.fs.accesslog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.AccessEvent;
import io.holdfast.fs.Await;
import io.holdfast.fs.FakeClock;
import io.holdfast.fs.FsError;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.figures.AccessLogFigures;
import io.holdfast.fs.linux.TrustedPlace;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of {@link AccessLogWriter}. */
final class AccessLogWriterTest {
  private static final Sampling ALL = Sampling.parse("1/1");

  @TempDir Path temp;

  @Test
  void events_areObjectsALine() throws IOException {
    Path file = temp.resolve("a.log");
    try (AccessLogWriter log =
        new AccessLogWriter(
            file,
            AccessLogWriter.Kind.FILE,
            ALL,
            thread -> new AccessLogWriter.Who(7, "job"),
            System::nanoTime)) {
      log.add(read("ä \"b\"", ReadSource.PEER, null));
      log.add(
          new AccessEvent(
              AccessEvent.Kind.FETCH, 0, () -> "c", 0, 9, null, 1_000_000, FsError.TIMED_OUT));
    }
    List<String> lines = Files.readAllLines(file);
    Map<String, Object> read = JSON.std.mapFrom(lines.get(0));
    assertThat(read.remove("time").toString()).matches("\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z");
    assertThat(read)
        .isEqualTo(
            Map.of(
                "event", "read",
                "pid", 7,
                "job", "job",
                "path", "ä \"b\"",
                "offset", 4096,
                "length", 100,
                "source", "peer",
                "microseconds", 2500,
                "result", "ok"));
    assertThat(JSON.std.mapFrom(lines.get(1)))
        .containsEntry("event", "fetch")
        .containsEntry("result", "timed_out")
        .doesNotContainKeys("pid", "job", "source");
    assertThat(lines).hasSize(2);
  }

  @Test
  void events_beyondWhatIsAskedFor_areCounted() throws IOException {
    try (AccessLogWriter log = log(Sampling.parse("1/10"))) {
      for (int i = 0; i < 100; i++) {
        if (log.wantsNext()) {
          log.add(read("f", ReadSource.MEMORY, null));
        }
      }
      Await.until("all are counted", () -> log.figures().equals(new AccessLogFigures(10, 90, 0)));
    }
  }

  /** A disk that hangs: a thread that adds an event must not wait for it. */
  @Test
  void events_whileTheFileIsSlow_areDroppedAndCounted() throws IOException {
    CountDownLatch slow = new CountDownLatch(1);
    Path file = temp.resolve("a.log");
    try (AccessLogWriter log =
        new AccessLogWriter(
            file,
            AccessLogWriter.Kind.FILE,
            ALL,
            thread -> {
              Await.latch(slow);
              return new AccessLogWriter.Who(1, "");
            },
            System::nanoTime)) {
      for (int i = 0; i < 10_000; i++) {
        log.add(read("f", ReadSource.MEMORY, null));
      }
      long written = 10_000 - log.figures().dropped();
      slow.countDown();
      // the thread that writes takes all at once that is in the queue, and then it is filled again
      assertThat(written).isBetween(4096L, 2 * 4096L + 1);
      Await.until("all that was not dropped is in the file", () -> lines(file) == written);
      assertThat(log.figures().written()).isEqualTo(written);
    }
  }

  /** The thread that writes ended, and with it the log, for as long as the daemon lived. */
  @Test
  void event_thatThereIsNoMemoryFor_isTheOnlyOneThatIsDropped() throws IOException {
    try (AccessLogWriter log = log(ALL)) {
      log.add(
          new AccessEvent(
              AccessEvent.Kind.FETCH,
              0,
              () -> {
                throw new OutOfMemoryError("made for the test");
              },
              0,
              9,
              null,
              1_000_000,
              null));
      log.add(read("f", ReadSource.MEMORY, null));
      Await.until("both are counted", () -> log.figures().equals(new AccessLogFigures(1, 0, 1)));
    }
    assertThat(Files.readString(temp.resolve("a.log"))).contains("\"path\":\"f\"").hasLineCount(1);
  }

  @Test
  void file_thatCannotBeWritten_isRefused() {
    assertThatThrownBy(
            () ->
                new AccessLogWriter(
                    temp,
                    AccessLogWriter.Kind.FILE,
                    ALL,
                    thread -> new AccessLogWriter.Who(1, ""),
                    System::nanoTime))
        .isInstanceOf(IOException.class);
  }

  private static long lines(Path file) {
    try (Stream<String> lines = Files.lines(file)) {
      return lines.count();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private AccessLogWriter log(Sampling sampling) throws IOException {
    return new AccessLogWriter(
        temp.resolve("a.log"),
        AccessLogWriter.Kind.FILE,
        sampling,
        thread -> new AccessLogWriter.Who(1, ""),
        System::nanoTime);
  }

  private static AccessEvent read(String path, ReadSource source, @Nullable FsError failure) {
    return new AccessEvent(
        AccessEvent.Kind.READ, 5, () -> path, 4096, 100, source, 2_500_000, failure);
  }

  @Test
  void socket_getsALineForEachEvent() throws IOException {
    Path socket = temp.resolve("a.sock");
    try (ServerSocketChannel server = listen(socket);
        AccessLogWriter log =
            log(socket, AccessLogWriter.Kind.SOCKET_WITH_LISTENER, System::nanoTime);
        BufferedReader taken = taken(server)) {
      log.add(read("f", ReadSource.MEMORY, null));
      log.add(read("g", ReadSource.MEMORY, null));
      assertThat(taken.readLine()).contains("\"path\":\"f\"");
      assertThat(taken.readLine()).contains("\"path\":\"g\"");
      Await.until("they are counted", () -> log.figures().written() == 2);
    }
  }

  @Test
  void socket_whoseListenerWasAway_getsWhatComesLater() throws IOException {
    Path socket = temp.resolve("a.sock");
    FakeClock clock = new FakeClock();
    listen(socket).close();
    try (AccessLogWriter log = log(socket, AccessLogWriter.Kind.SOCKET, clock)) {
      log.add(read("f", ReadSource.MEMORY, null));
      Await.until("nobody has taken it", () -> log.figures().dropped() == 1);
      Files.delete(socket);
      try (ServerSocketChannel server = listen(socket)) {
        clock.advance(Duration.ofSeconds(1));
        log.add(read("g", ReadSource.MEMORY, null));
        try (BufferedReader taken = taken(server)) {
          assertThat(taken.readLine()).contains("\"path\":\"g\"");
        }
        // the first that meets a closed end may be lost unseen, in the kernel
        Await.until(
            "that it has gone is noticed",
            () -> {
              log.add(read("h", ReadSource.MEMORY, null));
              return log.figures().dropped() > 1;
            });
      }
    }
  }

  @Test
  void socket_thatNobodyListensAt_isRefused() throws IOException {
    Path socket = temp.resolve("a.sock");
    listen(socket).close();
    assertThatThrownBy(
            () -> log(socket, AccessLogWriter.Kind.SOCKET_WITH_LISTENER, System::nanoTime))
        .isInstanceOf(IOException.class);
  }

  /** A program that takes lines has removed its socket, and with it perhaps the directory. */
  @Test
  void socket_thatIsNotThereYet_isWaitedFor() throws IOException {
    Path socket = temp.resolve("run/a.sock");
    FakeClock clock = new FakeClock();
    try (AccessLogWriter log = log(socket, AccessLogWriter.Kind.SOCKET, clock)) {
      log.add(read("f", ReadSource.MEMORY, null));
      Await.until("nobody has taken it", () -> log.figures().dropped() == 1);
      assertThat(socket.getParent()).doesNotExist();
      Files.createDirectory(socket.getParent());
      clock.advance(Duration.ofSeconds(1));
      log.add(read("g", ReadSource.MEMORY, null));
      Await.until("nobody has taken it", () -> log.figures().dropped() == 2);
      assertThat(socket).doesNotExist();
      try (ServerSocketChannel server = listen(socket)) {
        clock.advance(Duration.ofSeconds(1));
        log.add(read("h", ReadSource.MEMORY, null));
        try (BufferedReader taken = taken(server)) {
          assertThat(taken.readLine()).contains("\"path\":\"h\"");
        }
      }
    }
  }

  @Test
  void socket_thatOthersCouldReplace_isRefused() throws IOException {
    Path shared = Files.createDirectory(temp.resolve("shared"));
    Files.setPosixFilePermissions(shared, PosixFilePermissions.fromString("rwxrwxrwx"));
    Path socket = shared.resolve("a.sock");
    ServerSocketChannel server = listen(socket);
    assertThatThrownBy(
            () -> log(socket, AccessLogWriter.Kind.SOCKET_WITH_LISTENER, System::nanoTime))
        .isInstanceOf(TrustedPlace.Untrusted.class);
    try (AccessLogWriter log = log(socket, AccessLogWriter.Kind.SOCKET, System::nanoTime)) {
      log.add(read("f", ReadSource.MEMORY, null));
      Await.until("it is not given away", () -> log.figures().dropped() == 1);
    }
    server.close();
  }

  private static ServerSocketChannel listen(Path socket) throws IOException {
    return ServerSocketChannel.open(StandardProtocolFamily.UNIX)
        .bind(UnixDomainSocketAddress.of(socket));
  }

  private static BufferedReader taken(ServerSocketChannel server) throws IOException {
    return new BufferedReader(Channels.newReader(server.accept(), StandardCharsets.UTF_8));
  }

  private static AccessLogWriter log(Path socket, AccessLogWriter.Kind kind, LongSupplier clock)
      throws IOException {
    return new AccessLogWriter(
        socket, kind, ALL, thread -> new AccessLogWriter.Who(7, "job"), clock);
  }
}
