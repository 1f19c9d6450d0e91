package io.holdfast.fs.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
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
    if (inside.paths().isEmpty() && globs.isEmpty()) {
      return showPins(new TaskClient(context, inside.daemon()));
    }
    TaskFigures figures = run(inside, "pin");
    boolean complete = !figures.has("unfit") && !figures.has("failed");
    show(
        figures,
        "were in memory   " + figures.text("resident"),
        "fetched   " + figures.text("fetched"),
        figures.has("failed") ? "failed   " + figures.text("failed") : "",
        figures.has("unfit")
            ? "do not fit   " + figures.text("unfit") + ": raise the capacity, or unpin others"
            : "");
    figures.failures().forEach(failure -> context.err(spec).println("holdfast: " + failure));
    return complete ? 0 : CliException.COULD_NOT;
  }

  private int showPins(TaskClient client) throws IOException {
    Map<String, Object> pins = client.ask(Map.of("pins", true));
    PrintWriter out = context.out(spec);
    if (json) {
      out.println(JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(pins));
    } else if (pins.get("paths") instanceof List<?> paths
        && pins.get("globs") instanceof List<?> g) {
      out.println(paths.isEmpty() && g.isEmpty() ? "nothing is pinned" : "pinned:");
      paths.forEach(path -> out.println("  " + ("".equals(path) ? "." : path)));
      g.forEach(glob -> out.println("  --glob " + glob));
    }
    out.flush();
    return 0;
  }

  private TaskFigures run(Targets.Inside inside, String kind) {
    Map<String, Object> request = new LinkedHashMap<>();
    request.put("begin", kind);
    request.put("globs", globs);
    TaskClient client = new TaskClient(context, inside.daemon());
    try (TaskProgress progress =
        new TaskProgress("pinning", context.err(spec), context.isErrTerminal())) {
      return client.follow(client.begin(request, inside.paths().iterator()), progress);
    }
  }

  private void show(TaskFigures figures, String... lines) throws IOException {
    PrintWriter out = context.out(spec);
    if (json) {
      out.println(JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(figures.all()));
    } else {
      List.of(lines).stream().filter(line -> !line.isEmpty()).forEach(out::println);
    }
    out.flush();
  }
}
