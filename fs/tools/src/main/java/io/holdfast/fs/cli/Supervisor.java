package io.holdfast.fs.cli;

import io.holdfast.fs.settings.LogFormat;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.SettingsDocument;
import io.holdfast.fs.settings.Source;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The process that holds a mount while its daemons come and go: the {@code holdfast-supervise}
 * script. This is what is done before it starts. Stateless.
 */
final class Supervisor {
  /** Where there is no directory that daemons need open. */
  static final String NOTHING = "/dev/null";

  private Supervisor() {}

  /**
   * Returns what a supervisor is told of a mount, as it reads it.
   *
   * @param document what its daemons are told
   * @param daemon the words that start a daemon
   */
  static String commandText(SettingsDocument document, List<String> daemon) {
    Settings settings = document.settings();
    return commandText(
        held(settings.get(SettingTable.SOURCE)),
        settings.get(SettingTable.MOUNTPOINT),
        document.log(),
        settings.get(SettingTable.LOG_FORMAT),
        daemon);
  }

  /**
   * Returns the same of a mount without a document.
   *
   * @param held what the supervisor keeps open for its daemons
   */
  static String commandText(
      String held, Path mountpoint, Path log, LogFormat format, List<String> daemon) {
    return "origin=%s%nmountpoint=%s%nlog=%s%nformat=%s%nset -- %s%n"
        .formatted(
            quoted(held),
            quoted(mountpoint.toString()),
            quoted(log.toString()),
            format.name().toLowerCase(Locale.ROOT),
            daemon.stream().map(Supervisor::quoted).collect(Collectors.joining(" ")));
  }

  /** What the supervisor keeps open for its daemons. Objects in S3 need nothing of the kind. */
  private static String held(Source origin) {
    return origin instanceof Source.Directory directory ? directory.toString() : NOTHING;
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
}
