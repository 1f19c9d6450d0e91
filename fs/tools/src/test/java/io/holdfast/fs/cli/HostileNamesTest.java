package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.AccessEvent;
import io.holdfast.fs.accesslog.AccessLogWriter;
import io.holdfast.fs.accesslog.Sampling;
import io.holdfast.fs.allocate.node.ExaminedMachine;
import io.holdfast.fs.analyze.Analysis;
import io.holdfast.fs.analyze.AnalysisText;
import io.holdfast.fs.analyze.Subject;
import io.holdfast.fs.control.ConfigText;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.control.JobsText;
import io.holdfast.fs.control.PeersText;
import io.holdfast.fs.control.StatsText;
import io.holdfast.fs.debug.Bundle;
import io.holdfast.fs.debug.Redactor;
import io.holdfast.fs.debug.Section;
import io.holdfast.fs.debug.Sections;
import io.holdfast.fs.doctor.Diagnosis;
import io.holdfast.fs.doctor.Doctor;
import io.holdfast.fs.doctor.DoctorText;
import io.holdfast.fs.doctor.Finding;
import io.holdfast.fs.doctor.Severity;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.NodeFigures;
import io.holdfast.fs.host.FakeHost;
import io.holdfast.fs.log.DaemonLog;
import io.holdfast.fs.metrics.Exposition;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.settings.LogFormat;
import io.holdfast.fs.settings.LogLevel;
import io.holdfast.fs.throughput.Evidence;
import io.holdfast.fs.throughput.Runs;
import io.holdfast.fs.watch.Change;
import io.holdfast.fs.watch.Snapshot;
import io.holdfast.fs.watch.TopScreen;
import io.holdfast.fs.watch.TopState;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Names that somebody chose so that they do something to a terminal, or make a line of their own,
 * through each way on which people see them: of files and directories, keys, processes, values of
 * the environment, nodes.
 */
class HostileNamesTest {
  private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.fs.Hostile");

  @TempDir Path temp;

  @AfterEach
  void restore() {
    DaemonLog.toErrorOutput(LogLevel.WARN, LogFormat.TEXT, false);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a\u001b]0;title\u0007b",
        "a\u001b[2Jb",
        "a\nroot  0 forged line",
        "a\r\nb",
        "a\u009b2Jb",
        "a\u007fb",
        "a\u202egpj.exe",
        "a\u2066b\u2069",
        "a\u2028b"
      })
  void name_throughEachOutput_isOnOneLineAndSeen(String name) throws IOException {
    outputs(name)
        .forEach(
            (output, text) -> {
              assertThat(text).as(output).contains("a");
              assertThat(text.replace("\n", ""))
                  .as(output)
                  .matches("[^\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]*");
              assertThat(text.lines()).as(output).noneMatch(line -> line.startsWith("root  0"));
              assertThat(text.lines()).as(output).noneMatch(line -> line.equals("b"));
            });
  }

  private Map<String, String> outputs(String name) throws IOException {
    Map<String, Object> told = stats(name);
    Figures stats = FiguresJson.figures(told);
    List<NodeFigures> peers =
        FiguresJson.nodes(List.of(Map.of("node", name, "state", name, "since", name)));
    Change change = new Change(null, new Snapshot(stats, peers, told, 1));
    Map<String, String> outputs = new LinkedHashMap<>();
    outputs.put("stats", StatsText.of(stats));
    outputs.put("stats --jobs", JobsText.of(stats));
    outputs.put("peers", PeersText.of(peers));
    outputs.put(
        "config", ConfigText.of(List.of(Map.of("setting", name, "text", name, "source", name))));
    outputs.put("top", TopScreen.text(change, TopState.first(1000)));
    outputs.put(
        "doctor",
        DoctorText.of(
            List.of(new Diagnosis(name, "log", new Finding(Severity.WARN, name, name))),
            (level, word) -> word));
    outputs.put(
        "metrics",
        new String(new Exposition("m", () -> stats, () -> peers).text(), StandardCharsets.UTF_8));
    outputs.put("analyze", AnalysisText.of(analysis(name)));
    outputs.put("debug", debug(name));
    outputs.put("an error", error(name));
    for (LogFormat format : LogFormat.values()) {
      outputs.put("log as " + format, log(name, format));
    }
    outputs.put("access log", accessLog(name));
    return outputs;
  }

  private static Analysis analysis(String name) {
    Evidence.Site site = new Evidence.Site(1, 1, false, OptionalDouble.empty());
    return Analysis.of(
        new Subject(name, name, 0, site), Runs.of(List.of(), true, true), List.of(name));
  }

  /** The archive's names of files, its list of them, and what the command prints of them. */
  private String debug(String name) throws IOException {
    io.holdfast.fs.doctor.Subject mount =
        new io.holdfast.fs.doctor.Subject(name, Path.of("/mnt"), null, 0, 0, 0, null, null);
    Doctor.Machine machine = ExaminedMachine.of(new FakeHost(temp.resolve("run")));
    List<Section> sections =
        new Sections(machine)
            .of(List.of(mount), secret -> {}).stream()
                .filter(section -> section.file().startsWith("mounts/"))
                .map(section -> new Section(section.file(), () -> failing(name)))
                .toList();
    assertThat(sections).isNotEmpty();
    ByteArrayOutputStream archive = new ByteArrayOutputStream();
    List<String> lines =
        new Bundle(Duration.ofMinutes(1), () -> new Redactor(List.of()))
            .pack(archive, "folder", sections, Instant.EPOCH);
    StringBuilder all = new StringBuilder(String.join("\n", lines));
    ZipInputStream zip = new ZipInputStream(new ByteArrayInputStream(archive.toByteArray()));
    for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
      all.append('\n').append(entry.getName());
      if (entry.getName().endsWith("/FILES")) {
        all.append('\n').append(new String(zip.readAllBytes(), StandardCharsets.UTF_8));
      }
    }
    return all.toString();
  }

  private static String failing(String name) throws IOException {
    throw new IOException(name);
  }

  private static Map<String, Object> stats(String name) {
    Map<String, Object> stats = new LinkedHashMap<>();
    stats.put("name", name);
    stats.put("origin", name);
    stats.put("mountpoint", name);
    stats.put("version", name);
    stats.put("mounted_at", name);
    stats.put("cache", Map.of("policy", "minio", "pin", "hard"));
    stats.put(
        "jobs",
        Map.of(
            "by",
            "env:RUN",
            "jobs",
            List.of(Map.of("job", name, "opens", 1, "epochs", List.of(Map.of("epoch", 1))))));
    stats.put("processes", List.of(Map.of("pid", 1, "command", name, "job", name, "opens", 1)));
    return stats;
  }

  private String error(String name) {
    CliRun run = new CliRun(new FakeHost(temp.resolve("run")));
    assertThat(run.run("stats", name)).isNotZero();
    return run.err.toString();
  }

  private String log(String name, LogFormat format) throws IOException {
    Path file = temp.resolve(format + ".log");
    DaemonLog.toFile(file, LogLevel.INFO, format);
    LOG.warn("a read failed: {}", OriginPath.of(name));
    DaemonLog.toFile(file, LogLevel.INFO, format);
    LOG.error("failed", new IOException(name, new IllegalStateException(name)));
    return Files.readString(file).replace("\n\t", " ");
  }

  private String accessLog(String name) throws IOException {
    Path file = temp.resolve("access.log");
    try (AccessLogWriter log =
        new AccessLogWriter(
            file,
            AccessLogWriter.Kind.FILE,
            Sampling.parse("1/1"),
            thread -> new AccessLogWriter.Who(1, name),
            System::nanoTime)) {
      log.add(
          new AccessEvent(
              AccessEvent.Kind.READ, 5, () -> OriginPath.of(name), 0, 1, null, 1, null));
    }
    String line = Files.readString(file);
    assertThat(JSON.std.mapFrom(line)).containsEntry("path", name).containsEntry("job", name);
    return line;
  }
}
