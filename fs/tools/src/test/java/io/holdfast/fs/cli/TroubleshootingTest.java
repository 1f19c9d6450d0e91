package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.host.FakeHost;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** TROUBLESHOOTING.md and README.md name what there is, and the first has what the log says. */
class TroubleshootingTest {
  private static final Path DOCUMENT = Path.of("../../packaging/docs/TROUBLESHOOTING.md");
  private static final Pattern COMMAND = Pattern.compile("(?:['`|]|^|\\n)holdfast ([a-z]+)");
  private static final Pattern OPTION = Pattern.compile("(?<![\\w-])(--[a-z][a-z0-9-]+)");
  private static final Pattern LOGGED =
      Pattern.compile("(?i)\\blog\\.(?:warn|error)\\(\\s*\"([^\"]+)\"");

  /** Options of docker, systemctl and packaging/bench/training. */
  private static final Set<String> OTHERS = Set.of("--device", "--cap-add", "--now", "--record");

  @ParameterizedTest
  @ValueSource(strings = {"../../README.md", "../../packaging/docs/TROUBLESHOOTING.md"})
  void commandsAndOptions_thatAreNamed_exist(Path document) throws IOException {
    CommandLine top = Holdfast.commandLine(new CliContext(new FakeHost(Path.of("/none"))));
    Set<String> options = new HashSet<>(OTHERS);
    for (CommandLine command : top.getSubcommands().values()) {
      command.getCommandSpec().options().forEach(of -> options.addAll(List.of(of.names())));
    }
    String text = Files.readString(document);
    assertThat(found(COMMAND, text)).isNotEmpty().isSubsetOf(top.getSubcommands().keySet());
    assertThat(found(OPTION, text)).isNotEmpty().isSubsetOf(options);
  }

  @Test
  void warningsAndErrors_ofTheLog_areAllThere() throws IOException {
    String document = Files.readString(DOCUMENT);
    Set<String> logged = new TreeSet<>();
    for (String module :
        List.of(
            "../base",
            "../figures",
            "../core",
            "../s3",
            "../bindings",
            "../daemon",
            ".",
            "../../peerlink")) {
      try (Stream<Path> files = Files.walk(Path.of(module, "src/main/java"))) {
        files
            .filter(file -> file.toString().endsWith(".java"))
            .forEach(file -> logged.addAll(found(LOGGED, read(file))));
      }
    }
    assertThat(logged).isNotEmpty();
    assertThat(logged.stream().filter(line -> !document.contains(longestPiece(line))))
        .as("what the log says, but %s does not", DOCUMENT)
        .isEmpty();
  }

  /** Returns the longest text between the places for values. */
  private static String longestPiece(String line) {
    return Stream.of(line.split("\\{}", -1))
        .map(piece -> piece.replaceAll("^[\\s:;,(]+|[\\s:;,(]+$", ""))
        .max(Comparator.comparingInt(String::length))
        .orElseThrow();
  }

  private static Set<String> found(Pattern pattern, String text) {
    Set<String> found = new TreeSet<>();
    Matcher matcher = pattern.matcher(text);
    while (matcher.find()) {
      found.add(matcher.group(1));
    }
    return found;
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
