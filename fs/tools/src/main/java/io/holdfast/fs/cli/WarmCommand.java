package io.holdfast.fs.cli;

import io.holdfast.fs.client.DaemonClient;
import io.holdfast.fs.client.Targets;
import io.holdfast.fs.client.TaskClient;
import io.holdfast.fs.client.TaskFigures;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.figures.NodeFigures;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.units.Human;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
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
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

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

  @Option(
      names = "--list",
      paramLabel = "FILE|-",
      description = "The files that are named there, a path a line; - for the standard input.")
  private @Nullable String list;

  @Mixin private final DatasetPaths files = new DatasetPaths();

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

  @Mixin private final CommandOutput output = new CommandOutput();

  WarmCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Map<String, Object> request = request();
    Targets.Inside inside = files.find(context.targets());
    if (list != null && !inside.paths().isEmpty()) {
      throw CliException.usage("--list and PATH exclude each other: give one of them");
    }
    TaskClient client = new TaskClient(context, inside.daemon(), output.err());
    if (stop) {
      return stopAll(client);
    }
    TaskFigures begun = begin(client, request, inside);
    if (background) {
      return tellBackground(begun, inside);
    }
    TaskFigures figures = client.follow(check ? "checking" : "warming", begun);
    return check ? showCheck(client.daemon(), figures) : showWarm(figures);
  }

  private Map<String, Object> request() {
    if (threads < 1 || threads > 256) {
      throw CliException.usage("--threads " + threads + " is not possible: from 1 to 256");
    }
    if (check && background) {
      throw CliException.usage("--check and --background exclude each other: give one of them");
    }
    Map<String, Object> request = files.request(check ? "check" : "warm");
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
    Object stopped = client.daemon().task(Map.of("stop", true)).get("stopped");
    output.text(
        (Integer.valueOf(0).equals(stopped) ? "nothing goes on" : "stopped: " + stopped) + "\n");
    return 0;
  }

  /** Says that the task goes on; fails where it has failed, or was stopped, already. */
  private int tellBackground(TaskFigures begun, Targets.Inside inside) {
    begun.orFailure();
    output.text(
        "warming goes on in the daemon: see 'holdfast stats %1$s', end it with 'holdfast warm --stop %1$s'\n"
            .formatted(inside.daemon().name()));
    return 0;
  }

  private int showWarm(TaskFigures figures) throws IOException {
    output.show(
        figures.all(),
        Stream.of(
            "fetched   " + figures.text("fetched") + speed(figures),
            figures.line("were there", "resident"),
            figures.line("do not fit", "unfit"),
            figures.line("not kept here", "other"),
            figures.line("failed", "failed")));
    figures.failures().forEach(output::note);
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

  private int showCheck(DaemonClient daemon, TaskFigures figures) throws IOException {
    long inCluster = inCluster(FiguresJson.nodes(daemon.peers()));
    Map<String, Object> all = new LinkedHashMap<>(figures.all());
    if (inCluster >= 0) {
      all.put("cluster_resident_bytes", inCluster);
    }
    if (output.isJson()) {
      all.put("missing_paths", missing(daemon, figures));
    }
    long bytes = figures.number("bytes");
    output.show(
        all,
        Stream.of(
            Human.count(figures.number("files"), "file")
                + ", "
                + resident(figures.of("resident", "bytes"), bytes)
                + " resident",
            inCluster >= 0 ? "in the cluster   " + Human.bytes(inCluster) : "",
            figures.line("would be fetched", "missing"),
            figures.line("do not fit", "unfit"),
            figures.line("not kept here", "other"),
            figures.line("failed", "failed")));
    figures.failures().forEach(output::note);
    return figures.has("missing") || figures.has("failed") ? CliException.COULD_NOT : 0;
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
  private static long inCluster(List<NodeFigures> nodes) {
    long bytes = nodes.isEmpty() ? -1 : 0;
    for (NodeFigures node : nodes) {
      // of a node that has not told it yet it is -1
      bytes += Math.max(0, node.residentBytes());
    }
    return bytes;
  }

  private static List<Object> missing(DaemonClient daemon, TaskFigures figures) {
    List<Object> all = new ArrayList<>();
    while (true) {
      Object some =
          daemon.task(Map.of("id", figures.id(), "missing_from", all.size())).get("missing_paths");
      if (!(some instanceof List<?> page) || page.isEmpty()) {
        return all;
      }
      all.addAll(page);
    }
  }

  /** A list of files, a path a line; empty lines are passed over. Not thread-safe. */
  private static final class NameList implements AutoCloseable {
    private final String name;
    private final BufferedReader reader;

    private NameList(String name, InputStream in) {
      this.name = name;
      this.reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
    }

    /**
     * Opens a list.
     *
     * @param name of a file, or a dash for the standard input
     */
    static NameList open(String name) {
      try {
        return new NameList(
            name, name.equals("-") ? System.in : Files.newInputStream(Path.of(name)));
      } catch (IOException | InvalidPathException e) {
        throw CliException.usage("--list '" + name + "' cannot be read: " + reason(e), e);
      }
    }

    private static String reason(Exception e) {
      return e instanceof java.nio.file.NoSuchFileException ? "there is no such file" : "" + e;
    }

    /**
     * Returns the paths as the daemon wants them, as they are read. It fails where the list is
     * empty.
     */
    Iterator<String> below(Path mountpoint) {
      Iterator<String> names =
          reader
              .lines()
              .filter(line -> !line.isBlank())
              .map(line -> below(line, mountpoint))
              .iterator();
      try {
        if (!names.hasNext()) {
          throw CliException.usage("--list '" + name + "' has no names: give one with some");
        }
      } catch (UncheckedIOException e) {
        throw CliException.usage("--list '" + name + "' cannot be read: " + e.getCause(), e);
      }
      return names;
    }

    private String below(String line, Path mountpoint) {
      try {
        return Targets.below(line, mountpoint);
      } catch (InvalidPathException e) {
        throw CliException.usage("--list '" + name + "': '" + line + "' is no path", e);
      }
    }

    @Override
    public void close() {
      try {
        reader.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
