package io.holdfast.fs.daemon;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.commons.io.FileUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The things that a daemon gets from its supervisor, the {@code holdfast-supervise} script: open
 * descriptors, and a state directory on tmpfs for the next daemon, if this one is killed.
 * Immutable; thread-safe.
 */
public final class Supervision {
  private static final Logger log = LoggerFactory.getLogger(Supervision.class);

  /**
   * The descriptor that is open for as long as the daemon lives, so that the supervisor notices the
   * daemon's end.
   */
  private static final int ALIVE = 7;

  private static final String ACCESS_SOCKET = "access-socket";
  private static final String SESSION = "session";
  private static final int ORIGIN = 8;
  private static final int FUSE = 9;

  private static final Path SHARED_MEMORY = Path.of("/dev/shm");

  private final Path state;
  private final int supervisor;
  private volatile List<Path> elsewhere = List.of();

  /** Whether an earlier daemon has mounted; then its session is there. */
  private final boolean takesOver;

  private Supervision(Path state) {
    this.state = state;
    this.takesOver = Files.exists(state.resolve(SESSION));
    this.supervisor = LIBC.getppid();
  }

  /**
   * Returns what this process has from its supervisor.
   *
   * @param state the mount's state directory
   */
  public static Supervision at(Path state) {
    return new Supervision(state);
  }

  /** Returns /dev/fuse, open, and connected once something has been mounted with it. */
  public int fuse() {
    return FUSE;
  }

  /** Returns the dataset's directory, open; of no use if the dataset is in S3. */
  int origin() {
    return ORIGIN;
  }

  /** Returns the descriptor by whose end the supervisor notices the end of this daemon. */
  int alive() {
    return ALIVE;
  }

  /** Returns the descriptors that threads must not have if they may wait for the own mount. */
  int[] descriptors() {
    return new int[] {ALIVE, ORIGIN, FUSE};
  }

  /** Returns the file of the agreement with the kernel; it is there once the mount is. */
  public Path session() {
    return state.resolve(SESSION);
  }

  /**
   * Sets the places for parts that have no room in the state directory: /dev/shm, then the
   * directory of what one mount leaves to the next.
   */
  public void goElsewhere(Optional<Path> directory) {
    List<Path> places = new ArrayList<>();
    if (Files.isDirectory(SHARED_MEMORY)) {
      places.add(SHARED_MEMORY);
    }
    directory.ifPresent(places::add);
    elsewhere = List.copyOf(places);
  }

  /** Returns the places for parts that have no room in the state directory. */
  List<Path> elsewhere() {
    return elsewhere;
  }

  /** Opens the memory of all nodes. */
  public GrowingMemory nodes() throws FsException {
    return memory("nodes");
  }

  /** Opens the memory of the requests that are not answered. */
  public GrowingMemory requests() throws FsException {
    return memory("requests");
  }

  /**
   * Opens a memory. If a part of it was in a killed daemon's own memory, no daemon can take the
   * mount over.
   */
  public GrowingMemory memory(String name) throws FsException {
    try {
      return GrowingMemory.at(state.resolve(name), elsewhere);
    } catch (FsException e) {
      if (e.code() == FsError.UNAVAILABLE) {
        log.error("the mount ends: {}", e.getMessage());
        end();
      }
      throw e;
    }
  }

  Path residents() {
    return state.resolve("residents");
  }

  /** Returns the directory of the announced orders; it may be missing. */
  Path orders() {
    return state.resolve("orders");
  }

  /** Returns the state directory. */
  Path directory() {
    return state;
  }

  /** Tells whether a daemon of this mount has remembered that its access log is this socket. */
  boolean isAccessSocket(Path socket) {
    try {
      return Files.readString(state.resolve(ACCESS_SOCKET)).equals(socket.toString());
    } catch (IOException e) {
      return false; // none of them has, or the log was a file
    }
  }

  /** Tells later daemons that the access log is a socket, also when it is not there. */
  void rememberAccessSocket(Path socket) throws IOException {
    write(ACCESS_SOCKET, socket.toString().getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Tells whether this daemon takes a mount over from an earlier one. The session says so, which is
   * there from before the first daemon answered, and not a number that the supervisor writes later,
   * perhaps to a full file system.
   */
  boolean takesOver() {
    return takesOver;
  }

  /** Returns the number of daemons before this one, for figures. */
  long restarts() {
    try {
      return Long.parseLong(Files.readString(state.resolve("restarts")).strip());
    } catch (IOException | NumberFormatException e) {
      return 0;
    }
  }

  /** Says that the mount answers. */
  public void ready() throws FsException {
    // the time, by a clock that nobody sets and that the supervisor can read
    mark("ready", uptime());
  }

  /**
   * Says that the end of this daemon is no failure, and that another daemon is to take its place.
   */
  void restart() throws FsException {
    mark("restart", new byte[0]);
  }

  /** Says that the supervisor is to start no further daemon. */
  public void end() {
    try {
      SupervisedMount.forbidRestart(state);
      removeElsewhere();
      if (isOrphaned()) {
        FileUtils.deleteDirectory(state.toFile());
      }
    } catch (IOException e) {
      log.error("the supervisor may start another daemon: {}", e.getMessage());
    }
  }

  private void removeElsewhere() throws IOException {
    for (Path place : elsewhere) {
      GrowingMemory.removeElsewhere(state, place);
    }
  }

  /** Returns the supervisor's process. */
  long supervisor() {
    return supervisor;
  }

  private static byte[] uptime() throws FsException {
    try {
      return Files.readAllBytes(Path.of("/proc/uptime"));
    } catch (IOException e) {
      throw new FsException(FsError.IO, "/proc/uptime: " + e.getMessage(), e);
    }
  }

  private void mark(String what, byte[] content) throws FsException {
    try {
      write(what, content);
    } catch (IOException e) {
      throw new FsException(FsError.IO, state + ": " + e.getMessage(), e);
    }
  }

  private void write(String what, byte[] content) throws IOException {
    Path part = Files.write(state.resolve(what + ".part"), content);
    Files.move(part, state.resolve(what), StandardCopyOption.ATOMIC_MOVE);
  }

  /** Tells whether the supervisor is gone. */
  public boolean isOrphaned() {
    return LIBC.getppid() != supervisor;
  }
}
