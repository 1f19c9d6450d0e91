package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import jnr.constants.platform.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The checkpoint directory as the kernel asks for it: by nodes, which have the names that the
 * kernel has looked up, and by handles of open files. It decides nothing about rights: the kernel
 * does ({@code default_permissions}), by the owners and modes of the front.
 *
 * <p>Each change becomes an {@link Operation} with the paths of that moment, while the front's lock
 * is held, which also guards the nodes. Thread-safe.
 *
 * <p>If this process is killed, the next one goes on with the same nodes and handles, which the
 * {@link KernelState} has: the kernel and programs know them by their numbers. It finds the names
 * of the nodes in the front's tree, by their inodes.
 */
public final class CheckpointFilesystem {
  /** The root's node. */
  public static final long ROOT = 1;

  /** The extended attribute that tells whether a file is durable, and where. */
  public static final String DURABLE = "user.holdfast.durable";

  private static final Logger log = LoggerFactory.getLogger(CheckpointFilesystem.class);

  private static final String OWN_XATTRS = "user.holdfast.";
  private static final int O_ACCMODE = 3;
  private static final int COPY = 1 << 20;
  private static final long LONGEST_STUB_WAIT = 60_000_000_000L;

  /** How often a file is opened at the store that changes each time. */
  private static final int MOST_ATTEMPTS = 16;

  private static final int XATTR_CREATE = 1;
  private static final int XATTR_REPLACE = 2;

  /** The offsets of a directory itself, and of its parent. */
  private static final long ITSELF = 1;

  private static final long PARENT = 2;

  /** The most entries that open directories keep, besides those of the one listed last. */
  private static final long MOST_LISTED = 1_000_000;

  /** The paths that no program can have, besides those that begin with that of a probe. */
  private static final Set<String> OF_THE_STORE =
      Set.of(Store.OWNER, Store.LAST, DirectoryStore.REMOVED);

  /** When fsync returns. */
  public enum FsyncPolicy {
    /** When the store has the file durably. */
    STORE,
    /** When the front has it so that a crash of the machine does not lose it. */
    NODE
  }

  /** A node and its attributes. */
  public record Found(long node, Stat stat) {}

  /** A file that was created and opened. */
  public record Created(Found found, long handle) {}

  private record Name(Node parent, String name) {}

  /**
   * A file that the kernel knows by a number, under all the names that the kernel has looked up.
   */
  private static final class Node {
    final long id;
    final long inode;
    final List<Name> names = new ArrayList<>(1);
    final Map<String, Node> children = new HashMap<>(0);
    final List<Handle> handles = new ArrayList<>(0);
    long lookups;

    /** Where the next daemon finds it; negative if it needs not. */
    long record = -1;

    Node(long id, long inode) {
      this.id = id;
      this.inode = inode;
    }
  }

  /** An open file or directory. */
  private static final class Handle {
    final Node node;

    /** As in {@link KernelState#WRITES} and the others. */
    volatile int flags;

    /**
     * Negative for a directory, and where the next daemon has not opened the file yet, or cannot.
     */
    volatile int fd;

    /** Where the next daemon finds it. */
    long record;

    /** The file at the store, until the handle is closed: a read may be under way. */
    int formerFd = -1;

    @Nullable List<Listed> entries;

    Handle(Node node, int fd, int flags) {
      this.node = node;
      this.fd = fd;
      this.flags = flags;
    }

    boolean isDirectory() {
      return (flags & KernelState.DIRECTORY) != 0;
    }

    boolean atStore() {
      return (flags & KernelState.AT_STORE) != 0;
    }

    /** Tells whether the front's file is open. */
    boolean isAtFront() {
      return fd >= 0 && !atStore();
    }
  }

  private final Front front;
  private final Store store;
  private final Persister persister;
  private final FsyncPolicy fsync;
  private final SaveMeter meter;
  private final KernelState kernel;
  private final ReentrantLock lock;
  private final boolean frontIsVolatile;
  private final StoreWaits storeWaits;

  /** The nodes by their number and by their inode; a file without a name is in the first only. */
  private final Map<Long, Node> nodes = new HashMap<>();

  private final Map<Long, Node> byInode = new HashMap<>();
  private final ConcurrentHashMap<Long, Handle> handles = new ConcurrentHashMap<>();

  /** The directories that keep entries, the one listed longest ago first. */
  private final Set<Handle> listings = new LinkedHashSet<>();

  private long listed;
  private long mostListed = MOST_LISTED;

  /**
   * Makes a filesystem of a front.
   *
   * @param store for reading the files that the front does not have
   * @param kernel what the kernel knows of it from an earlier daemon
   */
  public CheckpointFilesystem(
      Front front,
      Store store,
      Persister persister,
      FsyncPolicy fsync,
      SaveMeter meter,
      KernelState kernel)
      throws ErrnoException {
    this.front = front;
    this.store = store;
    this.persister = persister;
    this.fsync = fsync;
    this.meter = meter;
    this.kernel = kernel;
    this.lock = front.lock();
    this.frontIsVolatile = front.isVolatile();
    this.storeWaits = new StoreWaits(front, persister);
    Node root = new Node(ROOT, front.tree().stat("").inode());
    root.lookups = 1;
    nodes.put(root.id, root);
    byInode.put(root.inode, root);
    lock.lock();
    try {
      kernel.requests().settle(front.last());
      front.performFor(kernel.requests());
      goOn(root);
    } finally {
      lock.unlock();
    }
  }

  // ---- going on after a daemon that was killed; all with the lock held

  private void goOn(Node root) throws ErrnoException {
    for (RecordTable.Kept kept : kernel.nodes().kept()) {
      Node node = new Node(kept.id(), kept.first());
      node.lookups = kept.second();
      node.record = kept.at();
      nodes.put(node.id, node);
      if (kept.third() == 0) {
        byInode.put(node.inode, node);
      }
    }
    if (!kernel.nodes().kept().isEmpty()) {
      boolean unused = name(root, "");
    }
    for (Node node : List.copyOf(byInode.values())) {
      if (node != root && node.names.isEmpty()) {
        gone(node.inode);
      }
    }
    kernel.handles().kept().forEach(this::reopen);
    Set<Long> nameless = new HashSet<>();
    for (Node node : List.copyOf(nodes.values())) {
      if (node != root && node.names.isEmpty() && !node.handles.isEmpty()) {
        nameless.add(node.inode);
      }
      forgetIfUnused(node);
    }
    front.keepUnlinked(nameless);
  }

  /** Gives the nodes below a directory their names; returns whether there are any. */
  private boolean name(Node directory, String path) throws ErrnoException {
    boolean any = false;
    for (FileTree.Entry entry : front.tree().list(path)) {
      String child = FileTree.child(path, entry.name());
      boolean isDirectory = entry.type() == Stat.DIRECTORY && !FileTree.isTooLong(child);
      Node known = byInode.get(entry.inode());
      Node node =
          known == null && isDirectory ? new Node(kernel.nodes().nextId(), entry.inode()) : known;
      boolean isOnTheWay = node != null && isDirectory && name(node, child);
      if (node != null && (known != null || isOnTheWay)) {
        nodes.put(node.id, node);
        byInode.put(node.inode, node);
        directory.children.put(entry.name(), node);
        node.names.add(new Name(directory, entry.name()));
        any = true;
      }
    }
    return any;
  }

  private void reopen(RecordTable.Kept kept) {
    Node node = nodes.get(kept.first());
    int flags = (int) kept.second();
    if (node == null) {
      kernel.handles().remove(kept.at());
      return;
    }
    Handle handle = new Handle(node, -1, flags);
    handle.record = kept.at();
    node.handles.add(handle);
    handles.put(kept.id(), handle);
    if (!handle.isDirectory()) {
      front.opened(node.inode);
      handle.fd = reopenedFd(handle);
    }
  }

  /** Opens the file of a killed daemon's handle; returns -1 if it is at the store, or gone. */
  private int reopenedFd(Handle handle) {
    Node node = handle.node;
    String path = pathOrNull(node);
    boolean atStore = path != null && handle.atStore() && front.isStub(node.inode);
    if (atStore || (path == null && handle.atStore())) {
      return -1;
    }
    boolean writes = (handle.flags & KernelState.WRITES) != 0;
    int mode = writes ? FileTree.O_RDWR : Linux.O_RDONLY;
    try {
      int fd = path == null ? front.openUnlinked(node.inode, mode) : front.tree().open(path, mode);
      setFlags(handle, handle.flags & ~KernelState.AT_STORE);
      return fd;
    } catch (ErrnoException e) {
      log.warn("an open file is lost with the daemon that was killed: {}", e.getMessage());
      return -1;
    }
  }

  private void setFlags(Handle handle, int flags) {
    handle.flags = flags;
    kernel.handles().setSecond(handle.record, flags);
  }

  // ---- nodes and paths; all with the lock held

  private Node node(long id) throws ErrnoException {
    Node node = nodes.get(id);
    if (node == null) {
      throw ErrnoException.of(Errno.ESTALE, "");
    }
    return node;
  }

  /** Returns a path of a node, or null if it has none any more. */
  private @Nullable String pathOrNull(Node node) {
    if (node.id == ROOT) {
      return "";
    }
    for (Name name : node.names) {
      String parent = pathOrNull(name.parent());
      if (parent != null) {
        return FileTree.child(parent, name.name());
      }
    }
    return null;
  }

  /** The same for a file that may have a name that the kernel has not looked up. */
  private @Nullable String anyPath(Node node, int fd) throws ErrnoException {
    String path = pathOrNull(node);
    boolean hasOther = path == null && front.stat(fd).links() > 0;
    return hasOther ? front.pathOf(node.inode) : path;
  }

  private String path(Node node) throws ErrnoException {
    String path = pathOrNull(node);
    if (path == null) {
      throw ErrnoException.of(Errno.ENOENT, "");
    }
    return path;
  }

  private String path(long parent, String name) throws ErrnoException {
    String path = supported(FileTree.child(path(node(parent)), name));
    if (OF_THE_STORE.contains(path) || path.startsWith(FileTree.PROBE)) {
      throw ErrnoException.of(Errno.EPERM, path);
    }
    return path;
  }

  /** The same for a name that is to be new: the store must not refuse it for ever. */
  private String newPath(long parent, String name) throws ErrnoException {
    String path = path(parent, name);
    NameLimits limits = store.nameLimits();
    limits.requireName(path);
    if (!limits.cases()) {
      limits.requireOther(path, front.tree().list(FileTree.parent(path)));
    }
    return path;
  }

  private static String supported(String path) throws ErrnoException {
    if (FileTree.isTooLong(path)) {
      throw ErrnoException.of(Errno.ENAMETOOLONG, path);
    }
    return path;
  }

  /** Counts a lookup of a name that leads to a file. */
  private Found found(Node parent, String name, Stat stat) throws ErrnoException {
    Node node = byInode.get(stat.inode());
    if (node == null) {
      node = new Node(kernel.nodes().nextId(), stat.inode());
    }
    if (node.record < 0) {
      node.record = kernel.nodes().add(node.id, node.inode, 0, 0);
    }
    nodes.put(node.id, node);
    byInode.put(node.inode, node);
    if (parent.children.get(name) != node) {
      unname(parent, name);
      parent.children.put(name, node);
      node.names.add(new Name(parent, name));
    }
    setLookups(node, node.lookups + 1);
    return new Found(node.id, stat);
  }

  private void setLookups(Node node, long lookups) {
    node.lookups = lookups;
    if (node.record >= 0) {
      kernel.nodes().setSecond(node.record, lookups);
    }
  }

  /** A name leads to nothing any more. */
  private void unname(Node parent, String name) {
    Node node = parent.children.remove(name);
    if (node != null) {
      node.names.removeIf(each -> each.parent() == parent && each.name().equals(name));
      forgetIfUnused(node);
    }
  }

  /** A file has lost its last name: its inode may soon be another file's. */
  private void gone(long inode) {
    Node node = byInode.remove(inode);
    if (node != null && node.record >= 0) {
      kernel.nodes().setThird(node.record, 1);
    }
  }

  private void forgetIfUnused(Node node) {
    if (node.lookups <= 0 && node.handles.isEmpty() && node.children.isEmpty()) {
      nodes.remove(node.id);
      byInode.remove(node.inode, node);
      if (node.record >= 0) {
        kernel.nodes().remove(node.record);
        node.record = -1;
      }
      for (Name name : List.copyOf(node.names)) {
        name.parent().children.remove(name.name());
        forgetIfUnused(name.parent());
      }
      node.names.clear();
    }
  }

  // ---- what changes nothing

  /** Looks a name up, which the kernel then knows until it forgets it. */
  public Found lookup(long parent, String name) throws ErrnoException {
    lock.lock();
    try {
      Node directory = node(parent);
      String path = supported(FileTree.child(path(directory), name));
      return found(directory, name, front.stat(path));
    } finally {
      lock.unlock();
    }
  }

  /** The kernel has forgotten a node that many times. */
  public void forget(long id, long count) {
    lock.lock();
    try {
      Node node = nodes.get(id);
      if (node != null && id != ROOT) {
        setLookups(node, node.lookups - count);
        forgetIfUnused(node);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns the attributes of a node. */
  public Stat attributes(long id) throws ErrnoException {
    lock.lock();
    try {
      return attributes(node(id));
    } finally {
      lock.unlock();
    }
  }

  private Stat attributes(Node node) throws ErrnoException {
    String path = pathOrNull(node);
    if (path != null) {
      return front.stat(path);
    }
    for (Handle handle : node.handles) {
      if (handle.isAtFront()) {
        return front.stat(handle.fd);
      }
    }
    return front.statUnlinked(node.inode); // one that is open at the store
  }

  /** Returns where a symlink leads. */
  public String readLink(long id) throws ErrnoException {
    lock.lock();
    try {
      return front.tree().readLink(path(node(id)));
    } finally {
      lock.unlock();
    }
  }

  /** Opens a directory. */
  public long openDirectory(long id) throws ErrnoException {
    releaseOpenedBefore();
    lock.lock();
    try {
      return handle(new Handle(node(id), -1, KernelState.DIRECTORY));
    } finally {
      lock.unlock();
    }
  }

  /** An entry of a directory, and where the listing goes on behind it. */
  public record Listed(FileTree.Entry entry, long offset) {}

  /**
   * Returns the entries of an open directory behind an offset, with itself and its parent; those of
   * the moment when the reader began, unless others have listed too much since. The order is that
   * of the offsets, which names have for ever: so the next daemon goes on in a listing of this one.
   *
   * @param offset 0 for the beginning
   */
  public List<Listed> list(long handle, long offset) throws ErrnoException {
    Handle directory = handle(handle);
    List<Listed> entries;
    lock.lock();
    try {
      if (offset == 0 || directory.entries == null) {
        keepEntries(directory, null);
        keepEntries(directory, entriesNow(directory.node));
        while (listed > mostListed && listings.size() > 1) {
          keepEntries(listings.iterator().next(), null); // its reader has it listed again
        }
      }
      entries = directory.entries == null ? List.of() : directory.entries;
    } finally {
      lock.unlock();
    }
    int from = 0;
    int to = entries.size();
    while (from < to) {
      int middle = (from + to) >>> 1;
      if (entries.get(middle).offset() <= offset) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return entries.subList(from, entries.size());
  }

  private List<Listed> entriesNow(Node node) throws ErrnoException {
    List<Listed> entries = new ArrayList<>();
    entries.add(new Listed(new FileTree.Entry(".", Stat.DIRECTORY, node.inode), ITSELF));
    entries.add(new Listed(new FileTree.Entry("..", Stat.DIRECTORY, node.inode), PARENT));
    String path = pathOrNull(node);
    if (path != null) {
      for (FileTree.Entry entry : front.tree().list(path)) {
        entries.add(new Listed(entry, offset(entry.name())));
      }
    }
    entries.sort(
        Comparator.comparingLong(Listed::offset).thenComparing(each -> each.entry().name()));
    for (int i = 1; i < entries.size(); i++) {
      if (entries.get(i).offset() <= entries.get(i - 1).offset()) {
        entries.set(i, new Listed(entries.get(i).entry(), entries.get(i - 1).offset() + 1));
      }
    }
    return entries;
  }

  /** Returns a number for a name, of 62 bits and behind those of the directory and its parent. */
  static long offset(String name) {
    long hash = 0xcbf29ce484222325L; // FNV-1a, and a finalizer: similar names are far apart
    for (int i = 0; i < name.length(); i++) {
      hash = (hash ^ name.charAt(i)) * 0x100000001b3L;
    }
    hash = (hash ^ (hash >>> 32)) * 0xd6e8feb86659fd93L;
    return ((hash ^ (hash >>> 32)) >>> 2) + PARENT + 1;
  }

  private void keepEntries(Handle directory, @Nullable List<Listed> entries) {
    listed += size(entries) - size(directory.entries);
    directory.entries = entries;
    if (entries == null) {
      listings.remove(directory);
    } else {
      listings.add(directory);
    }
  }

  /** Has open directories keep fewer entries, for tests. */
  void keepAtMost(long entries) {
    mostListed = entries;
  }

  /** Returns how many entries open directories keep. */
  long keptEntries() {
    lock.lock();
    try {
      return listed;
    } finally {
      lock.unlock();
    }
  }

  private static int size(@Nullable List<Listed> entries) {
    return entries == null ? 0 : entries.size();
  }

  /** Reads; returns the number of bytes. */
  public int read(long handle, long to, int length, long offset)
      throws ErrnoException, InterruptedException {
    Handle file = handle(handle);
    if (file.atStore() && !front.isStub(file.node.inode)) {
      reopen(file);
    } else if (file.atStore() && file.fd < 0) {
      reopenAtStore(file);
    }
    requireOpen(file);
    long count = LIBC.pread(file.fd, to, length, offset);
    if (count < 0) {
      throw ErrnoException.of(Linux.errno(), "");
    }
    return (int) count;
  }

  /** The front has the bytes of a file now that was opened at the store. */
  private void reopen(Handle file) throws ErrnoException {
    lock.lock();
    try {
      String path = pathOrNull(file.node);
      if (path != null && file.atStore()) {
        int fd = front.tree().open(path, Linux.O_RDONLY);
        file.formerFd = file.fd;
        file.fd = fd;
        setFlags(file, file.flags & ~KernelState.AT_STORE);
      }
    } finally {
      lock.unlock();
    }
  }

  /** A killed daemon had opened the file at the store. */
  private void reopenAtStore(Handle file) throws ErrnoException, InterruptedException {
    int fd = bounded(file.node, () -> openAtStore(file.node));
    lock.lock();
    try {
      boolean isOpen = handles.containsValue(file) && file.atStore() && file.fd < 0;
      if (isOpen && fd >= 0) {
        file.fd = fd;
        return;
      }
    } finally {
      lock.unlock();
    }
    if (fd >= 0) {
      store.closeAfterReading(fd);
    } else {
      reopen(file);
    }
  }

  /** The bytes of a file are lost that had no name any more, if its daemon was killed. */
  private static void requireOpen(Handle file) throws ErrnoException {
    if (file.fd < 0) {
      throw ErrnoException.of(file.isDirectory() ? Errno.EISDIR : Errno.ESTALE, "");
    }
  }

  /** Returns the value of an extended attribute. */
  public byte[] xattr(long id, String name) throws ErrnoException {
    String path;
    lock.lock();
    try {
      path = path(node(id));
      if (name.startsWith(Front.HIDDEN_XATTR)) {
        throw ErrnoException.of(Errno.ENODATA, path);
      }
      return name.equals(DURABLE)
          ? durability(path).getBytes(StandardCharsets.UTF_8)
          : front.tree().xattr(path, name);
    } finally {
      lock.unlock();
    }
  }

  /** Tells where the last change of a path, and of everything below it, is durable. */
  private String durability(String path) {
    if (front.durable() >= front.lastOf(path)) {
      return "store";
    }
    return frontIsVolatile ? "memory" : "front";
  }

  /** Returns the names of the extended attributes that the file itself has. */
  public List<String> xattrNames(long id) throws ErrnoException {
    lock.lock();
    try {
      return front.tree().xattrNames(path(node(id))).stream()
          .filter(name -> !name.startsWith(Front.HIDDEN_XATTR))
          .toList();
    } finally {
      lock.unlock();
    }
  }

  // ---- what changes something

  /** A change, which may have to wait for room in the front. */
  @FunctionalInterface
  private interface Action<T> {
    T run() throws ErrnoException, InterruptedException;
  }

  /** Runs a change with the lock, and measures how long its program is blocked. */
  private <T> T change(Action<T> action) throws ErrnoException, InterruptedException {
    meter.begin();
    lock.lock();
    try {
      return action.run();
    } finally {
      lock.unlock();
      meter.end(front.last());
    }
  }

  /**
   * Performs an operation, unless an earlier daemon has done that for the same request; returns
   * whether. The names of the nodes are those behind it then.
   */
  private boolean perform(Front.Request request) throws ErrnoException, InterruptedException {
    if (kernel.requests().isPerformed()) {
      kernel.requests().pass();
      return false;
    }
    front.perform(request);
    return true;
  }

  /** Makes a file of any type; its group is the directory's if that one says so. */
  public Found make(
      long parent, String name, int mode, long device, int uid, int gid, String target)
      throws ErrnoException, InterruptedException {
    if (target.length() > store.longestTarget()) {
      throw ErrnoException.of(Errno.ENAMETOOLONG, name); // the store would refuse it for ever
    }
    store.nameLimits().requireType(mode, name);
    return change(
        () -> {
          perform(
              () -> {
                Stat directory = front.tree().stat(path(node(parent)));
                boolean inherits = (directory.mode() & Stat.SET_GROUP) != 0;
                boolean isDirectory = (mode & Stat.TYPE) == Stat.DIRECTORY;
                return new Operation.Make(
                    newPath(parent, name),
                    inherits && isDirectory ? mode | Stat.SET_GROUP : mode,
                    device,
                    uid,
                    inherits ? directory.gid() : gid,
                    target);
              });
          return found(node(parent), name, front.stat(path(parent, name)));
        });
  }

  /**
   * Creates a regular file and opens it.
   *
   * @throws ErrnoException ESTALE if the file is there, without O_EXCL: the kernel did not know it,
   *     and has to look it up and to check its permissions
   */
  public Created create(long parent, String name, int flags, int mode, int uid, int gid)
      throws ErrnoException, InterruptedException {
    Found found =
        change(
            () -> {
              String path = path(parent, name);
              if (!kernel.requests().isPerformed()
                  && (flags & FileTree.O_EXCL) == 0
                  && front.tree().find(path).isPresent()) {
                throw ErrnoException.of(Errno.ESTALE, path);
              }
              return make(parent, name, Stat.REGULAR | (mode & ~Stat.TYPE), 0, uid, gid, "");
            });
    try {
      return new Created(found, open(found.node(), flags));
    } catch (ErrnoException | InterruptedException e) {
      forget(found.node(), 1);
      throw e;
    }
  }

  /** Gives a file another name, too. */
  public Found link(long id, long parent, String name) throws ErrnoException, InterruptedException {
    return change(
        () -> {
          perform(
              () -> {
                if (attributes(node(id)).links() >= store.mostLinks()) {
                  throw ErrnoException.of(Errno.EMLINK, name);
                }
                return new Operation.Link(path(node(id)), newPath(parent, name));
              });
          return found(node(parent), name, front.stat(path(parent, name)));
        });
  }

  /** Removes a name. */
  public void remove(long parent, String name, boolean directory)
      throws ErrnoException, InterruptedException {
    this.<Void>change(
        () -> {
          Stat[] before = new Stat[1];
          boolean now =
              perform(
                  () -> {
                    String path = path(parent, name);
                    before[0] = front.stat(path);
                    return new Operation.Remove(path, directory);
                  });
          if (now) {
            removed(parent, name, before[0]);
          }
          return null;
        });
  }

  private void removed(long parent, String name, Stat file) throws ErrnoException {
    try {
      if (file.isDirectory() || file.links() <= 1) {
        gone(file.inode());
      }
      unname(node(parent), name);
    } catch (RuntimeException | Error e) {
      throw Front.halt(e); // or writes would go to whatever gets the name next
    }
  }

  /**
   * Renames; the flags are those of renameat2.
   *
   * @throws ErrnoException EINVAL for a flag that is unknown, or that the store does not know;
   *     ENAMETOOLONG also where a name below a directory would get a path that is too long
   */
  public void rename(long parent, String name, long toParent, String toName, int flags)
      throws ErrnoException, InterruptedException {
    int possible = Operation.Rename.NOREPLACE | (store.exchanges() ? Operation.Rename.EXCHANGE : 0);
    if ((flags & ~possible) != 0) {
      throw ErrnoException.of(Errno.EINVAL, name);
    }
    this.<Void>change(
        () -> {
          Stat[] before = new Stat[2];
          boolean now =
              perform(
                  () -> {
                    String from = path(parent, name);
                    String to = newPath(toParent, toName);
                    before[0] = front.stat(from);
                    before[1] = front.tree().find(to).isPresent() ? front.stat(to) : null;
                    Operation.Rename rename = new Operation.Rename(from, to, flags);
                    checkBelow(rename, before[0], before[1]);
                    return rename;
                  });
          if (now) {
            try {
              renamed(node(parent), name, node(toParent), toName, flags, before[0], before[1]);
            } catch (RuntimeException | Error e) {
              throw Front.halt(e); // or writes would have the name of before
            }
          }
          return null;
        });
  }

  /** Refuses a rename after which an entry below a directory would have a path that is too long. */
  private void checkBelow(Operation.Rename rename, Stat moved, @Nullable Stat replaced)
      throws ErrnoException {
    if (moved.isDirectory() && isLonger(rename.to(), rename.from())) {
      checkBelow(rename, rename.from());
    }
    boolean exchanges = (rename.flags() & Operation.Rename.EXCHANGE) != 0;
    if (exchanges
        && replaced != null
        && replaced.isDirectory()
        && isLonger(rename.from(), rename.to())) {
      checkBelow(rename, rename.to());
    }
  }

  private static boolean isLonger(String path, String other) {
    return path.length() > other.length() || FileTree.depth(path) > FileTree.depth(other);
  }

  private void checkBelow(Operation.Rename rename, String directory) throws ErrnoException {
    for (FileTree.Entry entry : front.tree().list(directory)) {
      String path = FileTree.child(directory, entry.name());
      String unused = supported(rename.after(path));
      if (entry.type() == Stat.DIRECTORY) {
        checkBelow(rename, path);
      }
    }
  }

  private void renamed(
      Node parent,
      String name,
      Node toParent,
      String toName,
      int flags,
      Stat moved,
      @Nullable Stat replaced) {
    if (replaced != null && replaced.inode() == moved.inode()) {
      return; // two names of one file: nothing happens
    }
    Node node = parent.children.get(name);
    Node other = toParent.children.get(toName);
    boolean exchanges = (flags & Operation.Rename.EXCHANGE) != 0;
    if (replaced != null && !exchanges && (replaced.isDirectory() || replaced.links() <= 1)) {
      gone(replaced.inode());
    }
    move(node, parent, name, null, "");
    move(other, toParent, toName, null, "");
    move(node, null, "", toParent, toName);
    if (exchanges) {
      move(other, null, "", parent, name);
    } else if (other != null) {
      forgetIfUnused(other);
    }
  }

  /** Takes a name of a node away, or gives it one. */
  private static void move(
      @Nullable Node node, @Nullable Node from, String name, @Nullable Node to, String toName) {
    if (node == null) {
      return;
    }
    if (from != null) {
      from.children.remove(name);
      node.names.removeIf(each -> each.parent() == from && each.name().equals(name));
    }
    if (to != null) {
      to.children.put(toName, node);
      node.names.add(new Name(to, toName));
    }
  }

  /**
   * Changes attributes.
   *
   * @param killsPrivileges whether the set-user and set-group bits go
   */
  public Stat change(long id, Change wanted, boolean killsPrivileges)
      throws ErrnoException, InterruptedException {
    checkSize(wanted.size());
    if (wanted.size() < 0) {
      return changeNow(id, wanted, killsPrivileges);
    }
    Node node = lockedNode(id);
    return bounded(
        node,
        () -> {
          synchronized (node) { // bytes that are just fetched would come behind the new end
            if (wanted.size() > 0) {
              fetchIfStub(id);
            }
            return changeNow(id, wanted, killsPrivileges);
          }
        });
  }

  /** Does what may wait for the store if only that has a file, unless too many do. */
  private <T> T bounded(Node node, Action<T> action) throws ErrnoException, InterruptedException {
    if (!front.isStub(node.inode)) {
      return action.run();
    }
    front.waits().begin(Errno.EBUSY, "");
    try {
      return action.run();
    } finally {
      front.waits().end();
    }
  }

  /** The front may have larger files than the store, which would fail with them for ever. */
  private void checkSize(long size) throws ErrnoException {
    if (size > store.largestFile()) {
      throw ErrnoException.of(Errno.EFBIG, "");
    }
  }

  private Node lockedNode(long id) throws ErrnoException {
    lock.lock();
    try {
      return node(id);
    } finally {
      lock.unlock();
    }
  }

  private Stat changeNow(long id, Change wanted, boolean killsPrivileges)
      throws ErrnoException, InterruptedException {
    return change(
        () -> {
          Node node = node(id);
          Change change = killsPrivileges ? withoutPrivileges(node, wanted) : wanted;
          if (pathOrNull(node) == null) {
            changeUnlinked(node, change);
          } else {
            if (change.size() >= 0) {
              perform(() -> new Operation.Resize(path(node(id)), change.size()));
            }
            if (change.hasAttributes()) {
              perform(
                  () ->
                      new Operation.Attributes(
                          path(node(id)),
                          change.mode(),
                          change.uid(),
                          change.gid(),
                          change.accessed(),
                          change.modified()));
            }
          }
          return attributes(node);
        });
  }

  private Change withoutPrivileges(Node node, Change change) throws ErrnoException {
    Stat stat = attributes(node);
    int mode = withoutPrivileges(change.mode() == -1 ? stat.mode() & ~Stat.TYPE : change.mode());
    boolean same = stat.isDirectory() || mode == (stat.mode() & ~Stat.TYPE);
    return new Change(
        same ? change.mode() : mode,
        change.uid(),
        change.gid(),
        change.size(),
        change.accessed(),
        change.modified());
  }

  private static int withoutPrivileges(int mode) {
    int bits = Stat.SET_USER;
    if ((mode & Stat.GROUP_EXECUTE) != 0) {
      bits |= Stat.SET_GROUP;
    }
    return mode & ~bits;
  }

  private void changeUnlinked(Node node, Change change)
      throws ErrnoException, InterruptedException {
    for (Handle handle : node.handles) {
      boolean mayResize = change.size() < 0 || (handle.flags & KernelState.WRITES) != 0;
      if (handle.isAtFront() && mayResize) {
        if (anyPath(node, handle.fd) == null) {
          front.changeUnlinked(handle.fd, change);
        } else {
          if (change.size() >= 0) {
            perform(() -> new Operation.Resize(nameNow(handle), change.size()));
          }
          if (change.hasAttributes()) {
            perform(
                () ->
                    new Operation.Attributes(
                        nameNow(handle),
                        change.mode(),
                        change.uid(),
                        change.gid(),
                        change.accessed(),
                        change.modified()));
          }
        }
        return;
      }
    }
    throw ErrnoException.of(Errno.ENOENT, "");
  }

  /**
   * Opens a file. To write to a file that only the store has, the front fetches it first; to read
   * it, only if it cannot be read there.
   */
  public long open(long id, int flags) throws ErrnoException, InterruptedException {
    releaseOpenedBefore();
    Node node;
    lock.lock();
    try {
      node = node(id);
      front.opened(node.inode);
    } finally {
      lock.unlock();
    }
    try {
      return bounded(node, () -> openNow(node, (flags & O_ACCMODE) != 0));
    } catch (ErrnoException | InterruptedException e) {
      front.released(node.inode);
      throw e;
    }
  }

  private long openNow(Node node, boolean writes) throws ErrnoException, InterruptedException {
    boolean stub = front.isStub(node.inode);
    boolean fetches = writes || !store.readsInPlace();
    if (stub && fetches) {
      fetchIfStub(node.id);
    }
    int atStore = stub && !fetches ? openAtStore(node) : -1;
    int kept = writes ? KernelState.WRITES : 0;
    return atStore < 0
        ? handleAtFront(node, writes ? FileTree.O_RDWR : Linux.O_RDONLY, kept)
        : handleAtStore(node, atStore, kept | KernelState.AT_STORE);
  }

  private long handleAtFront(Node node, int mode, int flags) throws ErrnoException {
    lock.lock();
    try {
      int fd = front.tree().open(path(node), mode);
      try {
        return handle(new Handle(node, fd, flags));
      } catch (ErrnoException e) {
        LIBC.close(fd);
        throw e;
      }
    } finally {
      lock.unlock();
    }
  }

  private long handleAtStore(Node node, int fd, int flags) throws ErrnoException {
    try {
      lock.lock();
      try {
        return handle(new Handle(node, fd, flags));
      } finally {
        lock.unlock();
      }
    } catch (ErrnoException e) {
      store.closeAfterReading(fd);
      throw e;
    }
  }

  /** A file as the front knows it, and the last operation that is pending of it. */
  private record Wanted(String path, Stat expected, long last) {}

  private Wanted wanted(Node node) throws ErrnoException {
    lock.lock();
    try {
      String path = path(node);
      return new Wanted(path, front.stat(path), front.lastOf(path));
    } finally {
      lock.unlock();
    }
  }

  /**
   * Opens a file that only the store has, under its name of now, once it has taken all that is
   * pending of it. Tries again, a few times, if the file changes meanwhile.
   *
   * @return -1 if the front has the file by now
   */
  private int openAtStore(Node node) throws ErrnoException, InterruptedException {
    for (int attempt = 1; ; attempt++) {
      Wanted wanted = wanted(node);
      if (!persister.await(wanted.last, LONGEST_STUB_WAIT)) {
        throw ErrnoException.of(Errno.ETIMEDOUT, wanted.path);
      }
      try {
        int file = store.openToRead(wanted.path, wanted.expected);
        if (isAt(wanted.path, node)) {
          return file;
        }
        store.closeAfterReading(file); // perhaps another one, which has the name by now
        if (attempt == MOST_ATTEMPTS) {
          throw ErrnoException.because(Errno.EIO, wanted.path, "gets other names all the time");
        }
      } catch (ErrnoException e) {
        if (!front.isStub(node.inode)) {
          return -1;
        }
        if (attempt == MOST_ATTEMPTS || isUnchanged(wanted.path, node, wanted.expected)) {
          throw e;
        }
      }
    }
  }

  private boolean isAt(String path, Node node) {
    lock.lock();
    try {
      return path.equals(pathOrNull(node));
    } finally {
      lock.unlock();
    }
  }

  /** Tells whether a file has its name and its attributes still. */
  private boolean isUnchanged(String path, Node node, Stat expected) throws ErrnoException {
    lock.lock();
    try {
      return isAt(path, node) && front.stat(path).equals(expected);
    } finally {
      lock.unlock();
    }
  }

  /** Has the front fetch the bytes of a file that only the store has. */
  private void fetchIfStub(long id) throws ErrnoException, InterruptedException {
    Node node = lockedNode(id);
    synchronized (node) {
      int from = front.isStub(node.inode) ? openAtStore(node) : -1;
      if (from < 0) {
        return;
      }
      long buffer = LIBC.malloc(COPY);
      try {
        front.fetch(node.inode, from, buffer, COPY);
      } finally {
        LIBC.free(buffer);
        store.closeAfterReading(from);
      }
    }
  }

  private long handle(Handle handle) throws ErrnoException {
    long number = kernel.handles().nextId();
    handle.record = kernel.handles().add(number, handle.node.id, handle.flags, 0);
    kernel.requests().opened(number);
    handle.node.handles.add(handle);
    handles.put(number, handle);
    return number;
  }

  /** A killed daemon has opened a file for the same request, and its program was not told. */
  private void releaseOpenedBefore() {
    long number = kernel.requests().openedBefore();
    if (number != 0) {
      release(number);
    }
  }

  private Handle handle(long number) throws ErrnoException {
    Handle handle = handles.get(number);
    if (handle == null) {
      throw ErrnoException.of(Errno.EBADF, "");
    }
    return handle;
  }

  /**
   * Closes an open file or directory. Nobody else waits for that: the files are closed once the
   * lock is free.
   */
  public void release(long number) {
    Handle handle;
    lock.lock();
    try {
      handle = handles.remove(number);
      if (handle == null) {
        return;
      }
      handle.node.handles.remove(handle);
      kernel.handles().remove(handle.record);
      keepEntries(handle, null);
      if (!handle.isDirectory()) {
        front.released(handle.node.inode);
      }
      forgetIfUnused(handle.node);
    } finally {
      lock.unlock();
    }
    if (handle.isAtFront()) {
      LIBC.close(handle.fd);
    } else if (handle.fd >= 0) {
      store.closeAfterReading(handle.fd);
    }
    if (handle.formerFd >= 0) {
      store.closeAfterReading(handle.formerFd);
    }
  }

  /**
   * Writes; returns the number of bytes.
   *
   * @param killsPrivileges whether the set-user and set-group bits go
   */
  public int write(long number, long address, int length, long offset, boolean killsPrivileges)
      throws ErrnoException, InterruptedException {
    Handle file = handle(number);
    requireOpen(file);
    checkSize(Math.addExact(offset, 1));
    int possible = (int) Math.min(length, store.largestFile() - offset);
    if (killsPrivileges) {
      killPrivileges(file);
    }
    return change(
        () ->
            front.write(
                () -> anyPath(file.node, file.fd),
                file.fd,
                file.node.inode,
                address,
                possible,
                offset));
  }

  private void killPrivileges(Handle file) throws ErrnoException, InterruptedException {
    int mode = FileTree.stat(file.fd).mode() & ~Stat.TYPE;
    if (withoutPrivileges(mode) != mode) {
      change(file.node.id, new Change(-1, -1, -1, -1, FileTree.OMIT, FileTree.OMIT), true);
    }
  }

  /** Allocates, punches or zeroes a range, with the modes of fallocate. */
  public void allocate(long number, int mode, long offset, long length)
      throws ErrnoException, InterruptedException {
    int known =
        Operation.Allocate.KEEP_SIZE
            | Operation.Allocate.PUNCH_HOLE
            | Operation.Allocate.ZERO_RANGE;
    if ((mode & ~known) != 0) {
      throw ErrnoException.of(Errno.EOPNOTSUPP, "");
    }
    checkSize(Math.addExact(offset, length));
    Handle file = handle(number);
    requireOpen(file);
    this.<Void>change(
        () -> {
          perform(() -> new Operation.Allocate(nameNow(file), mode, offset, length));
          return null;
        });
  }

  /** Returns a name that an open file has now: it may get another while its change waits. */
  private String nameNow(Handle file) throws ErrnoException {
    String path = anyPath(file.node, file.fd);
    if (path == null) {
      throw ErrnoException.of(Errno.EOPNOTSUPP, "");
    }
    return path;
  }

  /** Sets an extended attribute of users. */
  public void setXattr(long id, String name, byte[] value, int flags)
      throws ErrnoException, InterruptedException {
    checkXattr(name);
    String text = FileTree.bytesAsText(value);
    this.<Void>change(
        () -> {
          perform(
              () -> {
                String path = path(node(id));
                boolean has = hasXattr(path, name);
                if (has && (flags & XATTR_CREATE) != 0) {
                  throw ErrnoException.of(Errno.EEXIST, path);
                }
                if (!has && (flags & XATTR_REPLACE) != 0) {
                  throw ErrnoException.of(Errno.ENODATA, path);
                }
                return new Operation.SetXattr(path, name, text, 0); // can be repeated
              });
          return null;
        });
  }

  private boolean hasXattr(String path, String name) throws ErrnoException {
    return front.tree().xattrNames(path).contains(name);
  }

  /** Removes an extended attribute. */
  public void removeXattr(long id, String name) throws ErrnoException, InterruptedException {
    checkXattr(name);
    this.<Void>change(
        () -> {
          perform(
              () -> {
                String path = path(node(id));
                if (!hasXattr(path, name)) {
                  throw ErrnoException.of(Errno.ENODATA, path);
                }
                return new Operation.RemoveXattr(path, name);
              });
          return null;
        });
  }

  private static void checkXattr(String name) throws ErrnoException {
    if (isOwnXattr(name)) {
      throw ErrnoException.of(Errno.EPERM, name);
    }
    if (!isOfPrograms(name)) {
      throw ErrnoException.of(Errno.EOPNOTSUPP, name);
    }
  }

  private static boolean isOwnXattr(String name) {
    return name.startsWith(OWN_XATTRS) || name.startsWith(Front.HIDDEN_XATTR);
  }

  /** Tells whether programs can set an extended attribute of this name. */
  static boolean isOfPrograms(String name) {
    return (name.startsWith("user.") || name.startsWith("trusted.")) && !isOwnXattr(name);
  }

  /**
   * Makes a file or a directory, with all below it, durable as the policy says, or tells what the
   * caller has to {@linkplain #await await} for that.
   *
   * @return the operation that the store has to have; nothing if all is durable
   */
  public OptionalLong sync(long id, long number) throws ErrnoException {
    Handle file = handle(number);
    String path;
    long last;
    lock.lock();
    try {
      Node node = node(id);
      path = file.isAtFront() ? anyPath(node, file.fd) : pathOrNull(node);
      if (path == null) {
        return OptionalLong.empty();
      }
      last = front.lastOf(path);
    } finally {
      lock.unlock();
    }
    if (fsync == FsyncPolicy.STORE) {
      return front.durable() >= last ? OptionalLong.empty() : OptionalLong.of(last);
    }
    meter.begin();
    try {
      front.syncAll();
    } finally {
      meter.end(front.last());
    }
    return OptionalLong.empty();
  }

  /**
   * Waits until the store has an operation, without a thread of the caller's; its program is
   * blocked meanwhile.
   */
  public StoreWaits.Wait await(long sequence, StoreWaits.End end) {
    meter.begin();
    try {
      return storeWaits.begin(
          sequence,
          failure -> {
            meter.end(front.last());
            end.ended(failure);
          });
    } catch (RuntimeException | Error e) {
      meter.end(front.last());
      throw e;
    }
  }

  /** Writes the figures of the front's file system as the kernel wants them, 80 bytes. */
  public void statfs(long to) throws ErrnoException {
    long area = Linux.scratch().area();
    if (LIBC.fstatvfs(front.tree().fd(), area) != 0) {
      throw ErrnoException.of(Linux.errno(), "");
    }
    Memory.clear(to, 80);
    for (int i = 0; i < 5; i++) { // blocks, free, available, files, free files
      Memory.putLong(to + 8L * i, Memory.getLong(area + 16 + 8L * i));
    }
    Memory.putInt(to + 40, (int) Memory.getLong(area));
    Memory.putInt(to + 44, (int) Memory.getLong(area + 80));
    Memory.putInt(to + 48, (int) Memory.getLong(area + 8));
  }
}
