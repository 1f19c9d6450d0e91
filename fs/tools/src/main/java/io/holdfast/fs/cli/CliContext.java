package io.holdfast.fs.cli;

import io.holdfast.fs.linux.Exec;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.linux.SystemCallFilter;
import io.holdfast.fs.linux.TerminalWidth;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/**
 * What the commands share: the machine, and the process that they run in. Tests put in their own.
 */
class CliContext {
  /** What parts options from the words of a command. */
  static final String END_OF_OPTIONS = "--";

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
    return Exec.become(words.stream().map(Linux::pathBytes).toList(), Set.of());
  }

  /**
   * Puts this thread, and what it becomes, under a filter of system calls; returns 0, or the error
   * number with which the kernel refused.
   */
  int filterSystemCalls() {
    return SystemCallFilter.install();
  }

  /**
   * Becomes the command that this process's last words are, with all that this process had from its
   * caller; returns only where that fails, with an error number.
   *
   * @param words how many words the command has
   */
  int becomeCommand(int words) {
    Caller caller = Caller.of(System.getenv());
    if (caller != null) {
      caller.restore();
    }
    Procfs.host().status(Procfs.SELF).mask("SigBlk").ifPresent(Exec::setBlockedSignals);
    List<byte[]> all;
    try {
      all = Procfs.ownWords();
    } catch (IOException e) {
      throw CliException.couldNot("/proc/self cannot be read: mount /proc", e);
    }
    return Exec.become(
        all.subList(all.size() - words, all.size()),
        caller == null ? Set.of() : caller.descriptors());
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
