package io.holdfast.fs.cli;

import io.holdfast.fs.units.Visible;
import java.io.PrintStream;
import java.nio.file.Path;

/** A daemon's report to the process that started it. Not thread-safe. */
final class PipeReport implements Report {
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
  PipeReport(PrintStream out, Detachment detachment, Path log) {
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
  void failed(int exitCode, String message) {
    out.println(ERROR + exitCode + " " + Visible.of(message));
    out.flush();
  }
}
