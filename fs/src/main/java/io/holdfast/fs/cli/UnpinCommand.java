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
    TaskFigures figures = run(inside, "unpin");
    show(figures, "the policy's again   " + figures.text("changed"));
    return 0;
  }

  private TaskFigures run(Targets.Inside inside, String kind) {
    Map<String, Object> request = new LinkedHashMap<>();
    request.put("begin", kind);
    request.put("globs", globs);
    TaskClient client = new TaskClient(context, inside.daemon());
    try (TaskProgress progress =
        new TaskProgress("unpinning", context.err(spec), context.isErrTerminal())) {
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
