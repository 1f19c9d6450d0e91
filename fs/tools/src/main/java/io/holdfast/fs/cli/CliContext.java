package io.holdfast.fs.cli;

import io.holdfast.fs.client.Targets;
import io.holdfast.fs.daemon.Supervision;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.host.OwnProcess;
import io.holdfast.fs.settings.SettingsDocument;
import io.holdfast.fs.start.DaemonHandle;
import io.holdfast.fs.start.DaemonProcess;
import io.holdfast.fs.start.PipeReport;
import io.holdfast.fs.start.Serve;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/**
 * The process of a command, with the words that it was given; it may become a daemon. Tests put in
 * their own.
 */
class CliContext extends OwnProcess {
  /** What parts options from the words of a command. */
  static final String END_OF_OPTIONS = "--";

  private static final Duration ANSWER_DEADLINE = Duration.ofSeconds(5);

  CliContext(Host host) {
    super(host);
  }

  /** Returns what finds the daemon that the user means. */
  Targets targets() {
    return new Targets(host());
  }

  /** Returns how long a daemon may take to answer what needs no work of it. */
  Duration answerDeadline() {
    return ANSWER_DEADLINE;
  }

  /** Returns the words that start another process of this program. */
  List<String> ownCommand() {
    return JavaCommand.own();
  }

  /** Returns what runs a daemon in this process. */
  Serve serve() {
    Consumer<Thread> atExit = Runtime.getRuntime()::addShutdownHook;
    return new Serve(DaemonHandle::real, atExit, Runtime.getRuntime()::halt);
  }

  /**
   * Returns the report to the process that started this one.
   *
   * @param log where the error output leads in the end
   */
  PipeReport report(Path log) {
    return new PipeReport(System.out, new PipeReport.Detachment(), log);
  }

  /** Returns this process as the daemon of a mount. */
  DaemonProcess daemonProcess(SettingsDocument document, @Nullable Supervision supervision) {
    return new DaemonProcess(
        serve(), report(document.log()), host().environment(), document, supervision);
  }

  /** Kills a process that runs this program; tells whether that could be done. */
  boolean kill(long pid) {
    return ProcessHandle.of(pid)
        .filter(process -> JavaCommand.isOurs(pid))
        .map(ProcessHandle::destroyForcibly)
        .orElse(false);
  }

  /** Returns the words of the command that runs. */
  ParseResult parsed(@Nullable CommandSpec spec) {
    return Objects.requireNonNull(spec).commandLine().getParseResult();
  }

  /** Returns the words behind the first {@code --}: a command of the user; empty without one. */
  List<String> commandBehindOptions(@Nullable CommandSpec spec) {
    List<String> all = parsed(spec).originalArgs();
    int end = all.indexOf(END_OF_OPTIONS);
    return end < 0 ? List.of() : all.subList(end + 1, all.size());
  }

  /**
   * Refuses an option that is given twice. For options in groups picocli does not do that, and
   * would forget the others of the group.
   */
  void refuseRepeatedOptions(@Nullable CommandSpec spec) {
    for (OptionSpec option : parsed(spec).matchedOptions()) {
      if (!option.isMultiValue() && option.stringValues().size() > 1) {
        throw CliException.usage(option.longestName() + " is given more than once: give it once");
      }
    }
  }

  PrintWriter out(@Nullable CommandSpec spec) {
    return Objects.requireNonNull(spec).commandLine().getOut();
  }

  PrintWriter err(@Nullable CommandSpec spec) {
    return Objects.requireNonNull(spec).commandLine().getErr();
  }
}
