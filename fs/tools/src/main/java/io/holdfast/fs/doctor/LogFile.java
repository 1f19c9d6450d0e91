package io.holdfast.fs.doctor;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The log file of a mount's daemon, even if the daemon does not answer or is dead. The file may be
 * on storage that hangs, so a child process reads it. Immutable.
 */
public final class LogFile {
  private static final int O_WRONLY = 1;
  private static final int O_APPEND = 02000;
  private static final String LOG = "log=";

  /** A part of the names of access logs, which are not this log. */
  private static final String ACCESS = "access";

  private final Path file;

  private LogFile(Path file) {
    this.file = file;
  }

  /**
   * Finds the log: from the command that the supervisor starts, from the files that the daemon has
   * open for appending, or in the usual directory.
   *
   * @param directory the usual directory of logs
   */
  public static LogFile of(Subject subject, MachineFiles files, Path directory) {
    return new LogFile(
        told(subject)
            .or(() -> opened(subject, files))
            .orElseGet(() -> directory.resolve(subject.name() + ".log")));
  }

  private static Optional<Path> told(Subject subject) {
    return Optional.ofNullable(subject.state())
        .flatMap(state -> new MachineFiles(state).value("command", LOG))
        .map(quoted -> quoted.replaceAll("^'|'$", "").replace("'\\''", "'"))
        .filter(path -> !path.startsWith("/dev/"))
        .map(Path::of);
  }

  private static Optional<Path> opened(Subject subject, MachineFiles files) {
    String process = "proc/" + subject.pid();
    Optional<Path> found = Optional.empty();
    try (DirectoryStream<Path> open = Files.newDirectoryStream(files.path(process + "/fd"))) {
      for (Path descriptor : open) {
        String number = String.valueOf(descriptor.getFileName());
        String target = Files.readSymbolicLink(descriptor).toString();
        String flags = files.value(process + "/fdinfo/" + number, "flags").orElse("0");
        if (target.startsWith("/") && appends(flags) && !target.contains(ACCESS)) {
          found = Optional.of(Path.of(target));
        }
      }
    } catch (IOException e) {
      // the process is another user's, or has just ended
    }
    return found;
  }

  private static boolean appends(String octal) {
    int flags = Integer.parseInt(octal, 8);
    return (flags & O_APPEND) != 0 && (flags & O_WRONLY) != 0;
  }

  /** Returns the path of the file. */
  public Path path() {
    return file;
  }

  /**
   * Returns the end of the file, from the beginning of a line.
   *
   * @param most bytes
   * @param deadline the time for the read
   * @throws IOException if it cannot be read in time
   */
  public String tail(int most, Duration deadline) throws IOException, InterruptedException {
    BoundedCommand.Output output =
        BoundedCommand.run(
                deadline,
                most,
                List.of("tail", "-c", Integer.toString(most), "--", file.toString()))
            .orElseThrow(
                () ->
                    new IOException(
                        "%s gives no answer in %d s".formatted(file, deadline.toSeconds())));
    if (output.exit() != 0) {
      throw new IOException(output.text());
    }
    String text = output.text();
    return output.full() ? text.substring(text.indexOf('\n') + 1) : text;
  }
}
