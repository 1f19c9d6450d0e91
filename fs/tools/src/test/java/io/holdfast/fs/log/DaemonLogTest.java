package io.holdfast.fs.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.settings.LogFormat;
import io.holdfast.fs.settings.LogLevel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

class DaemonLogTest {
  private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.fs.Something");

  @TempDir Path temp;

  @AfterEach
  void restore() {
    DaemonLog.toErrorOutput(LogLevel.WARN, LogFormat.TEXT, false);
  }

  @Test
  void toFile_events_areLinesWithTimeLevelAndThread() throws IOException {
    Path file = temp.resolve("new/dir%d/a.log");
    DaemonLog.toFile(file, LogLevel.INFO, LogFormat.TEXT);
    LOG.info("two\nlines of {}", "ä");
    LOG.debug("not shown");
    LoggerFactory.getLogger("org.other").info("not shown");
    LOG.warn("with trace", new IOException("cause"));
    List<String> lines = Files.readAllLines(file);
    assertThat(lines.get(0))
        .matches("\\d{4}-\\d\\d-\\d\\dT\\S+ INFO  \\[\\S+] Something: two\\\\nlines of ä");
    assertThat(lines.get(1)).endsWith("Something: with trace");
    assertThat(lines.get(2)).isEqualTo("java.io.IOException: cause");
    assertThat(lines).noneMatch(line -> line.contains("not shown"));
  }

  @Test
  void toFile_eventsAsJson_areObjectsALine() throws IOException {
    Path file = temp.resolve("a.log");
    DaemonLog.toFile(file, LogLevel.INFO, LogFormat.JSON);
    LOG.info("two\nlines of \"{}\"", "ä");
    LOG.warn("with trace", new IOException("cause"));
    List<String> lines = Files.readAllLines(file);
    assertThat(lines).hasSize(2);
    Map<String, Object> event = JSON.std.mapFrom(lines.get(0));
    assertThat(event)
        .containsEntry("level", "INFO")
        .containsEntry("loggerName", "io.holdfast.fs.Something")
        .containsEntry("formattedMessage", "two\nlines of \"ä\"")
        .containsEntry("throwable", null)
        .containsOnlyKeys(
            "timestamp", "level", "threadName", "loggerName", "formattedMessage", "throwable");
    assertThat((Long) event.get("timestamp")).isPositive();
    assertThat((Map<?, ?>) JSON.std.mapFrom(lines.get(1)).get("throwable"))
        .extracting("message")
        .isEqualTo("cause");
  }

  @Test
  void toFile_logsThatAreThere_loseWhatOthersMayDoWithThem() throws IOException {
    Path file = temp.resolve("a.log");
    for (Path each : List.of(file, temp.resolve("a.log.1"))) {
      Files.writeString(each, "names\n");
      Files.setPosixFilePermissions(each, PosixFilePermissions.fromString("rw-rw-r--"));
    }
    DaemonLog.toFile(file, LogLevel.INFO, LogFormat.TEXT);
    LOG.info("more");
    for (Path each : List.of(file, temp.resolve("a.log.1"))) {
      assertThat(Files.getPosixFilePermissions(each))
          .isEqualTo(PosixFilePermissions.fromString("rw-r-----"));
    }
    assertThat(Files.readString(file)).startsWith("names\n").endsWith("more\n");
  }

  @Test
  void toFile_newFilesAndNarrowerOnes_areForOwnerAndGroup() throws IOException {
    Path file = temp.resolve("new.log");
    DaemonLog.toFile(file, LogLevel.INFO, LogFormat.TEXT);
    assertThat(Files.getPosixFilePermissions(file))
        .isEqualTo(PosixFilePermissions.fromString("rw-r-----"));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    DaemonLog.toFile(file, LogLevel.INFO, LogFormat.TEXT);
    assertThat(Files.getPosixFilePermissions(file))
        .isEqualTo(PosixFilePermissions.fromString("rw-------"));
  }

  /** With umask 0002 they could be written by a group, and the log was refused. */
  @Test
  void toFile_newDirectories_areForTheOwnerAlone() throws IOException {
    DaemonLog.toFile(temp.resolve("new/dir/a.log"), LogLevel.INFO, LogFormat.TEXT);
    for (String each : List.of("new", "new/dir")) {
      assertThat(Files.getPosixFilePermissions(temp.resolve(each)))
          .isEqualTo(PosixFilePermissions.fromString("rwx------"));
    }
  }

  /** A user reads files that fail, each another one, as fast as it goes. */
  @Test
  void linesThatRepeat_areLeftOutAndCounted() throws IOException {
    Path file = temp.resolve("a.log");
    DaemonLog.toFile(file, LogLevel.INFO, LogFormat.TEXT);
    for (int i = 0; i < 5000; i++) {
      LOG.warn("a read failed: {}", "file" + i);
    }
    LOG.warn("something else");
    List<String> lines = Files.readAllLines(file);
    assertThat(lines).hasSizeBetween(RepeatedLines.BURST, RepeatedLines.BURST + 40);
    assertThat(lines.get(lines.size() - 1)).endsWith("something else");
  }

  @Test
  void toErrorOutput_ofTheJournal_hasThePriorityInFront() {
    PrintStream before = System.err;
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
    try {
      DaemonLog.toErrorOutput(LogLevel.INFO, LogFormat.TEXT, true);
      LOG.warn("careful");
      LOG.error("bad");
    } finally {
      System.setErr(before);
    }
    assertThat(written.toString(StandardCharsets.UTF_8).lines().toList())
        .containsExactly(
            "<4>[" + Thread.currentThread().getName() + "] Something: careful",
            "<3>[" + Thread.currentThread().getName() + "] Something: bad");
  }

  @Test
  void toFile_again_appends() throws IOException {
    Path file = temp.resolve("a.log");
    Files.writeString(file, "before\n");
    DaemonLog.toFile(file, LogLevel.TRACE, LogFormat.TEXT);
    LOG.trace("after");
    assertThat(Files.readAllLines(file)).hasSize(2).startsWith("before");
  }

  @Test
  void toFile_muchLogged_staysBounded() throws Exception {
    Path file = temp.resolve("a.log");
    DaemonLog.toFile(file, LogLevel.INFO, LogFormat.TEXT);
    String text = "x".repeat(1_000_000);
    for (int i = 0; i < 80; i++) {
      LOG.info(text);
      Thread.sleep(15);
    }
    DaemonLog.toErrorOutput(LogLevel.WARN, LogFormat.TEXT, false);
    try (Stream<Path> files = Files.list(temp)) {
      List<Path> all = files.toList();
      assertThat(all).hasSizeBetween(2, 4);
      assertThat(all).allSatisfy(f -> assertThat(Files.size(f)).isLessThan(40_000_000));
    }
  }

  @Test
  void toFile_thatCannotBeWritten_fails() {
    assertThatThrownBy(() -> DaemonLog.toFile(temp, LogLevel.INFO, LogFormat.TEXT))
        .isInstanceOf(IOException.class);
  }
}
