package io.holdfast.fs.accesslog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.AccessEvent;
import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.ReadSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of {@link AccessLogFile}. */
final class AccessLogFileTest {
  private static final Sampling ALL = Sampling.parse("1/1");

  @TempDir Path temp;

  @Test
  void events_areObjectsALine() throws IOException {
    Path file = temp.resolve("a.log");
    try (AccessLogFile log =
        new AccessLogFile(file, ALL, thread -> new AccessLogFile.Who(7, "job"), System::nanoTime)) {
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
    try (AccessLogFile log = log(Sampling.parse("1/10"))) {
      for (int i = 0; i < 100; i++) {
        if (log.wantsNext()) {
          log.add(read("f", ReadSource.MEMORY, null));
        }
      }
      assertThat(log.figures())
          .isEqualTo(Map.of("written", 10L, "sampled_out", 90L, "dropped", 0L));
    }
  }

  /** A disk that hangs: whoever adds must not wait for it. */
  @Test
  void events_whileTheFileIsSlow_areDroppedAndCounted() throws IOException {
    CountDownLatch slow = new CountDownLatch(1);
    Path file = temp.resolve("a.log");
    try (AccessLogFile log =
        new AccessLogFile(
            file,
            ALL,
            thread -> {
              Await.latch(slow);
              return new AccessLogFile.Who(1, "");
            },
            System::nanoTime)) {
      for (int i = 0; i < 10_000; i++) {
        log.add(read("f", ReadSource.MEMORY, null));
      }
      Map<String, Object> figures = log.figures();
      slow.countDown();
      long written = (Long) figures.get("written");
      // the thread that writes takes all at once that is in the queue, and then it is filled again
      assertThat(written).isBetween(4096L, 2 * 4096L + 1);
      assertThat(written + (Long) figures.get("dropped")).isEqualTo(10_000);
      Await.until("all that was not dropped is in the file", () -> lines(file) == written);
    }
  }

  @Test
  void file_thatCannotBeWritten_isRefused() {
    assertThatThrownBy(
            () ->
                new AccessLogFile(
                    temp, ALL, thread -> new AccessLogFile.Who(1, ""), System::nanoTime))
        .isInstanceOf(IOException.class);
  }

  private static long lines(Path file) {
    try (Stream<String> lines = Files.lines(file)) {
      return lines.count();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private AccessLogFile log(Sampling sampling) throws IOException {
    return new AccessLogFile(
        temp.resolve("a.log"), sampling, thread -> new AccessLogFile.Who(1, ""), System::nanoTime);
  }

  private static AccessEvent read(String path, ReadSource source, @Nullable FsError failure) {
    return new AccessEvent(
        AccessEvent.Kind.READ, 5, () -> path, 4096, 100, source, 2_500_000, failure);
  }
}
