package io.holdfast.fs.doctor;

import io.holdfast.fs.FsException;
import io.holdfast.fs.bpf.TerminalAnswer;
import java.util.List;

/**
 * Checks whether the kernel would take the program that answers TCGETS. If it does not, only
 * programs that ask are slower, so that is no warning.
 */
final class BpfProbe implements Probe {
  /** Tries to load the program. */
  @FunctionalInterface
  interface Attempt {
    /** Returns the way in which the kernel would run it. */
    String load() throws FsException;
  }

  private final Attempt attempt;

  BpfProbe() {
    this(TerminalAnswer::check);
  }

  BpfProbe(Attempt attempt) {
    this.attempt = attempt;
  }

  @Override
  public String name() {
    return "bpf";
  }

  @Override
  public List<Finding> run() {
    try {
      return List.of(
          Finding.ok(
              "the kernel can answer ioctl TCGETS by itself (%s)".formatted(attempt.load())));
    } catch (FsException e) {
      return List.of(
          Finding.ok(
              "ioctl TCGETS, which Python before 3.14 asks at each 'open', is a message each: "
                  + e.getMessage()));
    }
  }
}
