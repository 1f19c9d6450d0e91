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

  @Option(names = "--json", description = "What came out as one JSON object.")
  private boolean json;

  PinCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Globs.check(globs);
    Targets.Inside inside = new Targets(context.host()).inside(words);
    TaskRun task = new TaskRun(context, spec, json);
    TaskClient client = new TaskClient(context, inside.daemon());
    if (inside.paths().isEmpty() && globs.isEmpty()) {
      Map<String, Object> pins = client.ask(Map.of("pins", true));
      task.show(pins, lines(pins));
      return 0;
    }
    TaskFigures figures =
        task.run("pinning", client, TaskRun.request("pin", globs), inside.paths().iterator());
    boolean complete = !figures.has("unfit") && !figures.has("failed");
    task.show(
        figures.all(),
        Stream.of(
            "were in memory   " + figures.text("resident"),
            "fetched   " + figures.text("fetched"),
            TaskRun.line("failed", "failed", figures),
            figures.has("unfit")
                ? "do not fit   " + figures.text("unfit") + ": raise the capacity, or unpin others"
                : ""));
    task.showFailures(figures);
    return complete ? 0 : CliException.COULD_NOT;
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
