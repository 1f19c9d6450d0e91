package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.host.FakeHost;
import io.holdfast.fs.settings.ConfigFile;
import io.holdfast.fs.settings.GivenSettings;
import io.holdfast.fs.settings.Setting;
import io.holdfast.fs.settings.SettingTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * The tables of options in CONFIGURATION.md are what the definition of mount gives, and the sample
 * file names all of them. {@code packaging/docs/make-help} writes the tables again.
 */
class ConfigurationDocumentTest {
  private static final Path DOCUMENT = Path.of("../../packaging/docs/CONFIGURATION.md");
  private static final Path SAMPLE = Path.of("../../packaging/src/main/dist/etc/sample.yaml");
  private static final Pattern TABLES =
      Pattern.compile("(?<=<!-- options -->\n).*?(?=<!-- end -->)", Pattern.DOTALL);
  private static final Pattern DEFAULT = Pattern.compile("^(.*?)\\s*\\bDefault: (.*)\\.$");
  private static final String HEAD =
      "| option | environment | file key | default | meaning |\n|---|---|---|---|---|\n";

  @TempDir Path temp;

  @Test
  void tables_ofTheDocument_areOfTheDefinition() throws IOException {
    String document = Files.readString(DOCUMENT);
    String made =
        TABLES.matcher(document).replaceFirst(Matcher.quoteReplacement("\n" + tables() + "\n"));
    if (Boolean.getBoolean("holdfast.write")) {
      Files.writeString(DOCUMENT, made);
      document = made;
    }
    assertThat(document)
        .as("%s is not up to date: run packaging/docs/make-help", DOCUMENT)
        .isEqualTo(made);
    for (Setting<?> key : SettingTable.rows()) {
      assertThat(document).as(key.name()).contains("| `" + key.variable() + "` |");
    }
  }

  /** As it is, and with every line that is commented out put in force. */
  @Test
  void sample_ofAFile_canBeReadAndNamesEveryKey() throws IOException {
    FakeHost host = new FakeHost(temp.resolve("run"));
    CliRun run = new CliRun(host);
    assertThat(run.run("config", "--check", SAMPLE.toString())).as(run.err.toString()).isZero();
    Path full = temp.resolve("full.yaml");
    Files.writeString(full, Files.readString(SAMPLE).replaceAll("(?m)^#(?=[a-z0-9-]+: )", ""));
    GivenSettings given = ConfigFile.read(full);
    List<? extends Setting<?>> keys =
        SettingTable.rows().stream().filter(key -> key != SettingTable.CONFIG).toList();
    assertThat(keys).allSatisfy(key -> assertThat(given.get(key)).as(key.name()).isPresent());
  }

  private static String tables() {
    CommandSpec mount =
        Holdfast.commandLine(new CliContext(new FakeHost(Path.of("/run"))))
            .getSubcommands()
            .get("mount")
            .getCommandSpec();
    StringBuilder text = new StringBuilder("Arguments:\n\n" + HEAD);
    for (PositionalParamSpec argument : mount.positionalParameters()) {
      String key = argument.paramLabel().toLowerCase(Locale.ROOT);
      text.append(row(argument.paramLabel(), SettingTable.find(key).orElseThrow(), argument));
    }
    for (ArgGroupSpec group : mount.argGroups()) {
      String heading = String.valueOf(group.heading()).replace("%n", "");
      text.append('\n').append(heading).append("\n\n").append(HEAD);
      for (OptionSpec option : group.options()) {
        text.append(row(name(option), MountOptions.setting(option).orElseThrow(), option));
      }
    }
    return text.toString();
  }

  private static String name(OptionSpec option) {
    String name = option.longestName();
    if (option.negatable()) {
      return name + "`, `" + name.replaceFirst("--", "--no-");
    }
    return name + " " + option.paramLabel();
  }

  private static String row(String name, Setting<?> key, ArgSpec definition) {
    String description = String.join(" ", definition.description()).replace("%%", "%");
    Matcher matcher = DEFAULT.matcher(description);
    List<String> cells = new ArrayList<>();
    cells.add("`" + name + "`");
    cells.add("`" + key.variable() + "`");
    cells.add(key == SettingTable.CONFIG ? "" : "`" + key.name() + "`");
    cells.add(matcher.matches() ? matcher.group(2) : "");
    cells.add(matcher.matches() ? matcher.group(1) : description);
    return Arrays.stream(cells.toArray(String[]::new))
        .map(cell -> cell.replace("|", "\\|"))
        .reduce("|", (line, cell) -> line + " " + cell + " |")
        .concat("\n");
  }
}
