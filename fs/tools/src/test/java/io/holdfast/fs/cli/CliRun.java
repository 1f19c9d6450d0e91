package io.holdfast.fs.cli;

import io.holdfast.fs.FsException;
import io.holdfast.fs.client.Targets;
import io.holdfast.fs.daemon.Supervision;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.start.DaemonHandle;
import io.holdfast.fs.start.PipeReport;
import io.holdfast.fs.start.Serve;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/** Runs the command line in this process, with a machine and a daemon of the test's making. */
final class CliRun {
  final StringWriter out = new StringWriter();
  final StringWriter err = new StringWriter();
  final ByteArrayOutputStream pipe = new ByteArrayOutputStream();
  final List<Thread> atExit = new ArrayList<>();
  final List<Integer> halts = new ArrayList<>();
  final List<Long> killed = new ArrayList<>();
  final List<String> detached = new ArrayList<>();
  final FakeDaemon daemon = new FakeDaemon();

  /** Takes what the command prints. */
  PrintWriter output = new PrintWriter(out, true);

  /** The command in the place of the daemon's process. */
  List<String> ownCommand = List.of("false");

  /** The command in the place of the supervisor's process. */
  List<String> supervisor = List.of("false");

  /** The command that this process would have become. */
  List<String> became = List.of();

  /** How often a command may pause before it is interrupted. */
  int pauses = Integer.MAX_VALUE;

  /** How long a mount may be between two daemons; null for as long as in a command of a user. */
  @Nullable Duration start;

  /** How long a daemon may take to answer; null for as long as in a command of a user. */
  @Nullable Duration answer;

  /** Closed while a command pauses. */
  AutoCloseable whenPaused = () -> {};

  /** Closed as by a process that is killed. */
  AutoCloseable whenKilled = () -> {};

  private final Host host;

  CliRun(Host host) {
    this.host = host;
  }

  int run(String... arguments) {
    CommandLine line = Holdfast.commandLine(new Context(), arguments);
    line.setOut(output).setErr(new PrintWriter(err, true));
    line.setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF));
    return line.execute(arguments);
  }

  /** Starts a daemon that mounts nothing. */
  static final class FakeDaemon implements DaemonHandle {
    @Nullable Settings settings;
    @Nullable FsException failure;
    @Nullable Supervision supervision;
    boolean stopped;

    DaemonHandle start(Settings started, @Nullable Supervision supervised) throws FsException {
      settings = started;
      supervision = supervised;
      if (failure != null) {
        throw failure;
      }
      return this;
    }

    @Override
    public String plan() {
      return "dataset 1 file\nand more";
    }

    @Override
    public void stop() {
      stopped = true;
    }

    @Override
    public void awaitStopped() {}
  }

  private final class Context extends CliContext {
    Context() {
      super(CliRun.this.host);
    }

    @Override
    Targets targets() {
      return start == null ? super.targets() : new Targets(host(), start);
    }

    @Override
    Duration answerDeadline() {
      return answer == null ? super.answerDeadline() : answer;
    }

    @Override
    List<String> ownCommand() {
      return ownCommand;
    }

    @Override
    public List<String> supervisorCommand() {
      return supervisor;
    }

    @Override
    public int become(List<String> words) {
      became = words;
      return 1;
    }

    @Override
    Serve serve() {
      return new Serve(daemon::start, atExit::add, halts::add);
    }

    @Override
    PipeReport report(Path log) {
      PipeReport.Detachment detachment =
          new PipeReport.Detachment() {
            @Override
            public void silence(int... descriptors) {
              detached.add(Arrays.toString(descriptors));
            }

            @Override
            public void errorsTo(Path file) {
              detached.add("errors to " + file.getFileName());
            }
          };
      return new PipeReport(new PrintStream(pipe, true, StandardCharsets.UTF_8), detachment, log);
    }

    @Override
    public void atExit(Thread thread) {
      atExit.add(thread);
    }

    @Override
    public void forgetAtExit(Thread thread) {
      atExit.remove(thread);
    }

    @Override
    public boolean isTerminal(int descriptor) {
      return false;
    }

    @Override
    public boolean pause(long millis) {
      close(whenPaused);
      pauses--;
      return pauses >= 0 && super.pause(Math.min(millis, 20));
    }

    @Override
    boolean kill(long pid) {
      close(whenKilled);
      return killed.add(pid);
    }

    private void close(AutoCloseable resource) {
      try {
        resource.close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
