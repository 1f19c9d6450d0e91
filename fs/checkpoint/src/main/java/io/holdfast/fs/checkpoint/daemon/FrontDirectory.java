package io.holdfast.fs.checkpoint.daemon;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.checkpoint.FileTree;
import io.holdfast.fs.checkpoint.Store;
import io.holdfast.fs.linux.Boot;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.TrustedPlace;
import io.holdfast.fs.units.Visible;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.UUID;
import org.apache.commons.io.FileUtils;

/**
 * The directory of a front as one process has it: locked against others, and with the boot in which
 * it was used, which shows whether the machine has crashed meanwhile. The file {@code owner} is
 * what its store has to tell who writes to it, {@code store} the store whose files it has, and
 * {@code last} the mount that this store has to name as its last one. Only its owner may enter it,
 * because users reach the files by the mount alone.
 */
final class FrontDirectory implements AutoCloseable {
  private static final int LOCK_EXCLUSIVE = 2;
  private static final int LOCK_NOW = 4;
  private static final int WRITABLE_FOR_OTHERS = 022;
  private static final String BOOT = "boot";
  private static final String OWNER = "owner";
  private static final String STORE = "store";
  private static final String LAST = "last";
  private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");

  private final Path directory;
  private final int lock;

  /**
   * Opens a directory, which is created if it is not there.
   *
   * @param waits whether to wait until another process does not use it any more: a daemon that was
   *     killed, and does not end because the store hangs, may yet change the store
   * @throws IOException with one line if others could put another in its place, or another mount
   *     uses it
   */
  FrontDirectory(Path directory, boolean waits) throws IOException {
    this.directory = directory;
    Files.createDirectories(directory);
    TrustedPlace.check("the front", directory);
    boolean othersCouldWrite =
        ((Integer) Files.getAttribute(directory, "unix:mode") & WRITABLE_FOR_OTHERS) != 0;
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
    if (othersCouldWrite) {
      checkEntries();
    }
    long path = Linux.scratch().path();
    Memory.putString(path, Linux.pathBytes(directory.resolve("lock").toString()));
    int flags = FileTree.O_RDWR | FileTree.O_CREAT | Linux.O_CLOEXEC;
    lock = LIBC.openat(Linux.AT_FDCWD, path, flags, 0600);
    if (lock < 0) {
      throw Linux.failure(Linux.errno(), directory.toString());
    }
    if (LIBC.flock(lock, waits ? LOCK_EXCLUSIVE : LOCK_EXCLUSIVE | LOCK_NOW) != 0) {
      LIBC.close(lock);
      throw new FsException(
          FsError.UNAVAILABLE,
          "the front '%s' is in use by another mount: choose another with --front"
              .formatted(directory));
    }
  }

  private void checkEntries() throws IOException {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      for (Path entry : entries) {
        TrustedPlace.check("of the front,", entry);
      }
    }
  }

  /**
   * Returns what a store has to tell who writes to it. The first line identifies this front among
   * all, also among those that were at its place before, and stays when the node gets another name.
   * The second is another one for each mount, unless the front has operations: these are for the
   * store that has this very line, and for no store that an earlier mount with this front has left.
   *
   * @param stays whether it has to be that of the last mount, which goes on or has left operations
   * @param isVolatile whether the machine loses the front when it stops
   */
  String owner(boolean stays, boolean isVolatile) throws IOException {
    Path owner = directory.resolve(OWNER);
    String known = Files.exists(owner) ? Files.readString(owner) : "";
    if (stays && !known.isEmpty()) {
      return known;
    }
    String front = known.isEmpty() ? newFront(isVolatile) : known.lines().findFirst().orElseThrow();
    write(OWNER, front + "\nmount " + UUID.randomUUID() + "\n");
    return Files.readString(owner);
  }

  private String newFront(boolean isVolatile) throws IOException {
    Path id = Path.of("/etc/machine-id");
    String machine = Files.isReadable(id) ? Files.readString(id).strip() : "without a machine-id";
    String host = Files.readString(HOST_NAME).strip(); // a name service may not know it
    String place = Visible.of("node %s (%s), front %s".formatted(host, machine, directory));
    return Store.front(isVolatile ? place + Store.IN_MEMORY : place, UUID.randomUUID());
  }

  /** Returns the identity of the store whose files the front has; empty if it has none. */
  String store() throws IOException {
    Path store = directory.resolve(STORE);
    return Files.exists(store) ? Files.readString(store) : "";
  }

  /** Notes whose files the front has. */
  void store(String identity) throws IOException {
    if (store().equals(identity)) {
      return;
    }
    write(STORE, identity);
  }

  /**
   * Returns what identifies the mount that this front's files are of, if its store names the same
   * mount as its last one; empty if none is known.
   */
  String lastMount() throws IOException {
    Path last = directory.resolve(LAST);
    return Files.exists(last) ? Files.readString(last) : "";
  }

  /** Notes the mount, which the store names by now. */
  void lastMount(String mount) throws IOException {
    if (!lastMount().equals(mount)) {
      write(LAST, mount);
    }
  }

  private void write(String name, String text) throws IOException {
    Path part = directory.resolve(name + ".part");
    Files.writeString(part, text);
    sync(part);
    Files.move(part, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    sync(directory);
  }

  /** Tells whether the machine has stopped since a daemon used the front and did not finish. */
  boolean hasCrashed() throws IOException {
    Path boot = directory.resolve(BOOT);
    return Files.exists(boot) && !Files.readString(boot).equals(Boot.id().toString());
  }

  /**
   * Notes that the front is in use in this boot. The file is there as a whole or not at all: what
   * is in it in part would be taken for another boot, and the front for one that a crash may have
   * damaged.
   */
  void begin() throws IOException {
    if (!Files.exists(directory.resolve(BOOT)) || hasCrashed()) {
      write(BOOT, Boot.id().toString());
    }
    sync(directory); // an earlier process may have been killed before it did
  }

  /** Notes that nothing is under way: a crash of the machine loses nothing from now on. */
  void finish() throws IOException {
    sync();
    Files.deleteIfExists(directory.resolve(BOOT));
  }

  /** Takes all files away, the cursor last: it tells that the store has everything else. */
  void empty() throws IOException {
    for (String name : new String[] {"log", "data", "unlinked", "tree", "comparing", "cursor"}) {
      Path each = directory.resolve(name);
      if (Files.exists(each)) {
        FileUtils.forceDelete(each.toFile());
      }
    }
    sync();
  }

  private static void sync(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  private void sync() throws FsException {
    if (LIBC.syncfs(lock) != 0) {
      throw Linux.failure(Linux.errno(), directory.toString());
    }
  }

  @Override
  public void close() {
    LIBC.close(lock);
  }
}
