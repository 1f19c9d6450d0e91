package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.host.FakeHost;
import io.holdfast.fs.manual.Definition;
import io.holdfast.fs.manual.ManualPages;
import io.holdfast.fs.manual.SampleFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The pages of the manual have what the help has. */
class ManualTest {
  private static final CommandLine TOP =
      Holdfast.commandLine(new CliContext(new FakeHost(Path.of("/nowhere"))));
  private static final Definition PROGRAM = Definition.of(TOP);
  private static final Map<String, String> PAGES = ManualPages.of(PROGRAM, "1.2.3");

  @TempDir Path folder;

  static List<String> commands() {
    return TOP.getSubcommands().values().stream()
        .filter(command -> !command.getCommandSpec().usageMessage().hidden())
        .map(CommandLine::getCommandName)
        .toList();
  }

  private static String typed(String text) {
    return text.replace("-", "\\-");
  }

  @ParameterizedTest
  @MethodSource("commands")
  void command_hasAPageWithAllOptionsAndArguments(String name) {
    String page = PAGES.get("holdfast-" + name + ".1");
    assertThat(page).contains(".SH \"SYNOPSIS\"").contains(".SH \"EXAMPLES\"");
    CommandLine command = TOP.getSubcommands().get(name);
    for (OptionSpec option : command.getCommandSpec().options()) {
      for (String each : option.names()) {
        if (!option.hidden()) {
          assertThat(page).as(each).containsPattern("\\.B \"[^\"]*" + regex(typed(each)));
        }
      }
    }
    for (ArgSpec argument : command.getCommandSpec().positionalParameters()) {
      assertThat(page).contains(".B \"" + typed(argument.paramLabel()) + "\"");
    }
    assertThat(PAGES.get("holdfast.1")).contains(".B \"" + name + "\"");
  }

  @Test
  void optionThatCanBeTakenBack_isNamedBeforeItsOpposite() {
    assertThat(PAGES.get("holdfast-mount.1"))
        .contains(typed("\"--foreground, --no-foreground\""))
        .doesNotContain(typed("\"--no-"));
  }

  private static String regex(String text) {
    return java.util.regex.Pattern.quote(text) + "[=\", ]";
  }

  @Test
  void file_hasEveryKey() {
    String sample = SampleFile.of(PROGRAM);
    for (OptionSpec option : TOP.getSubcommands().get("mount").getCommandSpec().options()) {
      String key = option.longestName().substring(2);
      boolean elsewhere = List.of("help", "config", "name", "foreground").contains(key);
      if (!option.hidden() && !elsewhere) {
        assertThat(PAGES.get("holdfast.yaml.5")).contains(".B \"" + typed(key) + ": ");
        assertThat(sample).contains("\n#" + key + ": ");
      }
    }
    assertThat(sample.lines()).allMatch(line -> line.isEmpty() || line.startsWith("#"));
    assertThat(sample.lines()).allMatch(line -> line.length() < 120);
  }

  @Test
  void pages_haveNoLineThatIsARequestByAccident() {
    List<String> requests = List.of("TH", "SH", "SS", "PP", "TP", "B", "RS", "RE", "nf", "fi");
    PAGES.forEach(
        (name, page) ->
            assertThat(page.lines().filter(line -> line.startsWith(".") || line.startsWith("'")))
                .as(name)
                .allMatch(line -> requests.contains(word(line)) || line.matches("\\.(nh|ad l)")));
    assertThat(String.join("", PAGES.values())).doesNotContain("%n").doesNotContain("%%");
  }

  private static String word(String line) {
    return line.substring(1).split(" ", 2)[0];
  }

  @Test
  void manual_writesAllPages() throws IOException {
    CliRun run = new CliRun(new FakeHost(folder));
    Path to = folder.resolve("man");
    assertThat(run.run("manual", to.toString())).isZero();
    try (var files = Files.list(to)) {
      assertThat(files.map(file -> String.valueOf(file.getFileName())))
          .containsAll(PAGES.keySet())
          .contains("NAME.yaml.sample");
    }
  }
}
