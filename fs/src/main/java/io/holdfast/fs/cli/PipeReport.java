package io.holdfast.fs.cli;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.io.PrintStream;

/** A daemon's report to the process that started it, and its parting from that. Not thread-safe. */
final class PipeReport implements Report {
  private static final int O_RDWR = 2;

  private final PrintStream out;

  /**
   * Reports to a pipe.
   *
   * @param out the pipe, which is this process's standard output
   */
  PipeReport(PrintStream out) {
    this.out = out;
  }

  /**
   * Leaves the terminal and its signals: what the user types there is no longer meant for this
   * process.
   */
  static void leaveTerminal() {
    // Fails only for the leader of a process group, which a child just started is not.
    LIBC.setsid();
  }

  @Override
  public void ready(String plan) {
    plan.lines().forEach(line -> out.println(PLAN + line));
    redirect(0, 2);
    out.println(READY);
    // A starter that has gone meanwhile has cleaned up nothing: then this mount stays, as if it had
    // gone a moment later.
    out.flush();
    redirect(1);
  }

  /** The start failed. */
  void failed(int exitCode, String message) {
    out.println(ERROR + exitCode + " " + message.replace('\n', ' '));
    out.flush();
  }

  private static void redirect(int... descriptors) {
    long path = Linux.scratch().path();
    Memory.putString(path, Linux.pathBytes("/dev/null"));
    int nothing = LIBC.openat(Linux.AT_FDCWD, path, O_RDWR | Linux.O_CLOEXEC, 0);
    if (nothing < 0) {
      return;
    }
    for (int descriptor : descriptors) {
      LIBC.dup2(nothing, descriptor);
    }
    LIBC.close(nothing);
  }
}
