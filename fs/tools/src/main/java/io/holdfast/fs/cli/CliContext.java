package io.holdfast.fs.cli;

import io.holdfast.fs.linux.TerminalWidth;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/**
 * What the commands share: the machine, and the process that they run in. Tests put in their own.
 */
class CliContext {
  private final Host host;

  CliContext(Host host) {
    this.host = host;
  }

  Host host() {
    return host;
  }

  /** Returns the words that start another process of this program. */
  List<String> ownCommand() {
    return OwnCommand.words();
  }

  /** Returns what runs a daemon in this process. */
  Serve serve() {
    Consumer<Thread> atExit = Runtime.getRuntime()::addShutdownHook;
    return new Serve(DaemonHandle::real, atExit, Runtime.getRuntime()::halt);
  }

  /** Returns the pipe to the process that started this one. */
  PrintStream reportPipe() {
    return System.out;
  }

  /** Returns what parts this process from the one that started it. */
  Detachment detachment() {
    return new Detachment();
  }

  /** Runs a thread when this process is told to end. */
  void atExit(Thread thread) {
    Runtime.getRuntime().addShutdownHook(thread);
  }

  /** Takes {@link #atExit} back. */
  void forgetAtExit(Thread thread) {
    try {
      Runtime.getRuntime().removeShutdownHook(thread);
    } catch (IllegalStateException e) {
      // It is running already.
    }
  }

  /** Returns the words that start a supervisor, but for its argument. */
  List<String> supervisorCommand() {
    return Supervisor.command();
  }

  /** Becomes another program; returns only where that fails, with an error number. */
  int become(List<String> words) {
    return Supervisor.become(words);
  }

  /** Waits; tells whether to go on. */
  boolean pause(long millis) {
    try {
      Thread.sleep(millis);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Kills a process that runs this program; tells whether that could be done. */
  boolean kill(long pid) {
    return ProcessHandle.of(pid)
        .filter(process -> OwnCommand.isOurs(pid))
        .map(ProcessHandle::destroyForcibly)
        .orElse(false);
  }

  /** Returns the words of the command that runs. */
  ParseResult parsed(@Nullable CommandSpec spec) {
    return Objects.requireNonNull(spec).commandLine().getParseResult();
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

  /** Returns the columns that the terminal of the error output has now; 0 where it is none. */
  int errColumns() {
    return isTerminal(2) ? TerminalWidth.of(2) : 0;
  }

  /** Tells whether a descriptor of this process is a terminal. */
  boolean isTerminal(int descriptor) {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
      return target.startsWith("/dev/pts/")
          || target.startsWith("/dev/tty")
          || target.equals("/dev/console");
    } catch (IOException e) {
      return false;
    }
  }

  /** Tells whether a terminal sends its Ctrl-C to this process. */
  boolean isInForeground() {
    try {
      String stat = Files.readString(Path.of("/proc/self/stat"));
      // behind the command's name: state, parent, group, session, terminal, the terminal's group
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", 7);
      return fields[2].equals(fields[5]);
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns the colours for what is printed. */
  Colors colors() {
    return Colors.of(isTerminal(1), System.getenv());
  }

  PrintWriter out(@Nullable CommandSpec spec) {
    return Objects.requireNonNull(spec).commandLine().getOut();
  }

  PrintWriter err(@Nullable CommandSpec spec) {
    return Objects.requireNonNull(spec).commandLine().getErr();
  }
}
