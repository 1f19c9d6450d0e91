package io.holdfast.fs.daemon;

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

  private final Deque<Runnable> steps = new ArrayDeque<>();

  /** Adds a step. */
  void push(Runnable step) {
    steps.push(step);
  }

  /** Adds the end of a part, and returns the part. */
  <T extends AutoCloseable> T closing(T part) {
    push(
        () -> {
          try {
            part.close();
          } catch (Exception e) {
            log.warn("while stopping: {}", e.toString(), e);
          }
        });
    return part;
  }

  /** Runs all steps, each once. */
  void run() {
    while (!steps.isEmpty()) {
      steps.pop().run();
    }
  }
}
