package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.host.FakeHost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/**
 * The output of {@code --help} of every command equals the file of its name in {@code help}, so
 * that nobody changes it unseen. After an intended change, {@code packaging/docs/make-help} writes
 * them all again.
 */
class HelpTest {
  private static final Path FILES = Path.of("src/test/resources/help");
  private static final boolean WRITE = Boolean.getBoolean("holdfast.write");

  @TempDir Path temp;

  static Stream<List<String>> commands() {
    List<List<String>> commands = new ArrayList<>();
    collect(
        Holdfast.commandLine(new CliContext(new FakeHost(Path.of("/run")))), List.of(), commands);
    return commands.stream();
  }

  private static void collect(CommandLine line, List<String> words, List<List<String>> commands) {
    commands.add(words);
    line.getSubcommands()
        .forEach(
            (name, command) -> {
              List<String> all = new ArrayList<>(words);
              all.add(name);
              collect(command, all, commands);
            });
  }

  private static String file(List<String> command) {
    return command.isEmpty() ? "holdfast.txt" : String.join("-", command) + ".txt";
  }

  @ParameterizedTest
  @MethodSource("commands")
  void help_ofEachCommand_isThatOfItsFile(List<String> command) throws IOException {
    CliRun run = new CliRun(new FakeHost(temp.resolve("run")));
    List<String> words = new ArrayList<>(command);
    words.add("--help");
    assertThat(run.run(words.toArray(String[]::new))).isZero();
    Path file = FILES.resolve(file(command));
    if (WRITE) {
      Files.createDirectories(FILES);
      Files.writeString(file, run.out.toString());
    }
    String again = "if this change is meant, run packaging/docs/make-help";
    assertThat(file).as(again).exists();
    assertThat(run.out.toString()).as("%s: %s", file, again).isEqualTo(Files.readString(file));
  }

  @Test
  void files_ofHelp_areOfCommandsThatThereAre() throws IOException {
    List<String> known = commands().map(HelpTest::file).toList();
    try (Stream<Path> files = Files.list(FILES)) {
      assertThat(files).extracting(file -> String.valueOf(file.getFileName())).isSubsetOf(known);
    }
  }
}
