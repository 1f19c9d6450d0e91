package io.holdfast.fs.cli;

import io.holdfast.fs.client.Targets;
import io.holdfast.fs.client.TaskClient;
import io.holdfast.fs.client.TaskFigures;
import io.holdfast.fs.host.CliException;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code holdfast unpin}: gives pinned files back to the policy. */
@Command(
    name = "unpin",
    sortOptions = false,
    customSynopsis = "holdfast unpin [OPTIONS] [MOUNTPOINT|NAME] PATH...",
    header = "Give pinned files back to the policy.",
    description = {
      "",
      "What was pinned at and below PATH, or with the same --glob, stays in memory as anything"
          + " else does: it may make way where the policy, or a smaller capacity, wants it to."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {"  holdfast unpin /data/imagenet/val", "  holdfast unpin data-imagenet --all"})
final class UnpinCommand implements Callable<Integer> {
  private final CliContext context;

  @Mixin private final DatasetPaths files = new DatasetPaths();

  @Option(names = "--all", description = "Everything that is pinned.")
  private boolean all;

  @Mixin private final CommandOutput output = new CommandOutput();

  UnpinCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Targets.Inside inside = files.find(context.host());
    if (files.areNamed(inside) == all) {
      throw CliException.usage("name what is to be unpinned, or give --all");
    }
    TaskFigures figures =
        new TaskClient(context, inside.daemon(), output.err())
            .run("unpinning", files.request("unpin"), inside.paths().iterator());
    output.show(figures.all(), Stream.of("the policy's again   " + figures.text("changed")));
    return 0;
  }
}
