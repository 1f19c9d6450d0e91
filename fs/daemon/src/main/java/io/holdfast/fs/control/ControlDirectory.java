package io.holdfast.fs.control;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.ForeignDirectory;
import io.holdfast.fs.linux.PlainFile;
import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.apache.commons.io.FileUtils;
import org.jspecify.annotations.Nullable;

/**
 * The directory that holds, for each running daemon, its socket {@code <name>.sock}, its process
 * file {@code <name>.pid}, its lock file {@code <name>.lock} and, with a supervisor, its state
 * {@code <name>.state}.
 *
 * <p>The process file has the pid in its first line and the mountpoint behind it. The daemon keeps
 * the lock file locked, so a missing lock shows that the daemon has died, even if another process
 * has its pid. A user who may not open the lock file is told by the process instead. A daemon that
 * was killed keeps the lock, and its socket, while one of its threads waits for a source that does
 * not answer; its process is a zombie then, and it counts as dead. The next daemon of the same name
 * replaces the files of a dead one, and {@link #removeLeftovers} removes them.
 *
 * <p>The directory may be another user's, who may have put anything there. So the process file and
 * the lock file are opened only if they are plain files, and only so many names are seen. Where
 * root looks at the directory of a user, nothing there is opened by its path (see {@link
 * ForeignDirectory}). Immutable and thread-safe.
 */
public final class ControlDirectory {
  private static final String OF_DAEMONS = "holdfast";
  private static final String SOCKET = ".sock";
  private static final String PROCESS = ".pid";
  private static final String LOCK = ".lock";
  private static final String STATE = ".state";

  /**
   * Most difference between a process's start time, which the kernel counts in ticks, and a file's
   * times.
   */
  private static final Duration CLOCKS_DIFFER = Duration.ofSeconds(2);

  /** More than a pid and the longest path. */
  private static final int LARGEST_PROCESS_FILE = 16 * 1024;

  /** More than a machine has mounts; another user may have made any number of files. */
  private static final int MOST_NAMES = 512;

  private static final int ROOT = 0;

  /** The bits of a mode that let the group or all others write. */
  private static final int OTHERS_WRITE = 022;

  /** More than a directory of daemons holds; a user may have made any number of files. */
  private static final int MOST_ENTRIES = 8192;

  private final Path directory;

  /** Whether the directory is that of a user whom this process does not trust. */
  private final boolean isForeign;

  private ControlDirectory(Path directory) {
    this(directory, false);
  }

  private ControlDirectory(Path directory, boolean isForeign) {
    this.directory = directory;
    this.isForeign = isForeign;
  }

  /** Returns the given directory, which need not exist yet. */
  public static ControlDirectory at(Path directory) {
    return new ControlDirectory(directory);
  }

  /**
   * Returns the directory for the daemons of another user.
   *
   * @param runtime that user's directory in {@code /run/user}
   */
  public static ControlDirectory ofUser(Path runtime) {
    return new ControlDirectory(runtime.resolve(OF_DAEMONS), true);
  }

  /** Returns the directory of root's daemons, {@code /run/holdfast}. */
  public static ControlDirectory ofRoot() {
    return new ControlDirectory(Path.of("/run/holdfast"));
  }

  /**
   * Returns the directory for the daemons of a user: {@code /run/holdfast} for root, otherwise
   * below {@code $XDG_RUNTIME_DIR}, or below the user's home directory where that is not set.
   *
   * @param uid the user
   * @param environment the environment variables of that user
   */
  public static ControlDirectory of(int uid, Map<String, String> environment) {
    if (uid == 0) {
      return ofRoot();
    }
    String runtime = environment.get("XDG_RUNTIME_DIR");
    if (runtime != null && runtime.startsWith("/")) {
      return new ControlDirectory(Path.of(runtime, OF_DAEMONS));
    }
    Path usual = Path.of("/run/user/" + uid);
    if (Files.isDirectory(usual)) {
      return new ControlDirectory(usual.resolve(OF_DAEMONS));
    }
    String home = environment.getOrDefault("HOME", "/");
    return new ControlDirectory(Path.of(home, ".local/state/holdfast/run"));
  }

  /** Returns the directory for daemons of the user that runs this process. */
  public static ControlDirectory standard() {
    return of(Procfs.ownUid(), System.getenv());
  }

  /** Returns the directory itself. */
  public Path path() {
    return directory;
  }

  /**
   * Returns the user that the directory belongs to, where root looks at the directory of a user:
   * {@code /run/user} has a directory for each, by number.
   */
  public OptionalInt user() {
    Path runtime = directory.getParent();
    return isForeign && runtime != null
        ? OptionalInt.of(Integer.parseUnsignedInt(String.valueOf(runtime.getFileName())))
        : OptionalInt.empty();
  }

  /** Returns the socket of a name. */
  public Path socket(String name) {
    return directory.resolve(name + SOCKET);
  }

  /** Returns the process file of a name. */
  public Path processFile(String name) {
    return directory.resolve(name + PROCESS);
  }

  /** Returns the path at which a process file is written before it is renamed. */
  static Path next(Path processFile) {
    return processFile.resolveSibling(processFile.getFileName() + ".next");
  }

  /** Returns the file that a daemon of this name keeps locked. */
  public Path lockFile(String name) {
    return directory.resolve(name + LOCK);
  }

  /** Returns the directory of the state that a daemon of this name leaves to the next one. */
  public Path stateDirectory(String name) {
    return directory.resolve(name + STATE);
  }

  /** Returns all daemons that are alive, by name. Omits daemons that this user may not see. */
  public List<RunningDaemon> running() {
    List<RunningDaemon> running = new ArrayList<>();
    for (String name : names()) {
      running(name).ifPresent(running::add);
    }
    return running;
  }

  /**
   * Returns the daemon of a name if it is alive. The daemon's own process must not call this:
   * closing the lock file would release the lock.
   */
  public Optional<RunningDaemon> running(String name) {
    return daemon(name, true);
  }

  /** Returns the daemons that died and left their process files. */
  public List<RunningDaemon> dead() {
    List<RunningDaemon> dead = new ArrayList<>();
    for (String name : names()) {
      daemon(name, false).ifPresent(dead::add);
    }
    return dead;
  }

  /** Returns the dead daemon of this name, if it left its process file. */
  public Optional<RunningDaemon> leftover(String name) {
    return daemon(name, false);
  }

  /** Returns the name of a dead daemon that left its process file and was mounted at this path. */
  public Optional<String> leftoverOf(Path mountpoint) {
    for (String name : names()) {
      if (daemon(name, false).filter(d -> d.mountpoint().equals(mountpoint)).isPresent()) {
        return Optional.of(name);
      }
    }
    return Optional.empty();
  }

  /**
   * Removes the socket, the state and the process file of a dead daemon.
   *
   * @return whether anything was removed
   */
  public boolean removeLeftovers(String name) throws IOException {
    for (int i = 0; i < NameLock.ATTEMPTS; i++) {
      Path lock = lockFile(name);
      try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE)) {
        if (tryLock(channel, false) != null) {
          removeFiles(name);
          Files.deleteIfExists(lock);
          return true;
        }
      } catch (NoSuchFileException e) {
        return removeFiles(name);
      }
      // Another process may be checking whether the daemon lives.
      NameLock.pause();
    }
    if (leftover(name).isEmpty()) {
      return false;
    }
    removeFiles(name);
    Files.deleteIfExists(lockFile(name));
    return true;
  }

  private boolean removeFiles(String name) throws IOException {
    FileUtils.deleteQuietly(stateDirectory(name).toFile());
    boolean hadSocket = Files.deleteIfExists(socket(name));
    Files.deleteIfExists(next(processFile(name)));
    return Files.deleteIfExists(processFile(name)) || hadSocket;
  }

  /** Creates the directory, readable by all users. */
  public void create() throws FsException {
    try {
      if (!Files.isDirectory(directory)) {
        Set<PosixFilePermission> mode = PosixFilePermissions.fromString("rwxr-xr-x");
        // a log may come into the directories above, which umask 0002 would let a group write
        Files.createDirectories(directory, PosixFilePermissions.asFileAttribute(mode));
        Files.setPosixFilePermissions(directory, mode);
      }
    } catch (IOException e) {
      throw new FsException(
          FsError.ACCESS_DENIED,
          "the control directory " + directory + " cannot be created: " + e.getMessage(),
          e);
    }
  }

  /** Returns the names of mounts that have a state directory. */
  public List<String> withState() {
    return names(STATE);
  }

  private List<String> names() {
    return names(PROCESS);
  }

  private List<String> names(String ending) {
    List<String> names;
    try {
      if (isForeign) {
        try (ForeignDirectory open = ForeignDirectory.open(directory)) {
          names = names(open.path(), ending);
        }
      } else {
        names = names(directory, ending);
      }
    } catch (IOException | DirectoryIteratorException e) {
      // No directory or no right to it: no daemon that could be asked.
      return List.of();
    }
    Collections.sort(names);
    return names;
  }

  private static List<String> names(Path directory, String ending) throws IOException {
    List<String> names = new ArrayList<>();
    int entries = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        if (names.size() == MOST_NAMES || entries++ == MOST_ENTRIES) {
          break;
        }
        String text = String.valueOf(file.getFileName());
        if (text.endsWith(ending)) {
          names.add(text.substring(0, text.length() - ending.length()));
        }
      }
    }
    return names;
  }

  private Optional<RunningDaemon> daemon(String name, boolean alive) {
    try {
      Path file = processFile(name);
      boolean isPlain = !isForeign && isTrusted();
      return parse(name, isPlain ? Files.readString(file) : plainText(file, LARGEST_PROCESS_FILE))
          .filter(daemon -> isAlive(daemon) == alive);
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /**
   * Returns the text of a small file in the state directory of a name.
   *
   * @throws IOException if there is none, or it is no plain file, or larger
   */
  public String stateText(String name, String file, int most) throws IOException {
    return plainText(stateDirectory(name).resolve(file), most);
  }

  private String plainText(Path file, int most) throws IOException {
    if (isForeign) {
      try (ForeignDirectory open = ForeignDirectory.open(directory)) {
        return open.text(directory.relativize(file).toString(), most);
      }
    }
    return PlainFile.text(file, most);
  }

  private boolean isAlive(RunningDaemon daemon) {
    if (isZombie(daemon)) {
      return false;
    }
    try {
      return isLocked(daemon.name());
    } catch (AccessDeniedException e) {
      return isProcessOf(daemon);
    } catch (IOException e) {
      return false;
    }
  }

  private boolean isZombie(RunningDaemon daemon) {
    return Procfs.host().state(daemon.pid()) == Procfs.ZOMBIE && isProcessOf(daemon);
  }

  /**
   * Tells whether the last daemon of a name was killed, and one of its threads may keep the lock.
   */
  boolean isHeldByTheDead(String name) {
    return leftover(name).filter(this::isZombie).isPresent();
  }

  /**
   * Tells whether a daemon holds this name, even one that has just removed its process file or has
   * not written it yet. The daemon's own process must not call this.
   */
  public boolean isHeld(String name) {
    try {
      return isLocked(name);
    } catch (IOException e) {
      return false;
    }
  }

  private boolean isLocked(String name) throws IOException {
    try (FileChannel channel = openLock(lockFile(name))) {
      return tryLock(channel, true) == null;
    }
  }

  private FileChannel openLock(Path file) throws IOException {
    if (isForeign) {
      try (ForeignDirectory open = ForeignDirectory.open(directory)) {
        return open.open(String.valueOf(file.getFileName()));
      }
    }
    return isTrusted() ? FileChannel.open(file, StandardOpenOption.READ) : PlainFile.open(file);
  }

  /**
   * Tells whether only root and this process's user can put files here. These need no native code
   * to be opened, which a short command would have to load. A link to such a directory does not
   * count: its owner could lead it elsewhere in the next moment.
   */
  private boolean isTrusted() throws IOException {
    int owner = (int) Files.getAttribute(directory, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    int mode = (int) Files.getAttribute(directory, "unix:mode", LinkOption.NOFOLLOW_LINKS);
    return (owner == ROOT || owner == Procfs.ownUid()) && (mode & OTHERS_WRITE) == 0;
  }

  /**
   * Tells whether the process with the daemon's pid started before the daemon wrote its process
   * file.
   */
  private boolean isProcessOf(RunningDaemon daemon) {
    try {
      Instant written = modified(processFile(daemon.name())).toInstant();
      return ProcessHandle.of(daemon.pid())
          .flatMap(process -> process.info().startInstant())
          .filter(start -> start.isBefore(written.plus(CLOCKS_DIFFER)))
          .isPresent();
    } catch (IOException e) {
      return false;
    }
  }

  private FileTime modified(Path file) throws IOException {
    if (isForeign) {
      try (ForeignDirectory open = ForeignDirectory.open(directory)) {
        return open.modified(String.valueOf(file.getFileName()));
      }
    }
    return Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS);
  }

  private Optional<RunningDaemon> parse(String name, String text) {
    int line = text.indexOf('\n');
    if (line < 1) {
      return Optional.empty();
    }
    try {
      long pid = Long.parseLong(text.substring(0, line));
      String mountpoint = text.substring(line + 1, Math.max(line + 1, text.length() - 1));
      return Optional.of(new RunningDaemon(name, pid, Path.of(mountpoint), socket(name)));
    } catch (NumberFormatException | InvalidPathException e) {
      // Half written: the daemon is just starting, or the file is no process file.
      return Optional.empty();
    }
  }

  /** Returns the lock, or null when any process has it, including this one. */
  static @Nullable FileLock tryLock(FileChannel channel, boolean shared) throws IOException {
    try {
      return channel.tryLock(0, Long.MAX_VALUE, shared);
    } catch (OverlappingFileLockException e) {
      return null;
    }
  }
}
