package io.holdfast.fs.cli;

import io.holdfast.fs.host.CliException;
import io.holdfast.fs.manual.Completions;
import io.holdfast.fs.manual.Completions.Shell;
import io.holdfast.fs.manual.Definition;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

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
final class CompletionCommand implements Callable<Integer> {
  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(index = "0", paramLabel = "bash|zsh|fish", description = "Which shell.")
  private String shell = "";

  CompletionCommand(CliContext context) {
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
