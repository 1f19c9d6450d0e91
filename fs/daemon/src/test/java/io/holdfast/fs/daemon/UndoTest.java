package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of {@link Undo}. */
final class UndoTest {
  private final Undo undo = new Undo();
  private final List<String> ended = new ArrayList<>();

  /**
   * A full heap in one step was the end of all: the mount stayed, and whoever unmounted it again
   * waited for ever.
   */
  @Test
  void run_stepsThatFail_keepNoOtherStepFromRunning() {
    undo.push(() -> ended.add("first"));
    undo.push(
        () -> {
          throw new OutOfMemoryError("made for the test");
        });
    AutoCloseable unused =
        undo.closing(
            () -> {
              throw new IOException("made for the test");
            });
    undo.push(() -> ended.add("last"));

    undo.run();

    assertThat(ended).containsExactly("last", "first");
  }
}
