package io.holdfast.chaos;

import io.holdfast.it.Child;
import io.holdfast.it.Cluster;
import io.holdfast.it.Sandbox;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** A reader of each style, on the nodes in turn, and their reports so far. Thread-safe. */
final class VerifyingReaders {
  /** Twice a fetch's deadline, and a little. */
  static final Duration READ_DEADLINE = Duration.ofSeconds(130);

  private final Sandbox sandbox;
  private final Cluster cluster;
  private final VersionedFiles files;
  private final Timeline timeline;
  private final Findings findings;
  private final Random random;
  private final List<Running> running = new ArrayList<>();
  private final Map<String, Integer> errors = new TreeMap<>();
  private long reads;
  private long bytes;
  private long slowestMillis;
  private boolean ending;

  /** The surroundings of the readers. */
  record Setting(
      Sandbox sandbox,
      Cluster cluster,
      VersionedFiles files,
      Timeline timeline,
      Findings findings) {}

  /** A process that reads, and what of its output is known. */
  private static final class Running {
    private final ReadStyle style;
    private final int node;
    private final Child child;
    private long heard = System.nanoTime();
    private int lines;
    private long reads;
    private long bytes;
    private boolean late;

    private Running(ReadStyle style, int node, Child child) {
      this.style = style;
      this.node = node;
      this.child = child;
    }

    @Override
    public String toString() {
      return "reader " + style + " on node " + node;
    }
  }

  VerifyingReaders(Setting setting, long seed) {
    sandbox = setting.sandbox();
    cluster = setting.cluster();
    files = setting.files();
    timeline = setting.timeline();
    findings = setting.findings();
    random = new Random(seed);
    for (ReadStyle style : ReadStyle.values()) {
      running.add(start(style, running.size() % cluster.nodes().size()));
    }
  }

  private Running start(ReadStyle style, int node) {
    Path root = cluster.node(node).mount().mountpoint();
    // the checks of bytes must not take the processors from the daemons
    List<String> command = new ArrayList<>(List.of("nice", "-n", "10"));
    command.addAll(
        Sandbox.java(
            VerifyingReader.class,
            root,
            files.large(),
            files.small(),
            style,
            Long.toString(random.nextLong())));
    return new Running(style, node, sandbox.start(Map.of(), command));
  }

  /** Kills one and starts another in its place. */
  synchronized void replace(int index) {
    Running old = running.get(index);
    old.child.kill();
    if (!old.child.endsWithin(READ_DEADLINE)) {
      findings.violation(old + " was killed and is still there");
    }
    hear(old);
    running.set(index, start(old.style, old.node));
  }

  /** Takes in the readers' reports. */
  synchronized void listen() {
    for (Running reader : running) {
      hear(reader);
      if (!ending && !reader.late && reader.child.endsWithin(Duration.ZERO)) {
        reader.late = true;
        findings.violation(reader + " has ended: " + reader.child);
      }
    }
  }

  private void hear(Running reader) {
    String text = reader.child.out();
    List<String> lines = text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
    for (String line : lines.subList(reader.lines, lines.size())) {
      hear(reader, line);
      reader.heard = System.nanoTime();
    }
    reader.lines = lines.size();
    Duration silence = Duration.ofNanos(System.nanoTime() - reader.heard);
    if (silence.compareTo(READ_DEADLINE) > 0 && !reader.late) {
      reader.late = true;
      findings.violation(reader + " has not been heard of for " + silence);
    }
  }

  private void hear(Running reader, String line) {
    String[] words = line.split(" ", 5);
    switch (words[0]) {
      case "T" -> {
        reads += Long.parseLong(words[1]) - reader.reads;
        bytes += Long.parseLong(words[2]) - reader.bytes;
        reader.reads = Long.parseLong(words[1]);
        reader.bytes = Long.parseLong(words[2]);
        long waits = Long.parseLong(words[4]);
        slowestMillis = Math.max(slowestMillis, Math.max(Long.parseLong(words[3]), waits));
        if (waits > READ_DEADLINE.toMillis() && !reader.late) {
          reader.late = true;
          findings.violation(reader + " waits for " + waits + " ms");
        }
      }
      case "E" -> explain(reader, words);
      default -> findings.violation(reader + ": " + line);
    }
  }

  private void explain(Running reader, String[] words) {
    Symptom symptom = Symptom.valueOf(words[1]);
    String cause =
        timeline
            .cause(symptom, reader.node, Long.parseLong(words[2]), Long.parseLong(words[3]))
            .map(FaultKind::toString)
            .orElse("");
    if (cause.isEmpty()) {
      findings.violation(reader + ": an error without a cause: " + words[4]);
    }
    errors.merge(symptom + " by " + (cause.isEmpty() ? "nothing" : cause), 1, Integer::sum);
  }

  /** Ends them; each must come to the end of its read. */
  synchronized void end() {
    ending = true;
    for (Running reader : running) {
      reader.child.closeInput();
    }
    for (Running reader : running) {
      if (!reader.child.endsWithin(READ_DEADLINE)) {
        findings.violation(reader + " does not end");
      }
      hear(reader);
      if (reader.reads == 0) {
        findings.violation(reader + " has read nothing: " + reader.child);
      }
    }
  }

  /** Reads everything once on a node; all of it must be right, and of these versions. */
  synchronized void readAll(int node, List<String> versions) {
    try {
      Path list = Files.write(sandbox.root().resolve("versions"), versions);
      Child child =
          sandbox.startJava(
              VerifyingReader.class,
              cluster.node(node).mount().mountpoint(),
              files.large(),
              files.small(),
              list);
      if (!child.endsWithin(READ_DEADLINE)) {
        findings.violation("reading all of node " + node + " does not end");
      }
      Running last = new Running(ReadStyle.IN_ORDER, node, child);
      hear(last);
      if (last.reads != files.count()) {
        findings.violation("the last reading on node " + node + " ended early: " + child);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  synchronized String summary() {
    return "%d reads, %d MB verified, the slowest took %d ms; errors that readers saw: %s"
        .formatted(reads, bytes / 1_000_000, slowestMillis, errors.isEmpty() ? "none" : errors);
  }
}
