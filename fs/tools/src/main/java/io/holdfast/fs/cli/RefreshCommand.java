package io.holdfast.fs.cli;

import io.holdfast.fs.client.DaemonClient;
import io.holdfast.fs.client.Targets;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.units.Human;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code holdfast refresh}: makes a mount ask its source anew. */
@Command(
    name = "refresh",
    customSynopsis = "holdfast refresh MOUNTPOINT|NAME [PATH]",
    header = "Look for changes at the source now.",
    description = {
      "",
      "A mount remembers names, sizes and times for as long as --metadata-ttl says. This compares"
          + " what it knows of PATH and all below it, or of everything, with the source, and shows"
          + " what is different. Files that did not change stay in memory."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast refresh /data/imagenet",
      "  holdfast refresh /data/imagenet /data/imagenet/train/n01440764",
      "  holdfast refresh data-imagenet train/n01440764"
    })
final class RefreshCommand implements Callable<Integer> {
  private static final Duration DEADLINE = Duration.ofMinutes(10);

  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(index = "0", paramLabel = "MOUNTPOINT|NAME", description = "Which mount.")
  private String target = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "PATH",
      description = "What to refresh: below the mountpoint. Default: everything.")
  private @Nullable String path;

  RefreshCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    RunningDaemon daemon = context.targets().get(target);
    String below = path == null ? "" : Targets.below(path, daemon.mountpoint());
    long count = new DaemonClient(daemon, DEADLINE).refresh(below);
    PrintWriter out = context.out(spec);
    out.println(
        count == 0
            ? "nothing has changed"
            : Human.grouped(count) + (count == 1 ? " entry has" : " entries have") + " changed");
    out.flush();
    return 0;
  }
}
