package io.holdfast.fs.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.units.Visible;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/**
 * What commands do around a task of the daemon: show how far it is, and tell what came out, as text
 * or as JSON. Not thread-safe.
 */
final class TaskRun {
  private final CliContext context;
  private final @Nullable CommandSpec spec;
  private final boolean json;

  TaskRun(CliContext context, @Nullable CommandSpec spec, boolean json) {
    this.context = context;
    this.spec = spec;
    this.json = json;
  }

  /** Returns what asks a daemon for a task about files. */
  static Map<String, Object> request(String kind, List<String> globs) {
    Map<String, Object> request = new LinkedHashMap<>();
    request.put("begin", kind);
    request.put("globs", globs);
    return request;
  }

  /**
   * Has it done.
   *
   * @param doing what the user reads meanwhile: "dropping"
   */
  TaskFigures run(
      String doing, TaskClient client, Map<String, Object> request, Iterator<String> names) {
    return follow(doing, client, client.begin(request, names));
  }

  /** Follows what has been begun to its end. */
  TaskFigures follow(String doing, TaskClient client, TaskFigures begun) {
    try (TaskProgress progress = new TaskProgress(doing, context.err(spec), context::errColumns)) {
      return client.follow(begun, progress);
    }
  }

  /** Tells what came out: all of it as JSON, or the lines that are not empty. */
  void show(Map<String, Object> all, Stream<String> lines) throws IOException {
    PrintWriter out = context.out(spec);
    if (json) {
      out.println(Visible.json(JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(all)));
    } else {
      lines.filter(line -> !line.isEmpty()).map(Visible::of).forEach(out::println);
    }
    out.flush();
  }

  /** Tells what could not be done. */
  void showFailures(TaskFigures figures) {
    figures
        .failures()
        .forEach(failure -> context.err(spec).println("holdfast: " + Visible.of(failure)));
  }

  /** A line about files of a kind; none where there are none. */
  static String line(String what, String kind, TaskFigures figures) {
    return figures.has(kind) ? what + "   " + figures.text(kind) : "";
  }
}
