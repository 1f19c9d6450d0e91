package io.holdfast.fs.cli;

import io.holdfast.fs.daemon.Version;
import io.holdfast.fs.manual.Definition;
import io.holdfast.fs.manual.ManualPages;
import io.holdfast.fs.manual.SampleFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code holdfast manual}, for the build of packages: writes the pages of the manual and a sample
 * of a mount's file.
 */
@Command(
    name = ManualCommand.NAME,
    hidden = true,
    customSynopsis = "holdfast manual DIRECTORY",
    header = "Write the pages of the manual.",
    footerHeading = "%nExamples:%n",
    footer = "  holdfast manual /tmp/manual && man -l /tmp/manual/holdfast-mount.1")
final class ManualCommand implements Callable<Integer> {
  static final String NAME = "manual";

  @Spec private @Nullable CommandSpec spec;

  @Parameters(index = "0", paramLabel = "DIRECTORY", description = "Where to; made if missing.")
  private Path directory = Path.of("");

  @Override
  public Integer call() throws IOException {
    Definition program = Definition.of(Objects.requireNonNull(spec).root().commandLine());
    Files.createDirectories(directory);
    for (Map.Entry<String, String> page : ManualPages.of(program, Version.VERSION).entrySet()) {
      Files.writeString(directory.resolve(page.getKey()), page.getValue());
    }
    Files.writeString(directory.resolve("NAME.yaml.sample"), SampleFile.of(program));
    return 0;
  }
}
