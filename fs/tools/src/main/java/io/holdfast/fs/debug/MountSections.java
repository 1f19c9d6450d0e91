package io.holdfast.fs.debug;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.control.ConfigText;
import io.holdfast.fs.doctor.Answers;
import io.holdfast.fs.doctor.Doctor;
import io.holdfast.fs.doctor.LogFile;
import io.holdfast.fs.doctor.MachineFiles;
import io.holdfast.fs.doctor.PendingAnswers;
import io.holdfast.fs.doctor.Subject;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The sections about one mount: the answers of its daemon, and the kernel's files about its
 * processes.
 */
final class MountSections {
  private static final Duration PAUSE = Duration.ofSeconds(2);
  private static final Duration LOG_DEADLINE = Duration.ofSeconds(3);
  private static final int LOG_TAIL = 3 << 20;
  private static final int MOST_THREADS = 1000;

  private final Doctor.Machine machine;
  private final MachineFiles files;
  private final Subject subject;
  private final String folder;

  /**
   * Prepares the sections of a mount.
   *
   * @param folder its folder in the archive, which no other mount has
   */
  MountSections(Doctor.Machine machine, Subject subject, String folder) {
    this.machine = machine;
    this.files = machine.files();
    this.subject = subject;
    this.folder = folder;
  }

  /**
   * Returns the sections.
   *
   * @param secrets takes the daemon's secrets as they are found
   */
  List<Section> list(Consumer<String> secrets) {
    List<Section> sections = new ArrayList<>();
    if (subject.pid() != 0) {
      add(sections, "secrets.txt", () -> new KnownSecrets(files).ofProcess(subject, secrets));
    }
    if (subject.socket() != null && subject.pid() != 0) {
      daemon(sections, PendingAnswers.begin(subject.socket(), PAUSE));
    }
    if (subject.isTrusted()) {
      LogFile log = LogFile.of(subject, files, machine.logs());
      add(sections, "log.txt", () -> log.tail(LOG_TAIL, LOG_DEADLINE));
    }
    if (subject.state() != null) {
      Path state = subject.state();
      add(sections, "supervisor.txt", () -> supervisor(state));
    }
    add(sections, "connection.txt", this::connection);
    return sections;
  }

  private void daemon(List<Section> sections, PendingAnswers pending) {
    long pid = subject.pid();
    String process = "proc/" + pid + "/";
    add(sections, "config.txt", () -> ConfigText.of(answers(pending).config()));
    add(sections, "stats-1.json", () -> json(answers(pending).stats()));
    add(sections, "stats-2.json", () -> json(answered(pending).later()));
    add(sections, "peers.json", () -> json(answered(pending).peers()));
    if (subject.isTrusted()) {
      // asks by a signal, which ends a process that is no virtual machine
      add(sections, "threads.txt", () -> new ThreadDump(files).of(pid));
    }
    add(
        sections,
        "process.txt",
        () ->
            KernelFilesText.all(
                files, List.of(process + "status", process + "stat", process + "limits")));
    add(sections, "descriptors.txt", () -> count(process + "fd"));
    // these reads take the lock of the process's memory, and may have to wait for it
    add(sections, "command.txt", () -> files.read(process + "cmdline").replace('\0', '\n'));
    add(sections, "memory.txt", () -> files.read(process + "smaps_rollup"));
    add(sections, "mappings.txt", () -> mappings(process + "maps"));
    add(sections, "kernel-stacks.txt", () -> stacks(process + "task"));
    add(sections, "cgroup.txt", () -> new CgroupText(files).of(Long.toString(pid)));
  }

  private void add(List<Section> sections, String file, Section.Source source) {
    sections.add(new Section(folder + file, source));
  }

  private static Answers answers(PendingAnswers pending) throws IOException, InterruptedException {
    Answers answers = pending.answers();
    if (answers.stats() == null) {
      throw answers.trouble() == null ? new IOException("no answer") : answers.trouble();
    }
    return answers;
  }

  private static Answers answered(PendingAnswers pending) throws IOException, InterruptedException {
    Answers answers = answers(pending);
    if (answers.trouble() != null) {
      throw answers.trouble();
    }
    return answers;
  }

  private static String json(@Nullable Object value) throws IOException {
    return JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(value) + "\n";
  }

  private String connection() {
    if (subject.mount() == null) {
      return "nothing is mounted at " + subject.mountpoint() + "\n";
    }
    String device = subject.mount().device();
    String folder = "sys/fs/fuse/connections/" + device.substring(device.indexOf(':') + 1) + "/";
    return subject.mount()
        + "\n"
        + KernelFilesText.lines(
            files,
            List.of(
                folder + "waiting", folder + "max_background", folder + "congestion_threshold"));
  }

  private String supervisor(Path state) throws IOException {
    if (!Files.isDirectory(state)) {
      return "there is none\n";
    }
    StringBuilder text = new StringBuilder("process " + subject.supervisor() + "\n");
    try (Stream<Path> entries = Files.list(state)) {
      for (Path entry : entries.sorted().toList()) {
        text.append(entry.getFileName()).append("  ").append(Files.size(entry)).append('\n');
      }
    }
    text.append(
        KernelFilesText.all(
            new MachineFiles(state),
            List.of(
                "supervisor",
                "restarts",
                "session",
                "command",
                "previous",
                "settings.json",
                "previous.json",
                "errors")));
    if (subject.supervisor() != 0) {
      text.append(KernelFilesText.all(files, List.of("proc/" + subject.supervisor() + "/status")));
    }
    return text.toString();
  }

  private String count(String folder) throws IOException {
    int count = 0;
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(files.path(folder))) {
      for (Path unused : entries) {
        count++;
      }
    }
    return "open: " + count + "\n";
  }

  private String mappings(String file) throws IOException {
    try (Stream<String> lines =
        Files.lines(files.path(file), java.nio.charset.StandardCharsets.ISO_8859_1)) {
      return "mappings: " + lines.count() + "\n";
    }
  }

  private String stacks(String folder) throws IOException {
    StringBuilder text = new StringBuilder();
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(files.path(folder))) {
      int count = 0;
      for (Path thread : threads) {
        if (++count > MOST_THREADS) {
          return text + "and more threads\n";
        }
        MachineFiles of = new MachineFiles(thread);
        text.append("== thread ").append(thread.getFileName()).append(' ');
        text.append(of.text("comm").orElse("?")).append('\n');
        of.value("status", "State").ifPresent(state -> text.append(state).append('\n'));
        of.text("stack").or(() -> of.text("wchan")).ifPresent(at -> text.append(at).append('\n'));
      }
    }
    return text.toString();
  }
}
