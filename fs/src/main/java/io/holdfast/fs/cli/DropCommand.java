package io.holdfast.fs.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code holdfast drop}: gives up what is in memory. */
@Command(
    name = "drop",
    sortOptions = false,
    customSynopsis = "holdfast drop [OPTIONS] [MOUNTPOINT|NAME] PATH...|--all",
    header = "Give up what is in memory, so that other files have room.",
    description = {
      "",
      "The files at and below PATH are in memory no longer; what is read next takes their place."
          + " Files that are to stay (holdfast pin, mount --keep) do, unless --force; they come"
          + " back then when they are read. The dataset itself is not touched."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast drop /data/imagenet/train/n01440764",
      "  holdfast drop data-imagenet --glob '*.idx'",
      "  holdfast drop data-imagenet --all"
    })
final class DropCommand implements Callable<Integer> {
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
      description = "Files by name, as for mount --keep. May be repeated.")
  private List<String> globs = new ArrayList<>();

  @Option(names = "--all", description = "Everything.")
  private boolean all;

  @Option(names = "--force", description = "Also what is to stay.")
  private boolean force;

  @Option(names = "--json", description = "What came out as one JSON object.")
  private boolean json;

  DropCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Globs.check(globs);
    Targets.Inside inside = new Targets(context.host()).inside(words);
    boolean named = !inside.paths().isEmpty() || !globs.isEmpty();
    if (named == all) {
      throw CliException.usage("name what is to be dropped, or give --all");
    }
    Map<String, Object> request = TaskRun.request("drop", globs);
    request.put("force", force);
    TaskRun task = new TaskRun(context, spec, json);
    TaskClient client = new TaskClient(context, inside.daemon());
    TaskFigures figures = task.run("dropping", client, request, inside.paths().iterator());
    task.show(
        figures.all(),
        Stream.of(
            "dropped   " + figures.text("changed"),
            TaskRun.line("stay, being pinned", "kept", figures)));
    return 0;
  }
}
