package io.holdfast.fs.doctor;

import io.holdfast.fs.control.HiddenKeys;
import io.holdfast.fs.figures.DatasetFigures;
import io.holdfast.fs.figures.FetchFigures;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.linux.Fstab;
import io.holdfast.fs.linux.MountTable;
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
 * Checks whether a dataset's origin answers: by the daemon's counters, and by a child process that
 * asks for the figures of the origin's filesystem. If the mount is over its origin, the child uses
 * the daemon's descriptor of the origin, never the mount.
 */
final class OriginProbe implements Probe {
  private static final Duration DEADLINE = Duration.ofSeconds(2);
  private static final String FIX = "repair the storage: readers go on when it answers again";

  private final Subject subject;
  private final PendingAnswers pending;
  private final MachineFiles files;

  OriginProbe(Subject subject, PendingAnswers pending, MachineFiles files) {
    this.subject = subject;
    this.pending = pending;
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
    Answers answers = pending.answers();
    Figures figures = answers.figures().orElse(null);
    if (figures != null) {
      FetchFigures.Origin before = answers.earlier().map(OriginProbe::origin).orElse(null);
      findings.addAll(counted(before, origin(figures)));
      DatasetFigures dataset = figures.dataset();
      if (isEmpty(dataset)) {
        findings.add(
            Finding.warn(
                "the dataset has no files: " + why(),
                "mount its file system, and then Holdfast again; --require-mount refuses such a"
                    + " source"));
      }
      long hidden = dataset.hiddenKeys();
      if (hidden > 0) {
        findings.add(
            Finding.warn(
                HiddenKeys.text(hidden, dataset.hiddenKey()),
                "rename them in the store; SEMANTICS.md, \"Datasets in S3\", says which keys can"
                    + " be shown"));
      }
    }
    return findings;
  }

  private static boolean isEmpty(DatasetFigures dataset) {
    return dataset.scanned() && dataset.files() == 0;
  }

  private String why() {
    String source = subject.mount() == null ? "" : subject.mount().source();
    if (!source.startsWith("/")) {
      return "nothing is below '%s'".formatted(source);
    }
    MountTable mounts = MountTable.parse(files.text("proc/self/mountinfo").orElse(""));
    return SourceMount.whyEmpty(
        Path.of(source), mounts, Fstab.parse(files.lines(Fstab.FILE.toString())));
  }

  private static List<Finding> counted(
      FetchFigures.@Nullable Origin before, FetchFigures.Origin now) {
    List<Finding> findings = new ArrayList<>();
    long inFlight = now.inFlight();
    if (now.silent()) {
      findings.add(
          Finding.fail(
              "it has not answered for %d s, so what needs it fails at once"
                  .formatted(now.unansweredSeconds()),
              FIX));
    }
    if (now.stuck() > 0) {
      findings.add(
          Finding.fail("fetches that were given up and have not come back: " + now.stuck(), FIX));
    } else if (before != null
        && before.inFlight() > 0
        && inFlight > 0
        && before.bytes() == now.bytes()) {
      findings.add(
          Finding.fail("fetches that wait, and nothing came within a second: " + inFlight, FIX));
    }
    long errors = now.errors();
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
                  .formatted(now.items(), inFlight, now.retries(), now.p50Us(), now.p99Us())));
    }
    return findings;
  }

  private static FetchFigures.Origin origin(Figures stats) {
    return stats.fetches().origin();
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
          "%s gives no answer in %d s".formatted(source, DEADLINE.toSeconds()), FIX);
    }
    return output.get().exit() == 0
        ? Finding.ok("%s answers, a filesystem of type %s".formatted(source, output.get().text()))
        : Finding.fail(source + " cannot be read: " + output.get().text(), FIX);
  }

  /**
   * Returns the way to the directory that the mount covers, through a process that opened it
   * before.
   */
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
      // the process is another user's, or has just ended
    }
    return null;
  }

  private static boolean leadsTo(Path descriptor, String target) {
    try {
      return Files.readSymbolicLink(descriptor).toString().equals(target);
    } catch (IOException e) {
      return false; // the descriptor was closed in the meantime
    }
  }
}
