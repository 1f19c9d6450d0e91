package io.holdfast.fs.cli;

import io.holdfast.fs.client.Targets;
import io.holdfast.fs.client.TaskClient;
import io.holdfast.fs.client.TaskFigures;
import io.holdfast.fs.host.CliException;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

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

  @Mixin private final DatasetPaths files = new DatasetPaths();

  @Option(names = "--all", description = "Everything.")
  private boolean all;

  @Option(names = "--force", description = "Also what is to stay.")
  private boolean force;

  @Mixin private final CommandOutput output = new CommandOutput();

  DropCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Targets.Inside inside = files.find(context.host());
    if (files.areNamed(inside) == all) {
      throw CliException.usage("name what is to be dropped, or give --all");
    }
    Map<String, Object> request = files.request("drop");
    request.put("force", force);
    TaskFigures figures =
        new TaskClient(context, inside.daemon(), output.err())
            .run("dropping", request, inside.paths().iterator());
    output.show(
        figures.all(),
        Stream.of(
            "dropped   " + figures.text("changed"), figures.line("stay, being pinned", "kept")));
    return 0;
  }
}
