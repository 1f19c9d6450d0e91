package io.holdfast.fs.cli;

import io.holdfast.fs.figures.NodeFigures;
import io.holdfast.fs.units.Human;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code holdfast warm}: brings a dataset, or a part of it, into memory before it is read. */
@Command(
    name = "warm",
    sortOptions = false,
    customSynopsis = "holdfast warm [OPTIONS] [MOUNTPOINT|NAME] [PATH...]",
    header = "Bring files into memory before they are read.",
    description = {
      "",
      "The daemon itself fetches the files, or those at and below PATH, until the capacity is full;"
          + " nothing that is in memory makes way. What is there already is passed over, so a"
          + " warm-up that was ended goes on where it was. Of several nodes each fetches its own"
          + " share.",
      "",
      "Ctrl-C ends it. The exit code is 0 when all that fits is in memory, and 1 otherwise."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast warm /data/imagenet",
      "  holdfast warm /data/imagenet/train --order random",
      "  holdfast warm --list first-epoch.txt --background",
      "  holdfast warm --check --json | jq .missing_paths"
    })
final class WarmCommand implements Callable<Integer> {
  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(
      arity = "0..*",
      paramLabel = "[MOUNTPOINT|NAME] PATH",
      description = {
        "Which mount, and which files or folders of it: below the mountpoint, or relative to it.",
        "Default: the only mount, and all of it."
      })
  private List<String> words = new ArrayList<>();

  @Option(
      names = "--list",
      paramLabel = "FILE|-",
      description = "The files that are named there, a path a line; - for the standard input.")
  private @Nullable String list;

  @Option(
      names = "--glob",
      paramLabel = "GLOB",
      description = "Files by name, as for mount --keep: 'train/*.tar'. May be repeated.")
  private List<String> globs = new ArrayList<>();

  @Option(
      names = "--order",
      paramLabel = "ORDER",
      description = {
        "In which order: by name, as in the list, or random.",
        "Default: as in the list; else by name where all fits, and random where it does not, so"
            + " that what is in memory is spread over all."
      })
  private @Nullable String order;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "How many files are fetched at once, from 1 to 256. Default: 16.")
  private int threads = 16;

  @Option(
      names = "--check",
      description = "Fetch nothing, and say what is in memory. Exit code 1: a warm-up would fetch.")
  private boolean check;

  @Option(names = "--background", description = "Begin, and do not wait for the end.")
  private boolean background;

  @Option(names = "--stop", description = "End what goes on in the background.")
  private boolean stop;

  @Option(names = "--json", description = "What came out as one JSON object.")
  private boolean json;

  WarmCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Globs.check(globs);
    Map<String, Object> request = request();
    Targets.Inside inside = new Targets(context.host()).inside(words);
    if (list != null && !inside.paths().isEmpty()) {
      throw CliException.usage("--list and PATH exclude each other: give one of them");
    }
    TaskClient client = new TaskClient(context, inside.daemon());
    if (stop) {
      return stopAll(client);
    }
    TaskFigures begun = begin(client, request, inside);
    if (background) {
      return tellBackground(begun, inside);
    }
    TaskRun task = new TaskRun(context, spec, json);
    TaskFigures figures = task.follow(check ? "checking" : "warming", client, begun);
    return check ? showCheck(task, client, figures) : showWarm(task, figures);
  }

  private Map<String, Object> request() {
    if (threads < 1 || threads > 256) {
      throw CliException.usage("--threads " + threads + " is not possible: from 1 to 256");
    }
    if (check && background) {
      throw CliException.usage("--check and --background exclude each other: give one of them");
    }
    Map<String, Object> request = TaskRun.request(check ? "check" : "warm", globs);
    request.put("order", order());
    request.put("threads", threads);
    request.put("background", background);
    return request;
  }

  private String order() {
    if (order == null) {
      return list == null ? "auto" : "list";
    }
    String wanted = order.toLowerCase(Locale.ROOT);
    if (!List.of("name", "list", "random").contains(wanted)) {
      throw CliException.usage(
          "--order '" + order + "' is not known: choose one of name, list, random");
    }
    return wanted;
  }

  private TaskFigures begin(TaskClient client, Map<String, Object> request, Targets.Inside inside) {
    if (list == null) {
      return client.begin(request, inside.paths().iterator());
    }
    try (NameList names = NameList.open(list)) {
      Iterator<String> paths = names.below(inside.daemon().mountpoint());
      return client.begin(request, paths);
    }
  }

  private int stopAll(TaskClient client) {
    PrintWriter out = context.out(spec);
    Object stopped = client.ask(Map.of("stop", true)).get("stopped");
    out.println(Integer.valueOf(0).equals(stopped) ? "nothing goes on" : "stopped: " + stopped);
    out.flush();
    return 0;
  }

  private int tellBackground(TaskFigures begun, Targets.Inside inside) {
    PrintWriter out = context.out(spec);
    out.println(
        "warming goes on in the daemon: see 'holdfast stats %1$s', end it with 'holdfast warm --stop %1$s'"
            .formatted(inside.daemon().name()));
    out.flush();
    return begun.state().equals("failed") ? CliException.COULD_NOT : 0;
  }

  private static int showWarm(TaskRun task, TaskFigures figures) throws IOException {
    task.show(
        figures.all(),
        Stream.of(
            "fetched   " + figures.text("fetched") + speed(figures),
            TaskRun.line("were there", "resident", figures),
            TaskRun.line("do not fit", "unfit", figures),
            TaskRun.line("not kept here", "other", figures),
            TaskRun.line("failed", "failed", figures)));
    task.showFailures(figures);
    return figures.has("failed") ? CliException.COULD_NOT : 0;
  }

  private static String speed(TaskFigures figures) {
    double seconds = Math.max(0.001, figures.seconds());
    return String.format(
        Locale.ROOT,
        " in %.1f s (%s/s)",
        seconds,
        Human.bytes((long) (figures.of("fetched", "bytes") / seconds)));
  }

  private int showCheck(TaskRun task, TaskClient client, TaskFigures figures) throws IOException {
    long inCluster = inCluster(client);
    Map<String, Object> all = new LinkedHashMap<>(figures.all());
    if (inCluster >= 0) {
      all.put("cluster_resident_bytes", inCluster);
    }
    if (json) {
      all.put("missing_paths", missing(client, figures));
    }
    long bytes = figures.number("bytes");
    task.show(
        all,
        Stream.of(
            Human.count(figures.number("files"), "file")
                + ", "
                + resident(figures.of("resident", "bytes"), bytes)
                + " resident",
            inCluster >= 0 ? "in the cluster   " + Human.bytes(inCluster) : "",
            TaskRun.line("would be fetched", "missing", figures),
            TaskRun.line("do not fit", "unfit", figures),
            TaskRun.line("not kept here", "other", figures)));
    return figures.has("missing") ? CliException.COULD_NOT : 0;
  }

  private static String resident(long part, long whole) {
    double percent = whole == 0 ? 100 : 100.0 * part / whole;
    return String.format(
        Locale.ROOT,
        "%s of %s (%.0f %%)",
        Human.bytes(part),
        Human.bytes(whole),
        part < whole ? Math.min(percent, 99) : percent);
  }

  /** Returns what all nodes together have in memory, or -1 where there are no peers. */
  private static long inCluster(TaskClient client) {
    List<NodeFigures> nodes = client.peers();
    long bytes = nodes.isEmpty() ? -1 : 0;
    for (NodeFigures node : nodes) {
      // of a node that has not told it yet it is -1
      bytes += Math.max(0, node.residentBytes());
    }
    return bytes;
  }

  private static List<Object> missing(TaskClient client, TaskFigures figures) {
    List<Object> all = new ArrayList<>();
    while (true) {
      Object some =
          client.ask(Map.of("id", figures.id(), "missing_from", all.size())).get("missing_paths");
      if (!(some instanceof List<?> page) || page.isEmpty()) {
        return all;
      }
      all.addAll(page);
    }
  }
}
