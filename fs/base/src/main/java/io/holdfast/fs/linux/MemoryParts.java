package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of a {@link GrowingMemory}, one behind the other in its range: the first file, and
 * files elsewhere for the parts that have no room in the first. Each file is as long as the range,
 * and holds its part at the same offset. The first page of the first file says where the others
 * are:
 *
 * <pre>
 *    0 magic u64, written last         256 first of the parts elsewhere, 320 bytes each:
 *    8 bytes reserved u64                    0 offset from which on it is there u64
 *   16 number of parts elsewhere u32         8 its device u64, inode u64
 *                                           24 length of its path u16; 0 for a process's memory
 *                                           26 path
 * </pre>
 *
 * <p>The name of a part elsewhere follows from the first file's name. So a process that creates the
 * first file anew removes the parts that another has left. Not thread-safe.
 */
final class MemoryParts implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(MemoryParts.class);

  /** "hf-mem" and a line feed, and the layout described here. */
  private static final long MAGIC = 0x010a_6d65_6d2d_6668L;

  private static final int RESERVED = 8;
  private static final int COUNT = 16;
  private static final int ENTRIES = 256;
  private static final int ENTRY = 320;
  private static final int ENTRY_DEVICE = 8;
  private static final int ENTRY_INODE = 16;
  private static final int ENTRY_LENGTH = 24;
  private static final int ENTRY_PATH = 26;
  private static final int MOST = 8;
  private static final int LONGEST_PATH = ENTRY - ENTRY_PATH;

  private static final FileAttribute<?> DIRECTORY_MODE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private static final int O_RDWR = 2;
  private static final int O_CREAT = 0x40;
  private static final int O_EXCL = 0x80;
  private static final int OWNER_ONLY = 0600;
  private static final int MFD_CLOEXEC = 1;

  /** struct statfs on 64-bit machines. */
  private static final int FS_BLOCK_SIZE = 8;

  private static final int FS_BLOCKS = 16;
  private static final int FS_AVAILABLE = 32;

  private static final int TMPFS = 0x01021994;

  /**
   * Filesystems on which a reserved page can be written again and again, even if the filesystem is
   * full. A filesystem that writes each page to a new place may have no place for it then.
   */
  private static final Set<Integer> KEEP_THEIR_PLACE = Set.of(TMPFS, 0xEF53, 0x58465342);

  private final String what;
  private final @Nullable Path file;
  private final List<Path> places;
  private final List<Part> parts = new ArrayList<>();
  private final boolean isNew;

  /** The number of places that have been tried. */
  private int tried;

  /**
   * A file that holds the range from an offset on.
   *
   * @param path its path, or its path, or null for memory of this process
   */
  record Part(long from, int fd, String name, @Nullable Path path) {
    boolean isOfProcess() {
      return path == null;
    }

    /**
     * Tells whether the file's filesystem has so many bytes free. Other programs use the places
     * elsewhere too, so half of each is left to them. A filesystem without a bound always has room.
     */
    boolean leaves(long bytes) {
      long figures = Linux.scratch().area();
      if (LIBC.fstatfs(fd, figures) != 0) {
        return false;
      }
      long block = Memory.getLong(figures + FS_BLOCK_SIZE);
      long blocks = Memory.getLong(figures + FS_BLOCKS);
      long others = from == 0 ? 0 : blocks / 2;
      return blocks == 0 || Memory.getLong(figures + FS_AVAILABLE) - others >= bytes / block;
    }

    private boolean keepsItsPlace() {
      long figures = Linux.scratch().area();
      return LIBC.fstatfs(fd, figures) == 0
          && KEEP_THEIR_PLACE.contains((int) Memory.getLong(figures));
    }

    private Map<String, Object> identity() throws IOException {
      return Files.readAttributes(Path.of("/proc/self/fd/" + fd), "unix:dev,ino,size");
    }
  }

  private MemoryParts(String what, @Nullable Path file, List<Path> places, int fd)
      throws FsException {
    this.what = what;
    this.file = file;
    this.places = places;
    if (fd < 0) {
      throw Linux.failure(Linux.errno(), what);
    }
    Part first = new Part(0, fd, what, file);
    parts.add(first);
    try {
      isNew = number(first.identity(), "size") == 0;
    } catch (IOException e) {
      LIBC.close(fd);
      throw new FsException(FsError.IO, what + ": " + e.getMessage(), e);
    }
  }

  private static long number(Map<String, Object> identity, String key) {
    return identity.get(key) instanceof Number number ? number.longValue() : -1;
  }

  static MemoryParts ofProcess(String what) throws FsException {
    return new MemoryParts(what, null, List.of(), memory(what));
  }

  private static int memory(String what) {
    long name = Linux.scratch().path();
    Memory.putString(name, Linux.pathBytes(what));
    return LIBC.memfd_create(name, MFD_CLOEXEC);
  }

  static MemoryParts of(Path file, List<Path> places) throws FsException {
    return new MemoryParts(file.toString(), file, places, open(file, O_CREAT));
  }

  private static int open(Path file, int flags) {
    long path = Linux.scratch().path();
    Memory.putString(path, Linux.pathBytes(file.toString()));
    int all = O_RDWR | Linux.O_CLOEXEC | Linux.O_NOFOLLOW | flags;
    return LIBC.openat(Linux.AT_FDCWD, path, all, OWNER_ONLY);
  }

  Part first() {
    return parts.get(0);
  }

  Part last() {
    return parts.get(parts.size() - 1);
  }

  /** Returns where the first file's part of the range ends. */
  long endOfFirst() {
    return parts.size() == 1 ? Long.MAX_VALUE : parts.get(1).from();
  }

  /** Tells whether the first file is new. */
  boolean isNew() {
    return isNew;
  }

  /**
   * Writes the header of a new file, and removes the parts elsewhere that an earlier file of the
   * same name has left.
   */
  void begin(long header) throws FsException {
    try {
      for (Path place : places) {
        Files.deleteIfExists(within(place));
      }
    } catch (IOException e) {
      throw new FsException(FsError.IO, what + ": what was left cannot be removed: " + e, e);
    }
    Memory.putInt(header + COUNT, 0);
    Memory.putLong(header + RESERVED, Linux.PAGE_SIZE);
    VarHandle.releaseFence();
    Memory.putLong(header, MAGIC);
  }

  /** Opens the parts elsewhere that an earlier process has left. */
  List<Part> read(long header) throws FsException {
    if (Memory.getLong(header) != MAGIC) {
      throw new FsException(
          FsError.UNSUPPORTED, what + ": written by another version: unmount and mount again");
    }
    int count = Memory.getInt(header + COUNT);
    for (int i = 0; i < count; i++) {
      parts.add(read(header + ENTRIES + (long) i * ENTRY, i));
    }
    tried = places.size();
    return List.copyOf(parts.subList(1, parts.size()));
  }

  private Part read(long entry, int number) throws FsException {
    int length = Memory.getShort(entry + ENTRY_LENGTH);
    if (length == 0) {
      throw new FsException(
          FsError.UNAVAILABLE,
          what + ": a part of it was in memory of a daemon that was killed, and is gone with it");
    }
    Path path =
        Path.of(new String(Memory.bytes(entry + ENTRY_PATH, length), StandardCharsets.UTF_8));
    Part part = new Part(Memory.getLong(entry), open(path, 0), path.toString(), path);
    if (part.fd < 0) {
      throw new FsException(
          FsError.UNAVAILABLE,
          what + ": a part of it is gone: " + path + ": " + Linux.describe(Linux.errno()));
    }
    try {
      Map<String, Object> identity = part.identity();
      if (number(identity, "dev") == Memory.getLong(entry + ENTRY_DEVICE)
          && number(identity, "ino") == Memory.getLong(entry + ENTRY_INODE)) {
        return part;
      }
    } catch (IOException e) {
      LIBC.close(part.fd);
      throw new FsException(FsError.IO, path + ": " + e.getMessage(), e);
    }
    LIBC.close(part.fd);
    throw new FsException(
        FsError.UNAVAILABLE, what + ": part " + (number + 1) + " of it is another file: " + path);
  }

  long reserved(long header) {
    return Memory.getLong(header + RESERVED);
  }

  void setReserved(long header, long bytes) {
    Memory.putLong(header + RESERVED, bytes);
  }

  private Path within(Path place) {
    Path named = Objects.requireNonNull(file).toAbsolutePath();
    return place.resolve(prefix(Objects.requireNonNull(named.getParent())) + named.getFileName());
  }

  private static String prefix(Path directory) {
    return "holdfast-" + directory.getFileName() + "-";
  }

  /** Removes from a place the parts of a directory's files. */
  static void remove(Path directory, Path place) throws IOException {
    String prefix = prefix(directory.toAbsolutePath());
    try (DirectoryStream<Path> there =
        Files.newDirectoryStream(
            place, path -> String.valueOf(path.getFileName()).startsWith(prefix))) {
      for (Path path : there) {
        Files.deleteIfExists(path);
      }
    } catch (NoSuchFileException e) {
      // no part was ever put there
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }

  /**
   * Opens a file in the next place that has room; else memory of this process; null if that is full
   * too.
   */
  @Nullable Part open(long from) {
    while (tried < places.size()) {
      Part part = create(within(places.get(tried++)), from);
      if (part != null) {
        return part;
      }
    }
    if (last().isOfProcess() || parts.size() == MOST) {
      return null;
    }
    int fd = memory(what);
    return fd < 0 ? null : new Part(from, fd, what, null);
  }

  /**
   * Creates a file in a place, or returns null. Never uses a file that is there already, because
   * others may create files in the place too.
   */
  private @Nullable Part create(Path path, long from) {
    if (Linux.pathBytes(path.toString()).length > LONGEST_PATH) {
      return null;
    }
    try {
      Files.createDirectories(Objects.requireNonNull(path.getParent()), DIRECTORY_MODE);
      Files.deleteIfExists(path);
    } catch (IOException e) {
      return null;
    }
    int fd = open(path, O_CREAT | O_EXCL);
    if (fd < 0) {
      return null;
    }
    Part part = new Part(from, fd, path.toString(), path);
    if (part.keepsItsPlace() && part.leaves(0)) {
      return part;
    }
    LIBC.close(fd);
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      log.debug("{} stays, empty: {}", path, e.getMessage());
    }
    return null;
  }

  /** Notes a part that is mapped. */
  void add(long header, Part part) throws FsException {
    long entry = header + ENTRIES + (long) (parts.size() - 1) * ENTRY;
    try {
      Map<String, Object> identity = part.identity();
      byte[] path = part.path == null ? new byte[0] : Linux.pathBytes(part.path.toString());
      Memory.putLong(entry, part.from);
      Memory.putLong(entry + ENTRY_DEVICE, number(identity, "dev"));
      Memory.putLong(entry + ENTRY_INODE, number(identity, "ino"));
      Memory.putShort(entry + ENTRY_LENGTH, path.length);
      Memory.put(entry + ENTRY_PATH, path, 0, path.length);
    } catch (IOException e) {
      throw new FsException(FsError.IO, part.name + ": " + e.getMessage(), e);
    }
    VarHandle.releaseFence();
    Memory.putInt(header + COUNT, parts.size());
    parts.add(part);
  }

  @Override
  public void close() {
    parts.forEach(part -> LIBC.close(part.fd));
  }
}
