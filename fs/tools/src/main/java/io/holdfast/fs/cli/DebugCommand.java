package io.holdfast.fs.cli;

import io.holdfast.fs.allocate.node.ExaminedMachine;
import io.holdfast.fs.debug.DebugArchive;
import io.holdfast.fs.doctor.BoundedCommand;
import io.holdfast.fs.doctor.Doctor;
import io.holdfast.fs.doctor.Subject;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Visible;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast debug}: packs what a bug report needs, without secrets. */
@Command(
    name = "debug",
    sortOptions = false,
    customSynopsis = "holdfast debug [--output FILE] [MOUNTPOINT|NAME]",
    header = "Pack what a bug report needs into one archive, without secrets.",
    description = {
      "",
      "In it are the doctor's report, settings, figures, the end of the log, what the daemon's"
          + " threads do, and what the kernel says of it and of the machine. Passwords, keys and"
          + " tokens are taken out; names of hosts, directories and files are not. It answers"
          + " within 10 s, also when a daemon is stopped, a mount is dead or a source hangs; what"
          + " could not be had says why."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast debug",
      "  holdfast debug /data/imagenet --output /tmp/report.zip",
      "  unzip -p report.zip '*/doctor.txt'"
    })
final class DebugCommand implements Callable<Integer> {
  private static final Duration PLACE_DEADLINE = Duration.ofSeconds(1);
  private static final Duration WRITE_DEADLINE = Duration.ofSeconds(2);
  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").withZone(ZoneOffset.UTC);

  private static final Set<StandardOpenOption> NEW_FILE =
      Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);

  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  /** Says what is wrong with a place for a new file. */
  private static final String PLACE =
      "if [ -e \"$1\" ] || [ -L \"$1\" ]; then echo exists; elif [ ! -d \"$2\" ]; then echo none;"
          + " elif [ ! -w \"$2\" ]; then echo denied; else echo good; fi";

  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Mixin private final ExaminedMounts mounts = new ExaminedMounts();

  @Option(
      names = "--output",
      paramLabel = "FILE",
      description = "Where to write it. Default: holdfast-debug-TIME.zip in this directory.")
  private @Nullable Path output;

  DebugCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Doctor.Machine machine = ExaminedMachine.of(context.host());
    List<Subject> subjects = mounts.subjects(machine.finder());
    String folder = "holdfast-debug-" + STAMP.format(machine.clock().instant());
    Path file = (output == null ? Path.of(folder + ".zip") : output).toAbsolutePath().normalize();
    checkPlace(file, machine);
    FileChannel channel = within(file, () -> FileChannel.open(file, NEW_FILE, OWNER_ONLY));
    ByteArrayOutputStream archive = new ByteArrayOutputStream();
    List<String> files;
    boolean written = false;
    try {
      files =
          new DebugArchive(machine, context.host().environment()).write(archive, folder, subjects);
      within(file, () -> write(archive, channel));
      written = true;
    } finally {
      if (!written) {
        within(file, () -> remove(file, channel));
      }
    }
    PrintWriter out = context.out(spec);
    out.println(Visible.of(file.toString()) + "  " + Human.bytes(archive.size()));
    files.forEach(line -> out.println("  " + line));
    out.println(
        "Secrets were taken out. Names of hosts and files were not: look before you send it.");
    out.flush();
    return 0;
  }

  /**
   * Writes to the file that was created, and not by its name: another user, if the directory is
   * theirs, may have put a link there since.
   */
  private static int write(ByteArrayOutputStream archive, FileChannel channel) throws IOException {
    try (OutputStream out = Channels.newOutputStream(channel)) {
      archive.writeTo(out);
    }
    return archive.size();
  }

  private static boolean remove(Path file, FileChannel channel) throws IOException {
    channel.close();
    return Files.deleteIfExists(file);
  }

  private static void checkPlace(Path file, Doctor.Machine machine)
      throws IOException, InterruptedException {
    boolean ours = machine.mounts().covering(file).filter(mount -> mount.isHoldfast()).isPresent();
    if (ours) {
      throw CliException.usage(
          "'%s' is on a mount of Holdfast: choose another place with --output".formatted(file));
    }
    String directory = String.valueOf(file.getParent());
    String found =
        BoundedCommand.run(
                PLACE_DEADLINE,
                1 << 10,
                List.of("sh", "-c", PLACE, "sh", file.toString(), directory))
            .map(BoundedCommand.Output::text)
            .orElse("no answer");
    switch (found) {
      case "good" -> {}
      case "exists" ->
          throw CliException.usage("'%s' exists: choose another with --output".formatted(file));
      case "none" ->
          throw CliException.usage(
              "directory '%s' does not exist: create it, or choose another with --output"
                  .formatted(directory));
      case "denied" ->
          throw CliException.usage(
              "directory '%s' cannot be written: choose another with --output"
                  .formatted(directory));
      default ->
          throw CliException.couldNot(
              "directory '%s' does not answer: choose another with --output".formatted(directory));
    }
  }

  /** The storage may hang: a thread writes, and is left behind. */
  private static <T> T within(Path file, Callable<T> write) throws InterruptedException {
    FutureTask<T> writing = new FutureTask<>(write);
    NamedThreads.start("write", writing);
    try {
      return writing.get(WRITE_DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw CliException.couldNot(
          "'%s' cannot be written in %d s: choose another place with --output"
              .formatted(file, WRITE_DEADLINE.toSeconds()),
          e);
    } catch (ExecutionException e) {
      throw CliException.couldNot(
          "'%s' cannot be written (%s): choose another place with --output"
              .formatted(file, e.getCause()),
          e);
    }
  }
}
