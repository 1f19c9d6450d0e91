package io.holdfast.fs.cli;

import io.holdfast.fs.FsException;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.log.DaemonLog;
import io.holdfast.fs.settings.BindingChoice;
import io.holdfast.fs.settings.HelperChoice;
import io.holdfast.fs.settings.LogFormat;
import io.holdfast.fs.settings.LogLevel;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.Source;
import io.holdfast.fs.start.DaemonHandle;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.membership.Discovery;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import org.apache.commons.io.FileUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
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
   * The jars that each mount uses. Of those that only S3 or peers use, the archive has the classes
   * that a start needs: all their classes would make the archive four times larger.
   */
  private static final Pattern OF_EACH_MOUNT =
      Pattern.compile(
          "(holdfast|jnr-ffi|jffi|asm|caffeine|jackson|commons-io|HdrHistogram|logback|slf4j|prometheus)"
              + ".*\\.jar");

  /** Of the machine, for a daemon that keeps nothing. */
  private static final long LITTLE_MEMORY = 1L << 30;

  /** Where nothing listens. */
  private static final URI NO_STORE = URI.create("http://127.0.0.1:9");

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
    // Lambdas have classes once they have been used.
    Path folder = Files.createTempDirectory("holdfast-archive-");
    try {
      DaemonLog.toFile(folder.resolve("log"), LogLevel.INFO, LogFormat.TEXT);
      startDaemon(folder);
      startDaemonOfObjects(folder);
      startDaemonWithPeers(folder);
      execute("stats", "--json", folder.toString());
      execute("umount", folder.toString());
      int refused = execute(MountCommand.NAME, folder.resolve("none").toString(), "/nonexistent");
      return refused == CliException.USAGE ? 0 : CliException.COULD_NOT;
    } finally {
      DaemonLog.close();
      FileUtils.deleteDirectory(folder.toFile());
    }
  }

  /** Executes a command that does not get far without a mount. */
  private int execute(String... words) {
    CommandLine command = Holdfast.commandLine(context, words);
    command.setOut(new PrintWriter(Writer.nullWriter()));
    command.setErr(new PrintWriter(Writer.nullWriter()));
    return command.execute(words);
  }

  /** Starts a daemon over a directory, which puts itself together and then finds no mountpoint. */
  private static void startDaemon(Path folder) {
    start(settings(new Source.Directory(folder), folder).build());
  }

  /** Starts a daemon over a bucket, which asks for the first key, and finds no store. */
  private static void startDaemonOfObjects(Path folder) {
    System.setProperty("aws.accessKeyId", "none");
    System.setProperty("aws.secretAccessKey", "none");
    start(
        settings(Source.parse("s3://none"), folder)
            .set(SettingTable.S3_ENDPOINT, NO_STORE)
            .set(SettingTable.S3_REGION, "none")
            .set(SettingTable.SOURCE_TIMEOUT, Duration.ofSeconds(1))
            .build());
  }

  /** Starts a daemon that finds itself alone in its cluster, and then no mountpoint. */
  private static void startDaemonWithPeers(Path folder) throws IOException {
    Path secret = folder.resolve("secret");
    Files.createFile(
        secret, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(secret, "of no other node, and gone in a moment");
    String address = "127.0.0.1:" + freePort();
    start(
        settings(new Source.Directory(folder), folder)
            .set(SettingTable.LISTEN, NodeAddress.parse(address))
            .set(SettingTable.PEERS, Discovery.parse(address))
            .set(SettingTable.CLUSTER_SECRET_FILE, secret)
            .build());
  }

  /** Returns a port that is free, as is the next one in all likelihood. */
  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static Settings.Builder settings(Source source, Path folder) {
    return Settings.builder(source, folder.resolve("none"), LITTLE_MEMORY)
        .set(SettingTable.NAME, folder.getFileName().toString())
        .set(SettingTable.BINDING, BindingChoice.KERNEL)
        .set(SettingTable.KERNEL_HELPERS, HelperChoice.OFF);
  }

  private static void start(Settings settings) {
    try {
      DaemonHandle.real(settings, null).stop();
    } catch (FsException e) {
      LoggerFactory.getLogger(ArchiveCommand.class).info("no mount, as it should be", e);
    }
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
