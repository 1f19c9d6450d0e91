package io.holdfast.fs.cli;

import io.holdfast.fs.client.Targets;
import io.holdfast.fs.client.TaskClient;
import io.holdfast.fs.client.TaskFigures;
import io.holdfast.fs.host.CliException;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code holdfast pin}: makes files resident, and keeps them so. */
@Command(
    name = "pin",
    sortOptions = false,
    customSynopsis = "holdfast pin [OPTIONS] [MOUNTPOINT|NAME] PATH...",
    header = "Keep files in memory whatever the policy thinks.",
    description = {
      "",
      "The files at and below PATH, or those that a glob names, are fetched if they are not in"
          + " memory, and stay there: others make way for them. It is mount --keep for a mount that"
          + " runs, and holds for later versions of these files, too, until 'holdfast unpin' or the"
          + " end of the mount. Without PATH and --glob it shows what is pinned.",
      "",
      "The exit code is 1 where not all of them fit, or could be fetched."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast pin /data/imagenet/val",
      "  holdfast pin data-imagenet --glob '*.idx'",
      "  holdfast pin data-imagenet"
    })
final class PinCommand implements Callable<Integer> {
  private final CliContext context;

  @Mixin private final DatasetPaths files = new DatasetPaths();

  @Mixin private final CommandOutput output = new CommandOutput();

  PinCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Targets.Inside inside = files.find(context.host());
    TaskClient client = new TaskClient(context, inside.daemon(), output.err());
    if (!files.areNamed(inside)) {
      Map<String, Object> pins = client.daemon().task(Map.of("pins", true));
      output.show(pins, lines(pins));
      return 0;
    }
    TaskFigures figures = client.run("pinning", files.request("pin"), inside.paths().iterator());
    output.show(
        figures.all(),
        Stream.of(
            "were in memory   " + figures.text("resident"),
            "fetched   " + figures.text("fetched"),
            figures.line("failed", "failed"),
            figures.has("unfit")
                ? "do not fit   " + figures.text("unfit") + ": raise the capacity, or unpin others"
                : ""));
    figures.failures().forEach(output::note);
    return figures.has("unfit") || figures.has("failed") ? CliException.COULD_NOT : 0;
  }

  private static Stream<String> lines(Map<String, Object> pins) {
    if (!(pins.get("paths") instanceof List<?> paths && pins.get("globs") instanceof List<?> all)) {
      return Stream.empty();
    }
    return Stream.concat(
        Stream.of(paths.isEmpty() && all.isEmpty() ? "nothing is pinned" : "pinned:"),
        Stream.concat(
            paths.stream().map(path -> "  " + ("".equals(path) ? "." : path)),
            all.stream().map(glob -> "  --glob " + glob)));
  }
}
