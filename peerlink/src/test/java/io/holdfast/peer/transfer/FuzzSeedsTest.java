package io.holdfast.peer.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks the seeds of the fuzzing, cut off at every byte. packaging/fuzz/run is the long run. */
final class FuzzSeedsTest {
  private static final Path SEEDS = Path.of("../packaging/fuzz/seeds");

  private static void runAll(String name, Consumer<byte[]> target) throws IOException {
    List<Path> seeds;
    try (Stream<Path> files = Files.list(SEEDS.resolve(name))) {
      seeds = files.sorted().toList();
    }
    assertThat(seeds).isNotEmpty();
    for (Path seed : seeds) {
      byte[] bytes = Files.readAllBytes(seed);
      for (int length = 1; length <= bytes.length; length++) {
        target.accept(Arrays.copyOf(bytes, length));
      }
    }
  }

  @Test
  void request_cutOffAnywhere_isAnsweredOrRefused() throws IOException {
    runAll("RequestFuzz", RequestFuzz::fuzzerTestOneInput);
  }

  @Test
  void answer_cutOffAnywhere_isTakenOrAFault() throws IOException {
    runAll("AnswerFuzz", AnswerFuzz::fuzzerTestOneInput);
  }
}
