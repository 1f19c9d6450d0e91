package io.holdfast.fs.doctor;

import io.holdfast.fs.FsException;
import io.holdfast.fs.bpf.KernelPrograms;
import java.util.List;

/**
 * Checks whether the kernel would take the programs that a daemon gives it. If it does not, what
 * they would do costs more, and works as well, so that is no warning.
 */
final class BpfProbe implements Probe {
  /** Tries programs: loads them, and does not use them. */
  interface Trial {
    /** Returns the way in which the kernel would run the one that answers. */
    String answer() throws FsException;

    /** Tries the one that tells opens. */
    void opens() throws FsException;
  }

  /** Gets ready to try. */
  @FunctionalInterface
  interface Preparation {
    Trial prepare() throws FsException;
  }

  private final Preparation preparation;

  BpfProbe() {
    this(() -> trial(KernelPrograms.prepare()));
  }

  BpfProbe(Preparation preparation) {
    this.preparation = preparation;
  }

  private static Trial trial(KernelPrograms programs) {
    return new Trial() {
      @Override
      public String answer() throws FsException {
        return programs.checkAnswer();
      }

      @Override
      public void opens() throws FsException {
        programs.checkOpens();
      }
    };
  }

  @Override
  public String name() {
    return "bpf";
  }

  @Override
  public List<Finding> run() {
    try {
      Trial trial = preparation.prepare();
      return List.of(answer(trial), opens(trial));
    } catch (FsException e) {
      return List.of(noAnswer(e), noOpens(e));
    }
  }

  private static Finding answer(Trial trial) {
    try {
      return Finding.ok(
          "the kernel can answer ioctl TCGETS by itself (%s)".formatted(trial.answer()));
    } catch (FsException e) {
      return noAnswer(e);
    }
  }

  private static Finding noAnswer(FsException reason) {
    return Finding.ok(
        "ioctl TCGETS, which Python before 3.14 asks at each 'open', is a message each: "
            + reason.getMessage());
  }

  private static Finding opens(Trial trial) {
    try {
      trial.opens();
      return Finding.ok("a program in the kernel can tell opens");
    } catch (FsException e) {
      return noOpens(e);
    }
  }

  private static Finding noOpens(FsException reason) {
    return Finding.ok(
        "opens are told by fanotify, which costs those who open more: " + reason.getMessage());
  }
}
