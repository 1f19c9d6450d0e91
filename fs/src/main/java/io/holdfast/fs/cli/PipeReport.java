package io.holdfast.fs.cli;

import java.io.PrintStream;

/** A daemon's report to the process that started it. Not thread-safe. */
final class PipeReport implements Report {
  private final PrintStream out;
  private final Detachment detachment;

  /**
   * Reports to a pipe.
   *
   * @param out the pipe, which is this process's standard output
   * @param detachment closes it in the end
   */
  PipeReport(PrintStream out, Detachment detachment) {
    this.out = out;
    this.detachment = detachment;
  }

  @Override
  public void ready(String plan) {
    plan.lines().forEach(line -> out.println(PLAN + line));
    detachment.silence(0, 2);
    out.println(READY);
    out.flush();
    detachment.silence(1);
  }

  /** The start failed. */
  void failed(int exitCode, String message) {
    out.println(ERROR + exitCode + " " + message.replace('\n', ' '));
    out.flush();
  }
}
