package io.holdfast.fs.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.daemon.Version;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.manual.Completions;
import io.holdfast.fs.manual.Completions.Shell;
import io.holdfast.fs.manual.Definition;
import io.holdfast.fs.manual.ManualPages;
import io.holdfast.fs.manual.SampleFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The commands about the program itself: its version, its completions and its manual. */
final class ProgramCommands {
  private ProgramCommands() {}

  /** {@code holdfast version}. */
  @Command(
      name = "version",
      customSynopsis = "holdfast version [--json]",
      header = "Print the version.",
      optionListHeading = "%nOptions:%n",
      footerHeading = "%nExamples:%n",
      footer = {
        "  holdfast version",
        "  holdfast --version",
        "  holdfast version --json | jq -r .version"
      })
  static final class ShowVersion implements Callable<Integer> {
    @Mixin private final CommandOutput output = new CommandOutput();

    @Override
    public Integer call() throws IOException {
      output.text((output.isJson() ? JSON.std.asString(facts()) : text()) + "\n");
      return 0;
    }

    private static Map<String, String> facts() {
      Map<String, String> facts = new LinkedHashMap<>();
      facts.put("version", Version.VERSION);
      facts.put("java", System.getProperty("java.version"));
      facts.put("system", System.getProperty("os.name"));
      facts.put("kernel", System.getProperty("os.version"));
      facts.put("architecture", System.getProperty("os.arch"));
      return facts;
    }

    static String text() {
      Map<String, String> facts = facts();
      return "holdfast %s (Java %s, %s %s)"
          .formatted(
              facts.get("version"), facts.get("java"), facts.get("system"), facts.get("kernel"));
    }
  }

  /** {@code holdfast completion}: prints what makes a shell complete the commands. */
  @Command(
      name = "completion",
      customSynopsis = "holdfast completion bash|zsh|fish",
      header = "Print a script with which a shell completes commands and options.",
      description = {
        "",
        "It also completes values that can be told in advance, and the names of running mounts. The"
            + " Debian package has installed it for all three."
      },
      parameterListHeading = "%nArguments:%n",
      optionListHeading = "%nOptions:%n",
      footerHeading = "%nExamples:%n",
      footer = {
        "  source <(holdfast completion bash)                   # for this shell",
        "  holdfast completion bash > ~/.local/share/bash-completion/completions/holdfast",
        "  holdfast completion zsh > \"${fpath[1]}/_holdfast\"",
        "  holdfast completion fish > ~/.config/fish/completions/holdfast.fish"
      })
  static final class Completion implements Callable<Integer> {
    private final CliContext context;

    @Spec private @Nullable CommandSpec spec;

    @Parameters(index = "0", paramLabel = "bash|zsh|fish", description = "Which shell.")
    private String shell = "";

    Completion(CliContext context) {
      this.context = context;
    }

    @Override
    public Integer call() {
      Definition program = Definition.of(Objects.requireNonNull(spec).root().commandLine());
      PrintWriter out = context.out(spec);
      out.print(Completions.of(program, chosen()));
      out.flush();
      return 0;
    }

    private Shell chosen() {
      for (Shell each : Shell.values()) {
        if (each.name().toLowerCase(Locale.ROOT).equals(shell)) {
          return each;
        }
      }
      throw CliException.usage(
          "'" + shell + "' is no shell that is known here: choose one of bash, zsh, fish");
    }
  }

  /**
   * {@code holdfast manual}, for the build of packages: writes the pages of the manual and a sample
   * of a mount's file.
   */
  @Command(
      name = Manual.NAME,
      hidden = true,
      customSynopsis = "holdfast manual DIRECTORY",
      header = "Write the pages of the manual.",
      footerHeading = "%nExamples:%n",
      footer = "  holdfast manual /tmp/manual && man -l /tmp/manual/holdfast-mount.1")
  static final class Manual implements Callable<Integer> {
    static final String NAME = "manual";

    @Spec private @Nullable CommandSpec spec;

    @Parameters(index = "0", paramLabel = "DIRECTORY", description = "Where to; made if missing.")
    private Path directory = Path.of("");

    @Override
    public Integer call() throws IOException {
      Definition program = Definition.of(Objects.requireNonNull(spec).root().commandLine());
      Files.createDirectories(directory);
      for (Map.Entry<String, String> page : ManualPages.of(program, Version.VERSION).entrySet()) {
        Files.writeString(directory.resolve(page.getKey()), page.getValue());
      }
      Files.writeString(directory.resolve("NAME.yaml.sample"), SampleFile.of(program));
      return 0;
    }
  }
}
