package io.holdfast.fs.allocate.node;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.daemon.LiveChanges;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.OwnProcess;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.start.DaemonState;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * The memory that commands of this user have taken for mounts that do not answer yet. A reservation
 * is a file {@code NAME.reserved} in the control directory that its process keeps locked. The
 * kernel releases the lock when the process ends, however that is, and a file without a lock counts
 * for nothing. Whoever looks at reservations, or makes one, has the lock of the file {@code
 * node.budget} meanwhile, so that two commands do not promise the same bytes. Not thread-safe.
 */
public final class Reservations implements AutoCloseable {
  private static final String TURN = "node.budget";
  private static final String ENDING = ".reserved";

  private static final int O_RDWR = 2;
  private static final int EWOULDBLOCK = 11;
  private static final int LOCK_SHARED_NOW = 1 | 4;
  private static final int MOST_TRIES = 200;
  private static final long TRY_MILLIS = 5;
  static final int LOCK_EXCLUSIVE_NOW = 2 | 4;

  /** Longer than a mount needs to give memory up that its readers have in use. */
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  private static final long POLL_MILLIS = 20;

  private static final FileAttribute<?> OF_OWNER =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private static final String JOINS = "joins";

  private final OwnProcess process;
  private final ControlDirectory control;
  private final int turn;

  /**
   * Memory of a mount that does not answer yet.
   *
   * @param joins whether it is a part of the node's budget, of which the mount can give up some
   *     once it answers
   */
  public record Reserved(long bytes, boolean joins) {}

  private Reservations(OwnProcess process, int turn) {
    this.process = process;
    this.control = process.host().control();
    this.turn = turn;
  }

  /**
   * Waits until no other command of this user looks at reservations.
   *
   * @throws CliException when that does not come in time
   * @throws FsException when there can be no control directory
   */
  public static Reservations await(OwnProcess process) throws FsException {
    return await(process, () -> true);
  }

  /**
   * The same, as long as the caller goes on.
   *
   * @throws CliException when that does not come in time, or the caller does not go on
   */
  public static Reservations await(OwnProcess process, BooleanSupplier goesOn) throws FsException {
    process.host().control().create();
    Path directory = process.host().control().path();
    int turn;
    try {
      turn = open(directory.resolve(TURN));
    } catch (IOException e) {
      throw unwritable(directory, e);
    }
    long end = System.nanoTime() + DEADLINE.toNanos();
    while (LIBC.flock(turn, LOCK_EXCLUSIVE_NOW) != 0) {
      int errno = Linux.errno();
      if (errno != EWOULDBLOCK) {
        LIBC.close(turn);
        throw unwritable(directory, new IOException(Linux.describe(errno)));
      }
      if (System.nanoTime() > end || !goesOn.getAsBoolean() || !process.pause(POLL_MILLIS)) {
        LIBC.close(turn);
        throw CliException.couldNot(
            "another mount has been taking its part of the node's budget for %d s: try again"
                .formatted(DEADLINE.toSeconds()));
      }
    }
    return new Reservations(process, turn);
  }

  /** Opens a file that no other user can open, and so lock. */
  static int open(Path file) throws IOException {
    try {
      Files.createFile(file, OF_OWNER);
    } catch (FileAlreadyExistsException e) {
      // of a command before
    }
    return openExisting(file);
  }

  private static int openExisting(Path file) throws IOException {
    long path = Linux.scratch().path();
    Memory.putString(path, Linux.pathBytes(file.toString()));
    int opened = LIBC.openat(Linux.AT_FDCWD, path, O_RDWR | Linux.O_CLOEXEC | Linux.O_NOFOLLOW, 0);
    if (opened < 0) {
      throw Linux.failure(Linux.errno(), file.toString());
    }
    return opened;
  }

  private static CliException unwritable(Path directory, IOException failure) {
    return CliException.couldNot(
        "memory cannot be reserved in '%s': %s".formatted(directory, failure.getMessage()),
        failure);
  }

  /**
   * Returns the memory of mounts that do not answer yet, by name: what processes have reserved, and
   * what mounts have that are begun. Removes the files of processes that have ended.
   */
  public Map<String, Reserved> all() {
    return withBegun(control, reserved(control.path(), true));
  }

  /**
   * Returns the same without a lock, and removes nothing: what others reserve in this moment may be
   * missing.
   */
  static Map<String, Reserved> look(ControlDirectory control) {
    boolean isThere = Files.isDirectory(control.path());
    return withBegun(control, isThere ? reserved(control.path(), false) : Map.of());
  }

  /**
   * Adds what mounts have that have a supervisor, or a process that begins them; also those whose
   * daemon does not answer. Those whose daemon has never answered may yet change.
   */
  private static Map<String, Reserved> withBegun(
      ControlDirectory control, Map<String, Reserved> reserved) {
    Map<String, Reserved> all = new TreeMap<>(reserved);
    for (String name : control.withState()) {
      Path directory = control.stateDirectory(name);
      if (DaemonState.isBegun(directory)) {
        boolean joins =
            Files.notExists(directory.resolve("ready"))
                && LiveChanges.isCapacityOfNodeBudget(directory);
        LiveChanges.capacity(directory)
            .ifPresent(bytes -> all.putIfAbsent(name, new Reserved(bytes, joins)));
      }
    }
    return all;
  }

  private static Map<String, Reserved> reserved(Path directory, boolean removes) {
    Map<String, Reserved> reserved = new TreeMap<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + ENDING)) {
      for (Path file : files) {
        String name = String.valueOf(file.getFileName());
        try {
          if (isHeld(file)) {
            reserved.put(
                name.substring(0, name.length() - ENDING.length()), parse(Files.readString(file)));
          } else if (removes) {
            Files.deleteIfExists(file);
          }
        } catch (IOException e) {
          if (Files.exists(file)) {
            throw e;
          }
          // its mount answers now, or has failed
        }
      }
      return reserved;
    } catch (DirectoryIteratorException e) {
      throw unwritable(directory, e.getCause());
    } catch (IOException e) {
      throw unwritable(directory, e);
    }
  }

  private static Reserved parse(String text) {
    String[] words = text.strip().split(" ", -1);
    return new Reserved(Long.parseLong(words[0]), words[words.length - 1].equals(JOINS));
  }

  private static boolean isHeld(Path file) throws IOException {
    int lock = openExisting(file);
    try {
      return LIBC.flock(lock, LOCK_SHARED_NOW) != 0;
    } finally {
      LIBC.close(lock);
    }
  }

  /**
   * Reserves memory for a mount that is about to begin.
   *
   * @throws CliException where another process does that for a mount of the same name
   */
  public Reservation reserve(String name, Reserved memory) {
    Path file = control.path().resolve(name + ENDING);
    try {
      Files.createFile(file, OF_OWNER);
      Files.writeString(file, memory.bytes() + (memory.joins() ? " " + JOINS : "") + "\n");
      int lock = openExisting(file);
      int errno = lock(lock);
      if (errno != 0) {
        LIBC.close(lock);
        Files.deleteIfExists(file);
        throw new IOException(Linux.describe(errno));
      }
      return new Reservation(process, file, lock);
    } catch (FileAlreadyExistsException e) {
      throw CliException.couldNot(
          "the name '%s' just gets another mount: choose another name with --name".formatted(name),
          e);
    } catch (IOException e) {
      throw unwritable(control.path(), e);
    }
  }

  /** Locks a file that others may look at in this moment; returns 0 or an errno. */
  private int lock(int file) {
    int errno = 0;
    for (int i = 0; i < MOST_TRIES; i++) {
      errno = LIBC.flock(file, LOCK_EXCLUSIVE_NOW) == 0 ? 0 : Linux.errno();
      if (errno == 0 || !process.pause(TRY_MILLIS)) {
        break;
      }
    }
    return errno;
  }

  /** Lets other commands go on. */
  @Override
  public void close() {
    LIBC.close(turn);
  }

  /** Memory that this process has taken for a mount. Thread-safe. */
  public static final class Reservation implements AutoCloseable {
    private final OwnProcess process;
    private final Path file;
    private final int lock;
    private final Thread atExit = NamedThreads.named("end-reservation", this::remove);
    private final AtomicBoolean removed = new AtomicBoolean();

    private Reservation(OwnProcess process, Path file, int lock) {
      this.process = process;
      this.file = file;
      this.lock = lock;
      process.atExit(atExit);
    }

    private void remove() {
      if (removed.compareAndSet(false, true)) {
        try {
          Files.deleteIfExists(file);
        } catch (IOException e) {
          // without its lock it counts for nothing
        }
        LIBC.close(lock);
      }
    }

    /** Ends it: the mount answers, or there will be none. */
    @Override
    public void close() {
      remove();
      process.forgetAtExit(atExit);
    }
  }
}
