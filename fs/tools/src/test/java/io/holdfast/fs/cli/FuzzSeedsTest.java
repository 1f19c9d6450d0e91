package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Seeds;
import io.holdfast.fs.control.ControlRequestFuzz;
import io.holdfast.fs.origin.s3.ListingFuzz;
import io.holdfast.fs.settings.WordsFuzz;
import io.holdfast.fs.simulate.TraceFuzz;
import io.holdfast.fs.tree.TreeImageFuzz;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Inputs that fuzzing has found once, and correct examples, as they are and damaged a little.
 * packaging/fuzz/run is the long run.
 */
final class FuzzSeedsTest {
  private static final Path SEEDS = Path.of("../../packaging/fuzz/seeds");
  private static final int DAMAGED = 20;

  static Stream<Arguments> targets() {
    return Stream.of(
        target("ConfigFuzz", ConfigFuzz::fuzzerTestOneInput),
        target("ControlRequestFuzz", ControlRequestFuzz::fuzzerTestOneInput),
        target("ListingFuzz", ListingFuzz::fuzzerTestOneInput),
        target("TraceFuzz", TraceFuzz::fuzzerTestOneInput),
        target("TreeImageFuzz", TreeImageFuzz::fuzzerTestOneInput),
        target("WordsFuzz", WordsFuzz::fuzzerTestOneInput));
  }

  private static Arguments target(String name, Consumer<byte[]> target) {
    return Arguments.of(name, target);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("targets")
  void input_knownOrDamaged_isTakenOrRefused(String name, Consumer<byte[]> target)
      throws IOException {
    Random random = new Random(Seeds.next(name));
    List<Path> seeds;
    try (Stream<Path> files = Files.list(SEEDS.resolve(name))) {
      seeds = files.sorted().toList();
    }
    assertThat(seeds).isNotEmpty();
    for (Path seed : seeds) {
      byte[] bytes = Files.readAllBytes(seed);
      target.accept(bytes);
      for (int i = 0; i < DAMAGED; i++) {
        byte[] damaged = bytes.clone();
        damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(Byte.SIZE));
        target.accept(damaged);
      }
    }
  }
}
