package io.holdfast.fs.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.units.Visible;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** How a command tells what came out: as text, or as JSON where the user wants that. */
final class CommandOutput {
  private static final JSON PRETTY = JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT);

  @Spec(Spec.Target.MIXEE)
  private @Nullable CommandSpec command;

  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  boolean isJson() {
    return json;
  }

  PrintWriter out() {
    return Objects.requireNonNull(command).commandLine().getOut();
  }

  PrintWriter err() {
    return Objects.requireNonNull(command).commandLine().getErr();
  }

  /** Tells whether what was printed could not be written, so that no more needs to be made. */
  boolean hasFailed() {
    return out().checkError();
  }

  /** Prints text as it is. */
  void text(String text) {
    out().print(text);
    out().flush();
  }

  /** Prints a list or a map as JSON. */
  void json(Object all) throws IOException {
    out().println(Visible.json(PRETTY.asString(all)));
    out().flush();
  }

  /** Prints a map as JSON, with what is null. */
  void jsonWithNulls(Map<String, ? extends @Nullable Object> all) throws IOException {
    out().println(Visible.json(PRETTY.with(JSON.Feature.WRITE_NULL_PROPERTIES).asString(all)));
    out().flush();
  }

  /** Prints all of what came out as JSON, or else those lines about it that are not empty. */
  void show(Object all, Stream<String> lines) throws IOException {
    if (json) {
      json(all);
    } else {
      lines.filter(line -> !line.isEmpty()).map(Visible::of).forEach(out()::println);
      out().flush();
    }
  }

  /** Tells the user something besides, on the error output. */
  void note(String line) {
    err().println("holdfast: " + Visible.of(line));
    err().flush();
  }
}
