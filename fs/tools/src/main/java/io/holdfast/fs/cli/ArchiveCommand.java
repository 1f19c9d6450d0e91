package io.holdfast.fs.cli;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * {@code holdfast archive}, for the build and the installation of packages: has the virtual machine
 * load what commands and daemons need, for it to archive. To read and to verify classes, and to
 * make those of lambdas, is a good part of what a short command and the start of a daemon cost
 * otherwise.
 */
@Command(
    name = ArchiveCommand.NAME,
    hidden = true,
    customSynopsis = "holdfast archive",
    header = "Load the classes that commands and daemons need.",
    footerHeading = "%nExamples:%n",
    footer = "  HOLDFAST_JAVA_OPTIONS=-XX:DumpLoadedClassList=/tmp/list holdfast archive")
final class ArchiveCommand implements Callable<Integer> {
  static final String NAME = "archive";

  /**
   * What each mount uses: all of what only S3 or peers use would make the archive four times
   * larger.
   */
  private static final Pattern OF_EACH_MOUNT =
      Pattern.compile(
          "(holdfast|jnr-ffi|jffi|asm|caffeine|jackson|commons-io|HdrHistogram|logback|slf4j|prometheus)"
              + ".*\\.jar");

  private final CliContext context;

  ArchiveCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    for (String jar : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      if (OF_EACH_MOUNT.matcher(Path.of(jar).getFileName().toString()).matches()) {
        classes(jar).forEach(ArchiveCommand::load);
      }
    }
    // Lambdas have classes once they have been used. This gets as far as a command can without a
    // mount.
    CommandLine mount = Holdfast.commandLine(context, MountCommand.NAME);
    mount.setErr(new PrintWriter(Writer.nullWriter()));
    int refused =
        mount.execute(MountCommand.NAME, "/nonexistent/source", "/nonexistent/mountpoint");
    return refused == CliException.USAGE ? 0 : CliException.COULD_NOT;
  }

  private static List<String> classes(String jar) throws IOException {
    try (JarFile file = new JarFile(jar)) {
      return file.stream()
          .map(ZipEntry::getName)
          .filter(name -> name.endsWith(".class") && !name.contains("-"))
          .map(name -> name.substring(0, name.length() - ".class".length()).replace('/', '.'))
          .toList();
    }
  }

  private static @Nullable Class<?> load(String name) {
    try {
      return Class.forName(name, false, ArchiveCommand.class.getClassLoader());
    } catch (ClassNotFoundException | LinkageError e) {
      return null; // libraries have classes for other libraries, which need not be there
    }
  }
}
