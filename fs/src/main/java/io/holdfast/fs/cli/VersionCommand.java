package io.holdfast.fs.cli;

import io.holdfast.fs.daemon.Version;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code holdfast version}. */
@Command(
    name = "version",
    customSynopsis = "holdfast version",
    header = "Print the version.",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {"  holdfast version", "  holdfast --version"})
final class VersionCommand implements Callable<Integer> {
  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  VersionCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    PrintWriter out = context.out(spec);
    out.println(text());
    out.flush();
    return 0;
  }

  static String text() {
    return "holdfast %s (Java %s, %s %s)"
        .formatted(
            Version.VERSION,
            System.getProperty("java.version"),
            System.getProperty("os.name"),
            System.getProperty("os.version"));
  }
}
