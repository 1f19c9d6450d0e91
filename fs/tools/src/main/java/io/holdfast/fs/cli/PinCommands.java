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
import picocli.CommandLine.Option;

/** The commands that say which files stay in memory. */
final class PinCommands {
  private PinCommands() {}

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
  static final class Pin implements Callable<Integer> {
    private final CliContext context;

    @Mixin private final DatasetPaths files = new DatasetPaths();

    @Mixin private final CommandOutput output = new CommandOutput();

    Pin(CliContext context) {
      this.context = context;
    }

    @Override
    public Integer call() throws IOException {
      Targets.Inside inside = files.find(context.targets());
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
                  ? "do not fit   "
                      + figures.text("unfit")
                      + ": raise the capacity, or unpin others"
                  : ""));
      figures.failures().forEach(output::note);
      return figures.has("unfit") || figures.has("failed") ? CliException.COULD_NOT : 0;
    }

    private static Stream<String> lines(Map<String, Object> pins) {
      if (!(pins.get("paths") instanceof List<?> paths
          && pins.get("globs") instanceof List<?> all)) {
        return Stream.empty();
      }
      return Stream.concat(
          Stream.of(paths.isEmpty() && all.isEmpty() ? "nothing is pinned" : "pinned:"),
          Stream.concat(
              paths.stream().map(path -> "  " + ("".equals(path) ? "." : path)),
              all.stream().map(glob -> "  --glob " + glob)));
    }
  }

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
  static final class Unpin implements Callable<Integer> {
    private final CliContext context;

    @Mixin private final DatasetPaths files = new DatasetPaths();

    @Option(names = "--all", description = "Everything that is pinned.")
    private boolean all;

    @Mixin private final CommandOutput output = new CommandOutput();

    Unpin(CliContext context) {
      this.context = context;
    }

    @Override
    public Integer call() throws IOException {
      Targets.Inside inside = files.find(context.targets());
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
  static final class Drop implements Callable<Integer> {
    private final CliContext context;

    @Mixin private final DatasetPaths files = new DatasetPaths();

    @Option(names = "--all", description = "Everything.")
    private boolean all;

    @Option(names = "--force", description = "Also what is to stay.")
    private boolean force;

    @Mixin private final CommandOutput output = new CommandOutput();

    Drop(CliContext context) {
      this.context = context;
    }

    @Override
    public Integer call() throws IOException {
      Targets.Inside inside = files.find(context.targets());
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
}
