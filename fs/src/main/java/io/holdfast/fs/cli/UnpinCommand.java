package io.holdfast.fs.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code holdfast unpin}: gives pinned files back to the policy. */
@Command(
    name = "unpin",
    sortOptions = false,
    customSynopsis = "holdfast unpin [OPTIONS] [MOUNTPOINT|NAME] PATH...",
    header = "Give pinned files back to the policy.",
    description = {
      "",
      "What was pinned at and below PATH, or by that glob, stays in memory as anything else does:"
          + " it may make way where the policy, or a smaller capacity, wants it to."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {"  holdfast unpin /data/imagenet/val", "  holdfast unpin data-imagenet --all"})
final class UnpinCommand implements Callable<Integer> {
  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(
      arity = "0..*",
      paramLabel = "[MOUNTPOINT|NAME] PATH",
      description =
          "Which mount, and which files or folders of it: below the mountpoint, or relative to it.")
  private List<String> words = new ArrayList<>();

  @Option(
      names = "--glob",
      paramLabel = "GLOB",
      description = "A glob that was pinned. May be repeated.")
  private List<String> globs = new ArrayList<>();

  @Option(names = "--all", description = "Everything that is pinned.")
  private boolean all;

  @Option(names = "--json", description = "What came out as one JSON object.")
  private boolean json;

  UnpinCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Globs.check(globs);
    Targets.Inside inside = new Targets(context.host()).inside(words);
    boolean named = !inside.paths().isEmpty() || !globs.isEmpty();
    if (named == all) {
      throw CliException.usage("name what is to be unpinned, or give --all");
    }
    TaskRun task = new TaskRun(context, spec, json);
    TaskClient client = new TaskClient(context, inside.daemon());
    TaskFigures figures =
        task.run("unpinning", client, TaskRun.request("unpin", globs), inside.paths().iterator());
    task.show(figures.all(), Stream.of("the policy's again   " + figures.text("changed")));
    return 0;
  }
}
