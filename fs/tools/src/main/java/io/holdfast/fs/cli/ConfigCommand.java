package io.holdfast.fs.cli;

import io.holdfast.fs.client.DaemonClient;
import io.holdfast.fs.control.ConfigText;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.settings.request.ConfigCheck;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code holdfast config}: shows the settings of a mount, or checks those that it would have. */
@Command(
    name = "config",
    sortOptions = false,
    customSynopsis = {
      "holdfast config [--json] [MOUNTPOINT|NAME]",
      "       holdfast config [--json] --check FILE|NAME"
    },
    header = "Show the settings of a mount, and where each came from.",
    description = {
      "",
      "A setting comes from an option of 'holdfast mount', or else from the environment, from the"
          + " mount's file, or is a default. MOUNTPOINT/.holdfast/config has the same.",
      "",
      "With --check nothing need be mounted: it reads the file, says what is wrong in it (exit code"
          + " 2), or shows the settings that 'holdfast mount --name NAME' would take in this"
          + " environment. Directories and other nodes are not looked at."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast config",
      "  holdfast config --check imagenet             # /etc/holdfast/imagenet.yaml",
      "  holdfast config --check ./new.yaml",
      "  holdfast config data-imagenet --json | jq '.[] | select(.setting == \"pin\")'"
    })
final class ConfigCommand implements Callable<Integer> {
  private final CliContext context;

  @Mixin private final MountArgument mount = new MountArgument();

  @Option(
      names = "--check",
      paramLabel = "FILE|NAME",
      description = "Check a file, or that of a mount's name, instead of asking a mount.")
  private @Nullable String check;

  @Mixin private final CommandOutput output = new CommandOutput();

  ConfigCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    List<Map<String, Object>> rows = check == null ? running() : checked(check);
    if (output.isJson()) {
      output.json(rows);
    } else {
      output.text(ConfigText.of(rows));
    }
    return 0;
  }

  private List<Map<String, Object>> running() {
    return new DaemonClient(mount.daemon(context.targets()), context.answerDeadline()).config();
  }

  private List<Map<String, Object>> checked(String file) {
    if (mount.isGiven()) {
      throw CliException.usage("--check and a mount exclude each other: give one of them");
    }
    ConfigCheck.Result result = new ConfigCheck(context.host()).check(file);
    result.notes().forEach(output::note);
    return result.rows();
  }
}
