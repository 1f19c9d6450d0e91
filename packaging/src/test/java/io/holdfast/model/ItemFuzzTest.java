package io.holdfast.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** The short form of the fuzzing that packaging/fuzz/run does with {@link ItemFuzz}. */
final class ItemFuzzTest {
  private static final Path SEEDS = Path.of("fuzz/seeds/ItemFuzz");
  private static final int INPUTS = 3_000;
  private static final int LONGEST = 200;

  @AfterAll
  static void end() {
    ItemFuzz.end();
  }

  @Test
  void inputs_knownAndMadeUp_getTheFilesBytesOrNone() throws IOException {
    long seed = System.nanoTime();
    System.out.println("ItemFuzzTest: seed " + seed);
    Random random = new Random(seed);
    List<Path> seeds;
    try (Stream<Path> files = Files.list(SEEDS)) {
      seeds = files.sorted().toList();
    }
    assertThat(seeds).isNotEmpty();
    for (Path file : seeds) {
      ItemFuzz.fuzzerTestOneInput(Files.readAllBytes(file));
    }
    for (int i = 0; i < INPUTS; i++) {
      byte[] bytes = new byte[random.nextInt(LONGEST)];
      random.nextBytes(bytes);
      ItemFuzz.fuzzerTestOneInput(bytes);
    }
  }
}
