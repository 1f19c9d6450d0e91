package io.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks that the tests and scripts that RELIABILITY.md names exist. */
class ReliabilityDocumentTest {
  private static final Pattern METHOD = Pattern.compile("`([A-Z][A-Za-z0-9]+)\\.(\\w+)`");
  private static final Pattern SCRIPT = Pattern.compile("`(packaging/[\\w/]+)`");
  private static final int FEWEST_METHODS = 20;

  @Test
  void tests_thatAreNamed_areThere() throws IOException {
    Map<String, Path> sources;
    try (Stream<Path> own = Files.walk(Path.of("src/test/java"));
        Stream<Path> others = Files.walk(Path.of("../fs"))) {
      sources =
          Stream.concat(own, others)
              .filter(file -> file.toString().matches(".*src/test/java/.*\\.java"))
              .collect(
                  Collectors.toMap(
                      file -> file.getFileName().toString().replace(".java", ""),
                      file -> file,
                      (one, other) -> one));
    }
    String document = Files.readString(Path.of("docs/RELIABILITY.md"));
    assertThat(METHOD.matcher(document).results()).hasSizeGreaterThan(FEWEST_METHODS);
    for (MatchResult named : METHOD.matcher(document).results().toList()) {
      assertThat(sources).containsKey(named.group(1));
      if (!named.group(2).equals("java")) {
        assertThat(sources.get(named.group(1))).content().contains("void " + named.group(2) + "(");
      }
    }
    assertThat(SCRIPT.matcher(document).results()).isNotEmpty();
    for (MatchResult named : SCRIPT.matcher(document).results().toList()) {
      assertThat(Path.of("..", named.group(1))).isExecutable();
    }
  }
}
