package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * With a full /run the supervisor truncated the count of daemons, and could not write it. The next
 * daemon read 0, and took itself for the first.
 */
class SupervisionTest {
  @TempDir private Path state;

  @Test
  void takesOver_emptyCount_followsFromTheSession() throws IOException {
    Files.createFile(state.resolve("restarts"));
    assertThat(Supervision.at(state).takesOver()).isFalse();
    Files.createFile(state.resolve("session"));
    assertThat(Supervision.at(state).takesOver()).isTrue();
  }

  /** The first daemon writes the session itself, and stays the first. */
  @Test
  void takesOver_ownSession_isFalse() throws IOException {
    Supervision first = Supervision.at(state);
    Files.createFile(state.resolve("session"));
    assertThat(first.takesOver()).isFalse();
  }
}
