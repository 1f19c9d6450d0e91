package io.holdfast.fs.origin;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Memory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * An origin in memory whose calls a test can hold up, fail and count. Strict: a path that is no
 * path, a read of a closed file and a file closed twice end the test. It passes the contract test
 * itself. Thread-safe; the monitor guards the entries, and {@link Gate} is called without it.
 */
public final class FakeOrigin implements Origin, DirectoryStore {
  private static final int LONGEST_NAME = 255;
  private static final int MODE_FILE = 0644;
  private static final int MODE_DIRECTORY = 0755;
  private static final int MODE_LINK = 0777;
  private static final int FIFO = 0x1000;

  private final TreeMap<String, Entry> entries = new TreeMap<>();
  private final AtomicInteger openFiles = new AtomicInteger();
  private final AtomicLong opens = new AtomicLong();
  private final AtomicLong stats = new AtomicLong();
  private final AtomicLong bytesRead = new AtomicLong();
  private volatile Gate gate = new Gate() {};

  /** The attributes that a client on this machine keeps, by path; null where there is none. */
  private @Nullable Map<String, Attributes> kept;

  private long lastInode;
  private long time = 1_700_000_000_000_000_000L;

  /** A test's code between the caller and the origin; each method may wait, or fail. */
  public interface Gate {
    /** Before the attributes of an entry are looked at. */
    default void stat(OriginPath path) throws FsException {}

    /** After the attributes were looked at, or were not there, and before the caller learns it. */
    default void afterStat(OriginPath path) throws FsException {}

    /** Before a file is opened. */
    default void open(OriginPath path) throws FsException {}

    /** Before bytes are read. */
    default void read(OriginPath path, long offset, int length) throws FsException {}

    /** Returns how many bytes a read gives at most, though there are more. */
    default int atMost(OriginPath path, int length) {
      return length;
    }

    /** Tells whether the store has not answered for so long that it is not asked. */
    default boolean silent() {
      return false;
    }

    /** After bytes were read, and before the caller gets them. */
    default void afterRead(OriginPath path, long offset, int length) throws FsException {}
  }

  private static final class Entry {
    final long inode;
    int mode;
    byte[] content;
    long modified;
    long changed;
    final TreeMap<String, byte[]> attributes = new TreeMap<>();

    Entry(int mode, long inode, byte[] content, long modified) {
      this.mode = mode;
      this.inode = inode;
      this.content = content;
      this.modified = modified;
      this.changed = modified;
    }

    void modified(long time) {
      modified = time;
      changed = time;
    }

    Attributes attributes() {
      return new Attributes(
          mode,
          1,
          0,
          0,
          0,
          inode,
          content.length,
          (content.length + 511L) / 512,
          modified,
          modified,
          changed,
          "");
    }

    Version version() {
      return new Version(content.length, modified, changed, inode, 0, "");
    }

    int type() {
      return mode & Attributes.TYPE_MASK;
    }
  }

  /** Creates an origin with an empty root. */
  public FakeOrigin() {
    entries.put("", entry(Attributes.DIRECTORY | MODE_DIRECTORY, new byte[0]));
  }

  /** Sets what stands between the callers and this origin from now on. */
  public void setGate(Gate value) {
    gate = value;
  }

  /** Returns how many files have been opened. */
  public long opens() {
    return opens.get();
  }

  /** Returns how often attributes were asked for. */
  public long stats() {
    return stats.get();
  }

  /** Returns the bytes that have been read. */
  public long bytesRead() {
    return bytesRead.get();
  }

  // what tests do behind its back

  /**
   * Keeps attributes from now on, as the client of a network filesystem does: only {@link #sync}, a
   * synced listing and {@link OriginFile#storedVersion} show what has changed.
   */
  public synchronized void keepAttributes() {
    kept = new HashMap<>();
  }

  /** Makes a new file take a name, also one that is taken, and returns its version. */
  public Version file(String path, byte[] content) {
    file(OriginStore.bytes(path), content);
    return versionOf(path);
  }

  /** Writes over a file in place, and returns its new version. */
  public Version overwrite(String path, byte[] content) {
    overwrite(OriginStore.bytes(path), content);
    return versionOf(path);
  }

  /** Makes a directory. */
  public void directory(String path) {
    directory(OriginStore.bytes(path));
  }

  /** Removes an entry and everything below it. */
  public void remove(String path) {
    remove(OriginStore.bytes(path));
  }

  /** Returns the version of a file. */
  public synchronized Version versionOf(String path) {
    Entry entry = entries.get(key(OriginStore.bytes(path)));
    return entry.version();
  }

  @Override
  public void file(byte[] path, byte[] content) {
    put(path, Attributes.REGULAR | MODE_FILE, content);
  }

  @Override
  public void directory(byte[] path) {
    put(path, Attributes.DIRECTORY | MODE_DIRECTORY, new byte[0]);
  }

  @Override
  public void symlink(byte[] path, byte[] target) {
    put(path, Attributes.SYMLINK | MODE_LINK, target);
  }

  @Override
  public void fifo(byte[] path) {
    put(path, FIFO | MODE_FILE, new byte[0]);
  }

  @Override
  public synchronized void append(byte[] path, byte[] content) {
    Entry entry = entries.get(key(path));
    byte[] joined = Arrays.copyOf(entry.content, entry.content.length + content.length);
    System.arraycopy(content, 0, joined, entry.content.length, content.length);
    entry.content = joined;
    entry.modified(++time);
  }

  @Override
  public synchronized void overwrite(byte[] path, byte[] content) {
    Entry entry = entries.get(key(path));
    byte[] changed = entry.content.clone();
    System.arraycopy(content, 0, changed, 0, content.length);
    entry.content = changed;
    entry.modified(++time);
  }

  /** Writes over a file in place and sets its time back, and returns its new version. */
  public synchronized Version rewriteKeepingTime(String path, byte[] content) {
    Entry entry = entries.get(key(OriginStore.bytes(path)));
    entry.content = content.clone();
    entry.changed = ++time;
    return entry.version();
  }

  /** Gives an entry other permissions. */
  public synchronized void chmod(String path, int permissions) {
    Entry entry = entries.get(key(OriginStore.bytes(path)));
    entry.mode = entry.type() | permissions;
    entry.changed = ++time;
  }

  /** Gives an entry, with all below it, another name. */
  public synchronized void move(String from, String to) {
    TreeMap<String, Entry> moved = new TreeMap<>();
    entries.forEach(
        (key, entry) -> {
          if (key.equals(from) || key.startsWith(from + "/")) {
            moved.put(to + key.substring(from.length()), entry);
          }
        });
    remove(from);
    entries.putAll(moved);
    entries.get(to).changed = ++time;
  }

  /** Cuts a file short in place. */
  public synchronized void truncate(String path, int length) {
    Entry entry = entries.get(key(OriginStore.bytes(path)));
    entry.content = Arrays.copyOf(entry.content, length);
    entry.modified(++time);
  }

  @Override
  public synchronized void remove(byte[] path) {
    String key = key(path);
    entries.remove(key);
    entries.subMap(key + "/", key + "0").clear();
    entries.get(key.substring(0, Math.max(0, key.lastIndexOf('/')))).modified(++time);
  }

  @Override
  public synchronized void attribute(byte[] path, String name, byte[] value) {
    entries.get(key(path)).attributes.put(name, value);
  }

  @Override
  public long open() {
    return openFiles.get();
  }

  private synchronized void put(byte[] path, int mode, byte[] content) {
    String key = key(path);
    for (int slash = key.indexOf('/'); slash > 0; slash = key.indexOf('/', slash + 1)) {
      String above = key.substring(0, slash);
      if (!entries.containsKey(above)) {
        entries.put(above, entry(Attributes.DIRECTORY | MODE_DIRECTORY, new byte[0]));
      }
    }
    remove(path);
    entries.put(key, entry(mode, content.clone()));
  }

  private Entry entry(int mode, byte[] content) {
    return new Entry(mode, ++lastInode, content, ++time);
  }

  private static String key(byte[] path) {
    return new String(path, StandardCharsets.ISO_8859_1);
  }

  // the port

  @Override
  public String describe() {
    return "fake";
  }

  @Override
  public boolean mayHang() {
    return false;
  }

  @Override
  public OriginHealth health() {
    return gate.silent() ? new OriginHealth(true, 1, 60) : OriginHealth.WELL;
  }

  @Override
  public Attributes stat(OriginPath path) throws FsException {
    stats.incrementAndGet();
    gate.stat(path);
    try {
      synchronized (this) {
        return attributes(path, find(path));
      }
    } finally {
      gate.afterStat(path);
    }
  }

  private Attributes attributes(OriginPath path, Entry entry) {
    return kept == null
        ? entry.attributes()
        : kept.computeIfAbsent(key(path.bytes()), key -> entry.attributes());
  }

  @Override
  public synchronized void sync(OriginPath path) {
    if (kept != null) {
      kept.remove(key(path.bytes()));
    }
  }

  @Override
  public Found find(
      OriginPath directory, byte[] name, List<Attributes> way, @Nullable Attributes known)
      throws FsException {
    Attributes entry = stat(directory.child(name));
    synchronized (this) {
      return new Found(entry, way(directory, way.size()));
    }
  }

  @Override
  public FoundEntries findAll(OriginPath directory, List<KnownEntry> entries, List<Attributes> way)
      throws FsException {
    List<@Nullable Attributes> found = new ArrayList<>();
    for (KnownEntry entry : entries) {
      found.add(statOrNull(directory.child(entry.name().bytes())));
    }
    synchronized (this) {
      return new FoundEntries(found, way(directory, way.size()));
    }
  }

  private List<Attributes> way(OriginPath directory, int most) throws FsException {
    List<Attributes> way = new ArrayList<>();
    String path = key(directory.bytes());
    for (boolean more = true; more && way.size() < most; ) {
      way.add(find(OriginPath.of(path.getBytes(StandardCharsets.ISO_8859_1))).attributes());
      more = !path.isEmpty();
      path = path.substring(0, Math.max(0, path.lastIndexOf('/')));
    }
    return way;
  }

  @Override
  public synchronized byte[] readLink(OriginPath path, Attributes known) throws FsException {
    Entry entry = find(path, known);
    if (entry.type() != Attributes.SYMLINK) {
      throw new FsException(FsError.INVALID, path + ": not a symlink");
    }
    return entry.content.clone();
  }

  @Override
  public void list(OriginPath path, EntrySink sink) throws FsException {
    record Listed(OriginPath name, int type, long inode) {}
    List<Listed> all = new ArrayList<>();
    synchronized (this) {
      if (find(path).type() != Attributes.DIRECTORY) {
        throw new FsException(FsError.NOT_DIRECTORY, path + ": not a directory");
      }
      String prefix = path.bytes().length == 0 ? "" : key(path.bytes()) + "/";
      entries.forEach(
          (key, entry) -> {
            String name = key.startsWith(prefix) ? key.substring(prefix.length()) : "";
            if (!name.isEmpty() && name.indexOf('/') < 0) {
              byte[] bytes = name.getBytes(StandardCharsets.ISO_8859_1);
              all.add(new Listed(OriginPath.of(bytes), entry.type(), entry.inode));
            }
          });
    }
    List<Attributes> way;
    synchronized (this) {
      way = way(path, Integer.MAX_VALUE);
    }
    sink.way(way);
    for (Listed listed : all) {
      byte[] bytes = listed.name.bytes();
      Attributes attributes;
      if (sink.isSynced()) {
        sync(path.child(bytes));
      }
      try {
        attributes = stat(path.child(bytes));
      } catch (FsException e) {
        sink.unread(bytes, listed.type, listed.inode, e);
        continue;
      }
      sink.entry(bytes, listed.type, listed.inode, attributes);
    }
  }

  private @Nullable Attributes statOrNull(OriginPath path) {
    try {
      return stat(path);
    } catch (FsException e) {
      return null; // it comes without them
    }
  }

  @Override
  public void scan(OriginPath directory, Executor threads, ScanSink sink) throws FsException {
    new DirectoryWalk(this::list, threads, sink).walk(directory);
  }

  @Override
  public OriginFile open(OriginPath path, Part part) throws FsException {
    opens.incrementAndGet();
    gate.open(path);
    synchronized (this) {
      Entry entry = find(path);
      if (entry.type() == Attributes.SYMLINK) {
        throw new FsException(FsError.SYMLINK, path + ": a symlink");
      }
      if (entry.type() == Attributes.DIRECTORY) {
        throw new FsException(FsError.IS_DIRECTORY, path + ": a directory");
      }
      openFiles.incrementAndGet();
      return new OpenFile(path, entry);
    }
  }

  @Override
  public synchronized byte[] extendedAttribute(OriginPath path, Attributes known, byte[] name)
      throws FsException {
    byte @Nullable [] value =
        find(path, known).attributes.get(new String(name, StandardCharsets.UTF_8));
    if (value == null) {
      throw new FsException(FsError.NO_ATTRIBUTE, path + ": no such attribute");
    }
    return value.clone();
  }

  @Override
  public synchronized byte[] extendedAttributeNames(OriginPath path, Attributes known)
      throws FsException {
    StringBuilder names = new StringBuilder();
    find(path, known).attributes.keySet().forEach(name -> names.append(name).append('\0'));
    return OriginStore.bytes(names.toString());
  }

  @Override
  public StoreFigures figures() {
    return new StoreFigures(4096, 4096, 1000, 500, 400, 100, 50, 50, LONGEST_NAME);
  }

  @Override
  public void close() {}

  private Entry find(OriginPath path, Attributes known) throws FsException {
    Entry entry = find(path);
    if (!entry.attributes().sameEntry(known)) {
      throw new FsException(FsError.STALE, path + ": another entry");
    }
    return entry;
  }

  private Entry find(OriginPath path) throws FsException {
    String key = key(path.bytes());
    if (key.isEmpty()) {
      return entries.get("");
    }
    StringBuilder walked = new StringBuilder();
    String[] names = key.split("/", -1);
    for (int i = 0; i < names.length; i++) {
      check(names[i], path);
      walked.append(i == 0 ? "" : "/").append(names[i]);
      Entry entry = entries.get(walked.toString());
      if (entry == null) {
        throw new FsException(FsError.NOT_FOUND, path + ": not found");
      }
      if (i == names.length - 1) {
        return entry;
      }
      if (entry.type() == Attributes.SYMLINK) {
        throw new FsException(FsError.SYMLINK, path + ": a symlink on the way");
      }
      if (entry.type() != Attributes.DIRECTORY) {
        throw new FsException(FsError.NOT_DIRECTORY, path + ": not a directory on the way");
      }
    }
    throw new AssertionError(path);
  }

  private static void check(String name, OriginPath path) throws FsException {
    if (name.equals("..")) {
      throw new FsException(FsError.SYMLINK, path + ": leads out");
    }
    if (name.isEmpty()) {
      throw new FsException(FsError.SYMLINK, path + ": absolute, or an empty name");
    }
    if (name.length() > LONGEST_NAME) {
      throw new FsException(FsError.NAME_TOO_LONG, path + ": name too long");
    }
    if (name.equals(".") || name.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("no path of a dataset: " + path);
    }
  }

  private final class OpenFile implements OriginFile {
    private final OriginPath path;
    private final Entry entry;
    private volatile boolean closed;

    OpenFile(OriginPath path, Entry entry) {
      this.path = path;
      this.entry = entry;
    }

    private void requireOpen() {
      if (closed) {
        throw new IllegalStateException(path + " is closed");
      }
    }

    @Override
    public Version version() throws FsException {
      requireOpen();
      synchronized (FakeOrigin.this) {
        if (entry.type() != Attributes.REGULAR) {
          throw new FsException(FsError.STALE, path + ": no regular file");
        }
        return attributes(path, entry).version();
      }
    }

    @Override
    public Version storedVersion() throws FsException {
      sync(path);
      return version();
    }

    @Override
    public int read(long offset, long address, int length) throws FsException {
      requireOpen();
      if (offset < 0 || length < 0) {
        throw new IllegalArgumentException(offset + ",+" + length);
      }
      gate.read(path, offset, length);
      int count;
      synchronized (FakeOrigin.this) {
        int most = gate.atMost(path, length);
        count = (int) Math.max(0, Math.min(most, entry.content.length - offset));
        if (count > 0) {
          Memory.put(address, entry.content, (int) offset, count);
        }
      }
      bytesRead.addAndGet(count);
      gate.afterRead(path, offset, length);
      return count;
    }

    @Override
    public void discard(long offset, long length) {
      requireOpen();
      if (offset < 0 || length < 0) {
        throw new IllegalArgumentException(offset + ",+" + length);
      }
    }

    @Override
    public void close() {
      requireOpen();
      closed = true;
      openFiles.decrementAndGet();
    }
  }
}
