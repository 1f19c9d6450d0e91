package io.holdfast.fs.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ConfigText;
import io.holdfast.fs.control.ControlClient;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.units.Visible;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

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
  private static final Duration DEADLINE = Duration.ofSeconds(5);

  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "MOUNTPOINT|NAME",
      description = "Which mount. Default: the only one.")
  private @Nullable String target;

  @Option(
      names = "--check",
      paramLabel = "FILE|NAME",
      description = "Check a file, or that of a mount's name, instead of asking a mount.")
  private @Nullable String check;

  @Option(names = "--json", description = "As a JSON array.")
  private boolean json;

  ConfigCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    List<Map<String, Object>> rows = check == null ? running() : checked(check);
    PrintWriter out = context.out(spec);
    if (json) {
      out.println(Visible.json(JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(rows)));
    } else {
      out.print(ConfigText.of(rows));
    }
    out.flush();
    return 0;
  }

  private List<Map<String, Object>> running() throws FsException {
    Targets targets = new Targets(context.host());
    RunningDaemon daemon = target == null ? targets.only() : targets.get(target);
    try {
      return new ControlClient(daemon.socket(), DEADLINE).config();
    } catch (FsException e) {
      throw DaemonTrouble.explain(e, daemon);
    }
  }

  private List<Map<String, Object>> checked(String file) {
    if (target != null) {
      throw CliException.usage("--check and a mount exclude each other: give one of them");
    }
    ConfigCheck.Result result = new ConfigCheck(context.host()).check(file);
    PrintWriter err = context.err(spec);
    result.notes().forEach(note -> err.println("holdfast: " + Visible.of(note)));
    err.flush();
    return result.rows();
  }
}
