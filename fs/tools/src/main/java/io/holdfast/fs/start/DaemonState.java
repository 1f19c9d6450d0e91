package io.holdfast.fs.start;

import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.daemon.SupervisedMount;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.settings.LogFormat;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.SettingsDocument;
import io.holdfast.fs.settings.Source;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.commons.io.FileUtils;

/**
 * The state directory of a mount, as far as it says what a daemon is to be: the {@link
 * SettingsDocument}, which the daemon reads, and the command that starts one, which the supervisor
 * does. Immutable.
 */
public final class DaemonState {
  /** The command that becomes the daemon that a state directory tells of. */
  public static final String DAEMON_COMMAND = "serve";

  /** Where there is no directory that daemons need open. */
  private static final String NOTHING = "/dev/null";

  /** The launcher gives these words to a virtual machine that is to compute nothing much. */
  private static final List<String> FIRST_COMPILER =
      List.of(
          "-XX:TieredStopAtLevel=1",
          "-XX:CICompilerCount=2",
          "-XX:-UseDynamicNumberOfCompilerThreads");

  /** Names the process that has made the directory. */
  private static final String STARTER = "starter";

  private final Path directory;

  private DaemonState(Path directory) {
    this.directory = directory;
  }

  /** Returns that of a mount that is there. */
  public static DaemonState at(Path directory) {
    return new DaemonState(directory);
  }

  /**
   * Makes that of a mount that is about to begin, in the place of one that a dead daemon left. Of
   * two commands that begin mounts of one name at the same time, one does it: it is made elsewhere
   * and renamed into its place, with a note of the process that does.
   *
   * @throws FsException where there can be no control directory
   * @throws CliException where the name has another mount, or is about to have one
   */
  public static DaemonState create(ControlDirectory control, SettingsDocument document)
      throws FsException {
    return create(control, document.settings().get(SettingTable.NAME), document::write);
  }

  /** Writes what a daemon is told into a state directory, besides its command. */
  @FunctionalInterface
  interface Content {
    void write(Path directory) throws IOException;
  }

  /** The same for a mount for checkpoints, whose daemon is told everything else by its command. */
  public static DaemonState create(ControlDirectory control, String name) throws FsException {
    return create(control, name, SupervisedMount::markForCheckpoints);
  }

  private static DaemonState create(ControlDirectory control, String name, Content content)
      throws FsException {
    control.create();
    Path directory = control.stateDirectory(name);
    String process = Long.toString(ProcessHandle.current().pid());
    Path next = directory.resolveSibling(directory.getFileName() + "." + process);
    Path last = directory.resolveSibling(next.getFileName() + ".last");
    try {
      FileUtils.deleteDirectory(next.toFile());
      Files.createDirectory(
          next, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      content.write(next);
      Files.writeString(next.resolve(STARTER), starter(process));
      while (!take(next, directory)) {
        requireUnused(control, name, directory);
        FileUtils.deleteDirectory(last.toFile());
        Files.move(directory, last, StandardCopyOption.ATOMIC_MOVE);
        if (hasStarter(last)) {
          // it has come between the look and the move
          Files.move(last, directory, StandardCopyOption.ATOMIC_MOVE);
          requireUnused(control, name, directory);
        }
      }
    } catch (IOException e) {
      throw unwritable(directory, e);
    } finally {
      FileUtils.deleteQuietly(next.toFile());
      FileUtils.deleteQuietly(last.toFile());
    }
    return new DaemonState(directory);
  }

  /** Renames a directory; returns false where there is another one in its place. */
  private static boolean take(Path next, Path directory) throws IOException {
    try {
      Files.move(next, directory, StandardCopyOption.ATOMIC_MOVE);
      return true;
    } catch (FileSystemException e) {
      if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
        return false;
      }
      throw e;
    }
  }

  private static void requireUnused(ControlDirectory control, String name, Path directory) {
    boolean restarts =
        SupervisedMount.isSupervised(directory) && !SupervisedMount.hasEnded(directory);
    if (restarts || hasStarter(directory) || control.isHeld(name)) {
      throw CliException.couldNot(
          "the name '"
              + name
              + "' has another mount, or just gets one: choose another name with --name");
    }
  }

  /** Tells whether the process that made a state directory still runs. */
  private static boolean hasStarter(Path directory) {
    try {
      String told = Files.readString(directory.resolve(STARTER));
      String process = told.substring(0, told.indexOf(' '));
      return ProcessHandle.current().pid() != Long.parseLong(process)
          && told.equals(starter(process));
    } catch (IOException | IndexOutOfBoundsException | NumberFormatException e) {
      return false;
    }
  }

  /** Tells whether a mount has a supervisor, or a process that begins it. */
  public static boolean isBegun(Path directory) {
    return hasStarter(directory) || SupervisedMount.isSupervised(directory);
  }

  /** Returns the processes that the supervisor of a mount has started: its daemon and others. */
  public static List<Long> children(Path directory) {
    if (!SupervisedMount.isSupervised(directory)) {
      return List.of();
    }
    try {
      String supervisor = Files.readString(directory.resolve("supervisor")).strip();
      return ProcessHandle.of(Long.parseLong(supervisor)).stream()
          .flatMap(ProcessHandle::children)
          .map(ProcessHandle::pid)
          .toList();
    } catch (IOException | NumberFormatException e) {
      return List.of(); // the supervisor has just ended
    }
  }

  /** Tells whether a mount of this user has a daemon that died, and none that starts another. */
  public static boolean hasDied(ControlDirectory control, Path mountpoint) {
    return control
        .leftoverOf(mountpoint)
        .filter(name -> !SupervisedMount.isSupervised(control.stateDirectory(name)))
        .isPresent();
  }

  /** Names a process so that no later one has the same name. */
  private static String starter(String process) {
    return Procfs.host()
        .process(Integer.parseInt(process))
        .map(found -> found.pid() + " " + found.started() + "\n")
        .orElse("");
  }

  private static CliException unwritable(Path directory, IOException failure) {
    return CliException.couldNot(
        "the state directory '" + directory + "' cannot be written: " + failure.getMessage(),
        failure);
  }

  public Path directory() {
    return directory;
  }

  /** Tells whether a supervisor starts the daemons. */
  public boolean isSupervised() {
    return Files.exists(commandFile());
  }

  /**
   * Reads what the daemon is told.
   *
   * @throws CliException where the document cannot be believed or understood
   */
  public SettingsDocument document() {
    try {
      return SettingsDocument.read(directory);
    } catch (IOException e) {
      throw CliException.couldNot(String.valueOf(e.getMessage()), e);
    }
  }

  /**
   * Returns the words that start a daemon, which has everything else from the document.
   *
   * @param program the words that start another process of this program
   */
  public List<String> daemonWords(List<String> program, SettingsDocument document) {
    List<String> words = new ArrayList<>(program);
    if (document.settings().peers().isPresent()) {
      // Proofs are computed, and the launcher does not read the file that may ask for them.
      FIRST_COMPILER.forEach(words::remove);
    }
    words.addAll(List.of(DAEMON_COMMAND, directory.toString()));
    return words;
  }

  /**
   * Tells the supervisor how to start daemons that read this directory's document.
   *
   * @param program the words that start another process of this program
   */
  public void writeCommand(List<String> program, SettingsDocument document) {
    writeCommand(commandText(program, document));
  }

  /**
   * Tells the supervisor how to start daemons without a document.
   *
   * @param daemon the words that start one
   */
  public void writeCommand(List<String> daemon, Path mountpoint, Path log) {
    writeCommand(commandText(NOTHING, mountpoint, log, LogFormat.TEXT, daemon));
  }

  private String commandText(List<String> program, SettingsDocument document) {
    Settings settings = document.settings();
    // objects in S3 need nothing open; by its dot, nothing but a directory is opened, whatever a
    // user has put in its place
    String held =
        settings.get(SettingTable.SOURCE) instanceof Source.Directory directory
            ? directory.path().resolve(".").toString()
            : NOTHING;
    return commandText(
        held,
        settings.get(SettingTable.MOUNTPOINT),
        document.log(),
        settings.get(SettingTable.LOG_FORMAT),
        daemonWords(program, document));
  }

  /**
   * Returns what a supervisor reads before each start of a daemon.
   *
   * @param held what it keeps open for its daemons
   */
  private static String commandText(
      String held, Path mountpoint, Path log, LogFormat format, List<String> daemon) {
    return "origin=%s%nmountpoint=%s%nlog=%s%nformat=%s%nset -- %s%n"
        .formatted(
            ShellWords.quoted(held),
            ShellWords.quoted(mountpoint.toString()),
            ShellWords.quoted(log.toString()),
            format.name().toLowerCase(Locale.ROOT),
            ShellWords.quoted(daemon));
  }

  /** Returns the words that start the next daemon; none where the command has none. */
  public List<String> command() throws IOException {
    List<String> words = ShellWords.parse(Files.readString(commandFile()));
    int set = words.indexOf("set"); // "set --", behind assignments, which are longer words
    return set < 0 || words.size() < set + 2
        ? List.of()
        : List.copyOf(words.subList(set + 2, words.size()));
  }

  private void writeCommand(String text) {
    try {
      Path part = directory.resolve("command.part");
      Files.writeString(part, text);
      Files.move(part, commandFile(), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw unwritable(directory, e);
    }
  }

  /**
   * Has the next daemon be another, and keeps what the supervisor goes back to where that does not
   * start.
   */
  public void replace(List<String> program, SettingsDocument document) throws IOException {
    Path settings = SettingsDocument.file(directory);
    Files.copy(settings, directory.resolve("previous.json"), StandardCopyOption.REPLACE_EXISTING);
    // the last, since the supervisor takes both where it finds this one
    Files.copy(commandFile(), directory.resolve("previous"), StandardCopyOption.REPLACE_EXISTING);
    document.write(directory);
    writeCommand(program, document);
  }

  /** Undoes {@link #replace}, as far as the supervisor has not gone back by itself. */
  public void takeBack() throws IOException {
    moveIfThere(directory.resolve("previous.json"), SettingsDocument.file(directory));
    moveIfThere(directory.resolve("previous"), commandFile());
  }

  private static void moveIfThere(Path from, Path to) throws IOException {
    try {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    } catch (NoSuchFileException e) {
      // the supervisor has gone back, or forward
    }
  }

  /** Returns what the next daemon is to be, to compare it. */
  public String next() throws IOException {
    return Files.readString(commandFile()) + Files.readString(SettingsDocument.file(directory));
  }

  /** Removes it; for a daemon that has no next one. */
  public void remove() {
    FileUtils.deleteQuietly(directory.toFile());
  }

  private Path commandFile() {
    return directory.resolve("command");
  }
}
