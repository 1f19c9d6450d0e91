package io.holdfast.fs.doctor;

import java.io.IOException;
import java.util.List;

/**
 * Checks one thing. A child process does what may hang, or it has a deadline. {@link ProbeRunner}
 * gives up a probe that hangs all the same.
 */
interface Probe {
  /** Returns the name of the checked thing, in one word or two. */
  String name();

  /** Runs the check; returns no findings if there is nothing to say. */
  List<Finding> run() throws IOException, InterruptedException;
}
