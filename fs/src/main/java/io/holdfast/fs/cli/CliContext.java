package io.holdfast.fs.cli;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
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

  PrintWriter out(@Nullable CommandSpec spec) {
    return Objects.requireNonNull(spec).commandLine().getOut();
  }

  PrintWriter err(@Nullable CommandSpec spec) {
    return Objects.requireNonNull(spec).commandLine().getErr();
  }
}
