package io.holdfast.fs.start;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.units.Visible;
import java.io.PrintStream;
import java.nio.file.Path;

/** A daemon's report to the process that started it. Not thread-safe. */
public final class PipeReport implements Report {
  private final PrintStream out;
  private final Detachment detachment;
  private final Path log;

  /**
   * Reports to a pipe.
   *
   * @param out the pipe, which is this process's standard output
   * @param detachment closes it in the end
   * @param log where the error output leads then
   */
  public PipeReport(PrintStream out, Detachment detachment, Path log) {
    this.out = out;
    this.log = log;
    this.detachment = detachment;
  }

  @Override
  public void ready(String plan) {
    plan.lines().forEach(line -> out.println(PLAN + line));
    detachment.silence(0);
    detachment.errorsTo(log);
    out.println(READY);
    out.flush();
    detachment.silence(1);
  }

  /** The start failed. */
  public void failed(int exitCode, String message) {
    out.println(ERROR + exitCode + " " + Visible.of(message));
    out.flush();
  }

  /** A daemon's parting from the process that started it. Tests put in their own. */
  public static class Detachment {
    private static final int O_WRONLY = 1;
    private static final int O_RDWR = 2;
    private static final int O_APPEND = 0x400;

    /** Makes descriptors lead to nothing. */
    public void silence(int... descriptors) {
      redirect("/dev/null", O_RDWR, descriptors);
    }

    /** Makes the error output, where the virtual machine reports its own crash, lead to the log. */
    public void errorsTo(Path log) {
      redirect(log.toString(), O_WRONLY | O_APPEND, 2);
    }

    private static void redirect(String file, int flags, int... descriptors) {
      long path = Linux.scratch().path();
      Memory.putString(path, Linux.pathBytes(file));
      int to = LIBC.openat(Linux.AT_FDCWD, path, flags | Linux.O_CLOEXEC, 0);
      if (to < 0) {
        return;
      }
      for (int descriptor : descriptors) {
        LIBC.dup2(to, descriptor);
      }
      LIBC.close(to);
    }
  }
}
