package io.holdfast.chaos;

import io.holdfast.it.ProcessTable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Finds threads that sleep where no signal wakes them (state D) for too long, in one sleep. Looks
 * at the process table only, so nothing that hangs can make it hang. For one thread.
 */
final class SleepWatch {
  private static final Duration LONGEST = Duration.ofSeconds(10);

  /** The pause that is allowed while faults hold up what the threads wait for. */
  private static final Duration LONGEST_IN_ALL = Duration.ofSeconds(30);

  private final String sandbox;
  private final Findings findings;
  private final Map<Long, Sleep> sleeps = new HashMap<>();
  private long heldUp = System.nanoTime();

  /** A sleep: a thread that has slept again has given the processor up once more. */
  private record Sleep(String switches, long since) {}

  /**
   * @param sandbox whose processes are looked at
   */
  SleepWatch(String sandbox, Findings findings) {
    this.sandbox = sandbox;
    this.findings = findings;
  }

  /** Notes that a fault holds up, at this moment, what the threads may wait for. */
  void heldUp() {
    heldUp = System.nanoTime();
  }

  void look() {
    Map<Long, Sleep> now = new HashMap<>();
    for (ProcessTable.Row row : ProcessTable.marked(sandbox)) {
      try (DirectoryStream<Path> threads =
          Files.newDirectoryStream(Path.of("/proc/" + row.pid() + "/task"))) {
        for (Path thread : threads) {
          look(row, thread, now);
        }
      } catch (IOException e) {
        // It has ended.
      }
    }
    sleeps.clear();
    sleeps.putAll(now);
  }

  private void look(ProcessTable.Row row, Path thread, Map<Long, Sleep> now) {
    String status = text(thread.resolve("status"));
    if (!status.contains("\nState:\tD")) {
      return;
    }
    long id = Long.parseLong(thread.getFileName().toString());
    String switches = status.replaceAll("(?s).*\nvoluntary_ctxt_switches:\t(\\d+).*", "$1");
    Sleep before = sleeps.get(id);
    Sleep sleep =
        before != null && before.switches.equals(switches)
            ? before
            : new Sleep(switches, System.nanoTime());
    long nanos = System.nanoTime() - sleep.since;
    long own = Math.min(nanos, System.nanoTime() - heldUp);
    if (own > LONGEST.toNanos() || nanos > LONGEST_IN_ALL.toNanos()) {
      findings.violation(
          "thread %d of %s is in state D for %s:%n%s"
              .formatted(id, row, Duration.ofNanos(nanos), text(thread.resolve("stack"))));
      sleep = new Sleep(switches, System.nanoTime());
    }
    now.put(id, sleep);
  }

  private static String text(Path file) {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return "";
    }
  }
}
