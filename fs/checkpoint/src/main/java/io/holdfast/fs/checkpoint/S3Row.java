package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import jnr.constants.platform.Errno;
import org.jspecify.annotations.Nullable;

/**
 * A row that is being made for a store in S3: the names as the row's operations leave them, and the
 * bytes of the files that they change, in files of the front. For one thread.
 */
final class S3Row implements AutoCloseable {
  /** Brings the bytes of an object to a file of the row. */
  @FunctionalInterface
  interface Fetch {
    void fetch(String path, S3Index.Name from, String file) throws ErrnoException;
  }

  /** A file, whatever its names. */
  static final class Node {
    final long id;
    int mode;
    int uid;
    int gid;
    long device;
    long size;
    long accessed;
    long modified;
    String target = "";
    final TreeMap<String, String> xattrs = new TreeMap<>();
    int names;

    /** The last operation that changed the bytes. */
    long order;

    /** Where the bytes are that the row has not changed; null if the row has them. */
    @Nullable String source;

    Node(long id) {
      this.id = id;
    }

    boolean isRegular() {
      return (mode & Stat.TYPE) == Stat.REGULAR;
    }

    boolean isLocal() {
      return isRegular() && source == null;
    }

    S3Index.File file() {
      return new S3Index.File(
          mode, uid, gid, device, size, accessed, modified, target, new TreeMap<>(xattrs));
    }
  }

  private final S3Index before;
  private final FileTree files;
  private final Fetch fetch;
  private final TreeMap<String, Node> names = new TreeMap<>();

  /** The last operation that gave a path its name. */
  private final Map<String, Long> named = new HashMap<>();

  private long nextId;
  private long fetched;
  private long largestFetched;
  private long open;
  private int fd = -1;

  /**
   * Begins a row.
   *
   * @param before what the store has
   * @param files an empty directory of the front
   */
  S3Row(S3Index before, FileTree files, Fetch fetch) {
    this.before = before;
    this.files = files;
    this.fetch = fetch;
    Map<Long, Node> nodes = new HashMap<>();
    before
        .names()
        .forEach(
            (path, name) -> {
              Node node = nodes.computeIfAbsent(name.id(), id -> node(id, name.file(), path));
              node.names++;
              names.put(path, node);
              nextId = Math.max(nextId, name.id() + 1);
            });
  }

  private static Node node(long id, S3Index.File file, String path) {
    Node node = new Node(id);
    node.mode = file.mode();
    node.uid = file.uid();
    node.gid = file.gid();
    node.device = file.device();
    node.size = file.size();
    node.accessed = file.accessed();
    node.modified = file.modified();
    node.target = file.target();
    node.xattrs.putAll(file.xattrs());
    node.source = file.isRegular() ? path : null;
    return node;
  }

  /** Returns what the store had before the row. */
  S3Index before() {
    return before;
  }

  /** Returns the files by their paths, as they are behind the operations until now. */
  NavigableMap<String, Node> names() {
    return names;
  }

  /** Returns the bytes of all objects that the row has fetched but the largest. */
  long fetched() {
    return fetched - largestFetched;
  }

  /** Returns the number of the last operation that concerned a path's object. */
  long order(String path) {
    return Math.max(named.getOrDefault(path, 0L), require(names.get(path)).order);
  }

  /** Returns the name of the file with the bytes of a node that the row has changed. */
  static String fileName(Node node) {
    return Long.toString(node.id);
  }

  private static Node require(@Nullable Node node) {
    if (node == null) {
      throw new IllegalStateException("no such path in the row");
    }
    return node;
  }

  private Node node(String path) throws ErrnoException {
    Node node = names.get(path);
    if (node == null) {
      throw ErrnoException.because(
          Errno.EIO, path, "the store has no such name: it is not what this node has written");
    }
    return node;
  }

  /** Applies an operation that is no write. */
  void apply(Operation operation, long order, long time) throws ErrnoException {
    if (operation instanceof Operation.Make make) {
      make(make, order, time);
    } else if (operation instanceof Operation.Link link) {
      add(link.path(), node(link.existing()), order, time);
    } else if (operation instanceof Operation.Remove remove) {
      remove(remove.path(), time);
    } else if (operation instanceof Operation.Rename rename) {
      rename(rename, order, time);
    } else if (operation instanceof Operation.Attributes attributes) {
      change(node(attributes.path()), attributes);
    } else if (operation instanceof Operation.Resize resize) {
      resize(resize.path(), resize.size(), order, time);
    } else if (operation instanceof Operation.Allocate range) {
      allocate(range, order, time);
    } else if (operation instanceof Operation.SetXattr set) {
      node(set.path()).xattrs.put(set.name(), set.value());
    } else if (operation instanceof Operation.RemoveXattr remove) {
      String unused = node(remove.path()).xattrs.remove(remove.name());
    } else {
      throw new IllegalArgumentException("no such operation here: " + operation);
    }
  }

  private void make(Operation.Make make, long order, long time) throws ErrnoException {
    Node node = new Node(nextId++);
    node.mode = kept(make.mode());
    node.uid = make.uid();
    node.gid = make.gid();
    node.device = make.device();
    node.target = make.target();
    node.accessed = time;
    node.modified = time;
    node.size = make.target().length();
    if (node.isRegular()) {
      create(node);
    }
    add(make.path(), node, order, time);
  }

  /** As in a directory, files lose the bits that give away an owner's rights. */
  static int kept(int mode) {
    boolean isRegular = (mode & Stat.TYPE) == Stat.REGULAR;
    return isRegular ? mode & ~(Stat.SET_USER | Stat.SET_GROUP) : mode;
  }

  private void create(Node node) throws ErrnoException {
    if (files.find(fileName(node)).isPresent()) {
      files.remove(fileName(node), false);
    }
    LIBC.close(files.create(fileName(node)));
  }

  private void add(String path, Node node, long order, long time) throws ErrnoException {
    if (names.containsKey(path)) {
      throw ErrnoException.because(
          Errno.EEXIST, path, "the store has it, and this node did not make it");
    }
    node(FileTree.parent(path)).modified = time;
    node.names++;
    names.put(path, node);
    named.put(path, order);
  }

  private void remove(String path, long time) throws ErrnoException {
    Node node = node(path);
    requireEmpty(path);
    node(FileTree.parent(path)).modified = time;
    names.remove(path);
    named.remove(path);
    drop(node);
  }

  /** Refuses to take a directory away whose names would be left without one. */
  private void requireEmpty(String path) throws ErrnoException {
    if (!S3Index.below(names, path).isEmpty()) {
      throw ErrnoException.because(
          Errno.ENOTEMPTY, path, "has files in the store: it is not what this node has written");
    }
  }

  private void drop(Node node) throws ErrnoException {
    node.names--;
    if (node.names == 0 && node.isLocal()) {
      closeFile();
      files.remove(fileName(node), false);
    }
  }

  private void rename(Operation.Rename rename, long order, long time) throws ErrnoException {
    Node moved = node(rename.from());
    Node there = names.get(rename.to());
    if (moved == there) {
      return; // two names of one file: nothing happens
    }
    boolean exchanges = (rename.flags() & Operation.Rename.EXCHANGE) != 0;
    if (!exchanges) {
      requireEmpty(rename.to());
    }
    node(FileTree.parent(rename.from())).modified = time;
    node(FileTree.parent(rename.to())).modified = time;
    Map<String, Node> from = take(rename.from());
    Map<String, Node> to = take(rename.to());
    put(from, rename, order);
    if (exchanges) {
      put(to, rename, order);
    } else if (there != null) {
      drop(there);
    }
  }

  /** Takes a path and all below it away. */
  private Map<String, Node> take(String path) {
    Map<String, Node> taken = new TreeMap<>(S3Index.below(names, path));
    Node itself = names.get(path);
    if (itself != null) {
      taken.put(path, itself);
    }
    names.keySet().removeAll(taken.keySet());
    named.keySet().removeAll(taken.keySet());
    return taken;
  }

  private void put(Map<String, Node> moved, Operation.Rename rename, long order) {
    moved.forEach(
        (path, node) -> {
          String now = rename.after(path);
          names.put(now, node);
          named.put(now, order);
        });
  }

  private static void change(Node node, Operation.Attributes change) {
    node.uid = change.uid() == -1 ? node.uid : change.uid();
    node.gid = change.gid() == -1 ? node.gid : change.gid();
    if (change.mode() != -1) {
      node.mode = kept((node.mode & Stat.TYPE) | change.mode());
    }
    node.accessed = change.accessed() == FileTree.OMIT ? node.accessed : change.accessed();
    node.modified = change.modified() == FileTree.OMIT ? node.modified : change.modified();
  }

  private void resize(String path, long size, long order, long time) throws ErrnoException {
    Node node = node(path);
    if (size == 0 && !node.isLocal()) {
      create(node);
      node.source = null;
    } else {
      fetch(node);
    }
    files.resize(fileName(node), size);
    changed(node, size, order, time);
  }

  private void allocate(Operation.Allocate range, long order, long time) throws ErrnoException {
    Node node = node(range.path());
    boolean keepsSize = (range.mode() & Operation.Allocate.KEEP_SIZE) != 0;
    boolean zeroes = (range.mode() & ~Operation.Allocate.KEEP_SIZE) != 0;
    if (keepsSize && !zeroes) {
      return; // an object has no room of its own
    }
    fetch(node);
    files.allocate(fileName(node), range.mode(), range.offset(), range.length());
    long end = keepsSize ? 0 : range.offset() + range.length();
    changed(node, Math.max(node.size, end), order, time);
  }

  private static void changed(Node node, long size, long order, long time) {
    node.size = size;
    node.order = order;
    node.modified = time;
  }

  /** Makes sure that the row has the bytes of a file. */
  private void fetch(Node node) throws ErrnoException {
    String source = node.source;
    if (source != null) {
      create(node);
      if (node.size > 0) {
        makeRoom(node, source);
        fetch.fetch(source, before.require(source), fileName(node));
      }
      node.source = null;
      fetched += node.size;
      largestFetched = Math.max(largestFetched, node.size);
    }
  }

  /** Has room for a file that is fetched: the download could not tell that the disk is full. */
  private void makeRoom(Node node, String source) throws ErrnoException {
    int file = files.openRegular(fileName(node), FileTree.O_RDWR);
    try {
      if (free(file) < node.size) { // fallocate would take all that there is, and fail then
        throw noRoom(source);
      }
      reserve(file, 0, node.size, source);
    } catch (ErrnoException e) {
      files.remove(fileName(node), false);
      throw e;
    } finally {
      LIBC.close(file);
    }
  }

  private static long free(int fd) throws ErrnoException {
    long area = Linux.scratch().area();
    if (LIBC.fstatvfs(fd, area) != 0) {
      throw ErrnoException.of(Linux.errno(), "");
    }
    return Memory.getLong(area + 24) * Memory.getLong(area + 8);
  }

  /** Makes sure that the front's disk has room, where its file system can. */
  private static void reserve(int fd, long from, long length, String path) throws ErrnoException {
    if (LIBC.fallocate(fd, Operation.Allocate.KEEP_SIZE, from, length) != 0) {
      int errno = Linux.errno();
      if (errno == Errno.ENOSPC.intValue()) {
        throw noRoom(path);
      }
    }
  }

  private static ErrnoException noRoom(String path) {
    return ErrnoException.because(
        Errno.ENOSPC,
        path,
        "the front's file system has no room for a copy of the file, which the bucket gets");
  }

  /**
   * Takes a write into the row: all of it, or nothing if there is no room.
   *
   * @param address where its bytes are
   */
  void write(Operation.Write write, long address, long order, long time) throws ErrnoException {
    Node node = node(write.path());
    fetch(node);
    if (fd < 0 || open != node.id) {
      closeFile();
      fd = files.openRegular(fileName(node), FileTree.O_RDWR);
      open = node.id;
    }
    reserve(fd, write.offset(), write.length(), write.path());
    int written = FileTree.write(fd, address, write.length(), write.offset());
    if (written < write.length()) {
      int errno = Linux.errno();
      throw errno == Errno.ENOSPC.intValue()
          ? noRoom(write.path())
          : ErrnoException.of(errno, write.path());
    }
    changed(node, Math.max(node.size, write.end()), order, time);
  }

  private void closeFile() {
    if (fd >= 0) {
      LIBC.close(fd);
      fd = -1;
    }
  }

  /** Closes the file that was written last. */
  @Override
  public void close() {
    closeFile();
  }
}
