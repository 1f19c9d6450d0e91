package io.holdfast.fs.daemon;

import io.holdfast.fs.OutOfMemory;
import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The steps that end a mount: they undo the steps of its start, the last one first. One thread at a
 * time may use it.
 */
final class Undo {
  private static final Logger log = LoggerFactory.getLogger(Undo.class);

  private final Deque<AutoCloseable> steps = new ArrayDeque<>();

  /** Adds a step. */
  void push(Runnable step) {
    steps.push(step::run);
  }

  /** Adds the end of a part, and returns the part. */
  <T extends AutoCloseable> T closing(T part) {
    steps.push(part);
    return part;
  }

  /** Runs all steps, each once, whatever one of them ends in. */
  void run() {
    while (!steps.isEmpty()) {
      AutoCloseable step = steps.pop();
      try {
        step.close();
      } catch (Throwable e) { // the steps behind this one would never run
        OutOfMemory.tell(log, "while stopping", e);
      }
    }
  }
}
