package io.holdfast.fs.daemon;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is to be done to end a mount: the opposite of what was done to begin it, the last first. For
 * one thread at a time.
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

  /** Does all of it; once. */
  void run() {
    while (!steps.isEmpty()) {
      steps.pop().run();
    }
  }
}
