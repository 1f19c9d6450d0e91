package io.holdfast.fs.peers;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.origin.OriginPath;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sketches as a peer tells them, who may tell anything. */
final class DatasetSketchTest {
  /** A longer path than some 500 bytes took more stack than the comparing thread has. */
  @Test
  void parse_longestPath_takesLittleStack() throws Exception {
    String path = "a b/".repeat(255) + "a bc";
    FileSample told = new FileSample(OriginPath.of(path.getBytes(UTF_8)), "1-2", "abc", "1-2");
    CompletableFuture<FileSample> parsed = new CompletableFuture<>();
    Runnable parse =
        () -> {
          try {
            parsed.complete(FileSample.parse(told.toString()));
          } catch (StackOverflowError e) {
            parsed.completeExceptionally(e);
          }
        };
    Thread thread = new Thread(null, parse, "test-small-stack", 256 << 10);
    thread.start();
    thread.join();
    assertThat(parsed).isCompletedWithValue(told);
    assertThatThrownBy(() -> FileSample.parse("a".repeat(3 * 1024 + 1) + " 1-2 abc 1-2"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "holdfast-sketch 2 a\n",
        "holdfast-sketch 1 a\n../up 1-2 abc 1-2\n",
        "holdfast-sketch 1 a\n/root 1-2 abc 1-2\n",
        "holdfast-sketch 1 a\na//b 1-2 abc 1-2\n",
        "holdfast-sketch 1 a\na%00 1-2 abc 1-2\n",
        "holdfast-sketch 1 a\na%2 1-2 abc 1-2\n",
        "holdfast-sketch 1 a\na 1-2 abc\n",
        "holdfast-sketch 1 a%zz\n",
      })
  void parse_whatIsNoSketch_isRefused(String text) {
    assertThatThrownBy(() -> DatasetSketch.parse(text))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void parse_moreFilesThanAnybodyTells_isRefused() {
    String line = "a 1-2 abc 1-2\n";
    assertThat(DatasetSketch.parse("holdfast-sketch 1 a\n" + line.repeat(32)).samples())
        .hasSize(32);
    assertThatThrownBy(() -> DatasetSketch.parse("holdfast-sketch 1 a\n" + line.repeat(33)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
