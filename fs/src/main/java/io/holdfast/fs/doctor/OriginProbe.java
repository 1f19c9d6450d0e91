package io.holdfast.fs.doctor;

import io.holdfast.fs.control.Figures;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Whether a dataset's origin answers: by what the daemon has counted, and by a child process that
 * asks for the figures of its filesystem. Where the mount lies over its origin, that goes through
 * the descriptor that the daemon has of it, never through the mount.
 */
final class OriginProbe implements Probe {
  private static final Duration DEADLINE = Duration.ofSeconds(2);
  private static final String MEND = "repair the storage: readers go on when it answers again";

  private final Subject subject;
  private final Asked asked;
  private final MachineFiles files;

  OriginProbe(Subject subject, Asked asked, MachineFiles files) {
    this.subject = subject;
    this.asked = asked;
    this.files = files;
  }

  @Override
  public String name() {
    return "origin";
  }

  @Override
  public List<Finding> run() throws IOException, InterruptedException {
    List<Finding> findings = new ArrayList<>();
    Finding seen = subject.mount() == null ? null : look(subject.mount().source());
    if (seen != null) {
      findings.add(seen);
    }
    Answers answers = asked.answers();
    if (answers.stats() != null) {
      findings.addAll(counted(answers));
    }
    return findings;
  }

  private static List<Finding> counted(Answers answers) {
    Figures before = origin(new Figures(answers.stats()));
    Figures now = origin(answers.figures().orElseThrow());
    List<Finding> findings = new ArrayList<>();
    long inFlight = now.number("in_flight");
    if (now.is("silent")) {
      findings.add(
          Finding.fail(
              "it has not answered for %d s, so what needs it fails at once"
                  .formatted(now.number("unanswered_seconds")),
              MEND));
    }
    if (now.number("stuck") > 0) {
      findings.add(
          Finding.fail(
              "fetches that were given up and have not come back: " + now.number("stuck"), MEND));
    } else if (answers.later() != null
        && before.number("in_flight") > 0
        && inFlight > 0
        && before.number("bytes") == now.number("bytes")) {
      findings.add(
          Finding.fail("fetches that wait, and nothing came within a second: " + inFlight, MEND));
    }
    long errors = now.number("errors");
    if (errors > 0) {
      findings.add(
          Finding.warn(
              "fetches that failed for good since the mount: " + errors,
              "look for 'EIO' in its log"));
    }
    if (findings.isEmpty()) {
      findings.add(
          Finding.ok(
              "fetches %d, in flight %d, retries %d, median %d us, 99th percentile %d us"
                  .formatted(
                      now.number("items"),
                      inFlight,
                      now.number("retries"),
                      now.number("p50_us"),
                      now.number("p99_us"))));
    }
    return findings;
  }

  private static Figures origin(Figures stats) {
    return stats.group("fetches").group("origin");
  }

  private @Nullable Finding look(String source) throws IOException, InterruptedException {
    if (!source.startsWith("/")) {
      return null;
    }
    Path origin = Path.of(source);
    Path way = origin.startsWith(subject.mountpoint()) ? descriptor(source) : origin;
    if (way == null) {
      return null;
    }
    Optional<BoundedCommand.Output> output =
        BoundedCommand.run(
            DEADLINE, 1 << 12, List.of("stat", "-f", "-L", "-c", "%T", "--", way.toString()));
    if (output.isEmpty()) {
      return Finding.fail(
          "%s gives no answer in %d s".formatted(source, DEADLINE.toSeconds()), MEND);
    }
    return output.get().exit() == 0
        ? Finding.ok("%s answers, a filesystem of type %s".formatted(source, output.get().text()))
        : Finding.fail(source + " cannot be read: " + output.get().text(), MEND);
  }

  /** Returns the way to what the mount covers, through a process that opened it before. */
  private @Nullable Path descriptor(String source) {
    long holder = subject.supervisor() == 0 ? subject.pid() : subject.supervisor();
    try (DirectoryStream<Path> open =
        Files.newDirectoryStream(files.path("proc/" + holder + "/fd"))) {
      for (Path descriptor : open) {
        if (leadsTo(descriptor, source)) {
          return descriptor;
        }
      }
    } catch (IOException e) {
      // Another user's, or it has just ended.
    }
    return null;
  }

  private static boolean leadsTo(Path descriptor, String target) {
    try {
      return Files.readSymbolicLink(descriptor).toString().equals(target);
    } catch (IOException e) {
      return false; // closed in the meantime
    }
  }
}
