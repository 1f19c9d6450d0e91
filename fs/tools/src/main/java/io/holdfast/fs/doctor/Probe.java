package io.holdfast.fs.doctor;

import java.io.IOException;
import java.util.List;

/**
 * Looks at one thing. What may hang is done by a child process or has a deadline of its own; a
 * probe that hangs all the same is given up by {@link ProbeRunner}.
 */
interface Probe {
  /** Returns what it looks at, in one word or two. */
  String name();

  /** Looks; nothing where there is nothing to say. */
  List<Finding> run() throws IOException, InterruptedException;
}
