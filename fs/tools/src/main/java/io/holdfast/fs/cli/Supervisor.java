package io.holdfast.fs.cli;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.Source;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.apache.commons.io.FileUtils;

/**
 * The process that holds a mount while its daemons come and go: the {@code holdfast-supervise}
 * script. This is what is done before it starts. Stateless.
 */
final class Supervisor {
  private static final int CLOSE_RANGE_CLOEXEC = 4;
  private static final int FIRST_AFTER_STANDARD = 3;
  private static final long SYS_CLOSE_RANGE = 436;

  private Supervisor() {}

  /**
   * Writes the state directory of a mount that is about to begin.
   *
   * @param supervisor the words that start it, but for the last
   * @param daemon the words that start a daemon
   * @param log where the supervisor says what happens
   * @return the supervisor's words
   * @throws FsException where there can be no control directory
   */
  static List<String> prepare(
      List<String> supervisor,
      ControlDirectory control,
      Settings settings,
      List<String> daemon,
      Path log)
      throws FsException {
    control.create();
    Path state = control.stateDirectory(settings.get(SettingTable.NAME));
    try {
      FileUtils.deleteDirectory(state.toFile());
      Files.createDirectory(
          state,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      writeCommand(state, settings, daemon, log);
    } catch (IOException e) {
      throw CliException.couldNot(
          "the state directory '" + state + "' cannot be written: " + e.getMessage(), e);
    }
    List<String> words = new ArrayList<>(supervisor);
    words.add(state.toString());
    return words;
  }

  /** Puts a command in the place of the one that is there; the next daemon is started with it. */
  static void writeCommand(Path state, Settings settings, List<String> daemon, Path log)
      throws IOException {
    Path part = state.resolve("command.part");
    Files.writeString(part, commandText(settings, daemon, log));
    Files.move(part, state.resolve("command"), StandardCopyOption.ATOMIC_MOVE);
  }

  static String commandText(Settings settings, List<String> daemon, Path log) {
    return "origin=%s%nmountpoint=%s%nlog=%s%nformat=%s%nset -- %s%n"
        .formatted(
            quoted(held(settings.get(SettingTable.SOURCE))),
            quoted(settings.get(SettingTable.MOUNTPOINT).toString()),
            quoted(log.toString()),
            settings.get(SettingTable.LOG_FORMAT).name().toLowerCase(Locale.ROOT),
            daemon.stream().map(Supervisor::quoted).collect(Collectors.joining(" ")));
  }

  /** What the supervisor keeps open for its daemons. Objects in S3 need nothing of the kind. */
  private static String held(Source origin) {
    return origin instanceof Source.Directory directory ? directory.toString() : "/dev/null";
  }

  /** Writes a word so that a shell reads it as it is. */
  static String quoted(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }

  /** Returns the words that start the script of this distribution. */
  static List<String> command() {
    String home = System.getProperty("holdfast.home");
    if (home == null) {
      throw CliException.couldNot(
          "the supervisor cannot be found from here: start bin/holdfast, or use"
              + " --binding jnr-fuse");
    }
    return List.of(Path.of(home, "bin/holdfast-supervise").toString());
  }

  /**
   * Becomes another program, in this process; returns only where that fails, with an error number.
   */
  static int become(List<String> words) {
    LIBC.syscall(SYS_CLOSE_RANGE, FIRST_AFTER_STANDARD, ~0, CLOSE_RANGE_CLOEXEC, 0);
    long vector = LIBC.malloc((words.size() + 1L) * Long.BYTES);
    for (int i = 0; i < words.size(); i++) {
      byte[] bytes = Linux.pathBytes(words.get(i));
      long copy = LIBC.malloc(bytes.length + 1L);
      Memory.putString(copy, bytes);
      Memory.putLong(vector + (long) i * Long.BYTES, copy);
    }
    Memory.putLong(vector + (long) words.size() * Long.BYTES, 0);
    LIBC.execv(Memory.getLong(vector), vector);
    return Linux.errno();
  }
}
