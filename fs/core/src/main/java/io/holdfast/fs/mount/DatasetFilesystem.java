package io.holdfast.fs.mount;

import io.holdfast.fs.AccessLog;
import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.StoreFigures;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.stats.Activity;
import io.holdfast.fs.stats.Caller;
import io.holdfast.fs.stats.OpenBatch;
import io.holdfast.fs.stats.ReadStats;
import io.holdfast.fs.transit.Content;
import io.holdfast.fs.transit.ItemLayout;
import io.holdfast.fs.transit.Reader;
import io.holdfast.fs.transit.Transit;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.Tree;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The filesystem that is mounted: the dataset as the tree knows it, its content through residency
 * and transit, and the control directory. Nodes from {@link #CONTROL} on belong to the control
 * directory.
 */
public final class DatasetFilesystem implements Filesystem {
  private static final Logger log = LoggerFactory.getLogger(DatasetFilesystem.class);

  /** Far above any id that the tree reaches. */
  private static final long CONTROL = 1L << 62;

  /** How often a lookup is made while the rights of its directory change. */
  private static final int LOOKUPS = 10;

  /** More than any kernel asks for at once, and less than what a few of them would take. */
  private static final int LONGEST_READ = 16 << 20;

  private static final byte[] CONTROL_NAME = ControlNodes.NAME.getBytes(StandardCharsets.UTF_8);
  private static final byte[] RESIDENT_ATTRIBUTE = bytes("user.holdfast.resident");
  private static final byte[] ITEMS_ATTRIBUTE = bytes("user.holdfast.items");

  private final Origin origin;
  private final Tree tree;
  private final ItemLayout layout;
  private final Transit transit;
  private final Residency residency;
  private final ControlNodes control;
  private final ReadStats reads;
  private final Activity activity;
  private final AccessLog accesses;
  private final DatasetChanges changes;
  private final LongSupplier nanoTime;
  private final CallerMemory callers;
  private final MetadataCache metadata;
  private final Rights rights;
  private final Listings listings;
  private volatile @Nullable StoreFigures figures;

  /**
   * The parts of the filesystem.
   *
   * @param changes learns what changes
   * @param metadataTtl how long the kernel may believe names and attributes
   * @param procfs knows the threads of readers
   */
  public record Parts(
      Origin origin,
      Tree tree,
      ItemLayout layout,
      Transit transit,
      Residency residency,
      ControlNodes control,
      ReadStats reads,
      Activity activity,
      AccessLog accesses,
      DatasetChanges changes,
      Duration metadataTtl,
      Procfs procfs,
      LongSupplier nanoTime) {}

  /** Creates the filesystem. */
  public DatasetFilesystem(Parts parts) {
    origin = parts.origin;
    tree = parts.tree;
    layout = parts.layout;
    transit = parts.transit;
    residency = parts.residency;
    control = parts.control;
    reads = parts.reads;
    activity = parts.activity;
    accesses = parts.accesses;
    changes = parts.changes;
    nanoTime = parts.nanoTime;
    callers = new CallerMemory(parts.procfs);
    metadata = new MetadataCache(tree, origin.mayHang(), parts.metadataTtl, nanoTime);
    rights = new Rights(origin, metadata, changes.openings(), parts.procfs, changes::changed);
    listings = new Listings(tree, metadata, rights::shown);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public Entry lookup(long parent, byte[] name, Asker asker) throws FsException {
    if (isControl(parent, name)) {
      return lookupControl(parent, name);
    }
    try {
      return entry(lookup(tree.node(parent), name, asker));
    } catch (FsException e) {
      if (e.code() == FsError.NOT_FOUND) {
        changes.missing(parent, name);
      }
      throw e;
    }
  }

  /**
   * Looks up a name in a directory of the dataset. Repeats that if rights on the way there have
   * changed meanwhile: nobody knows by which of them the entry was found.
   */
  private Node lookup(Node directory, byte[] name, Asker asker) throws FsException {
    for (int tries = 1; tries <= LOOKUPS; tries++) {
      long change = lastChange(directory);
      Node found = metadata.lookup(directory, name);
      boolean passes = change == 0 || letPass(directory, asker);
      if (lastChange(directory) == change) {
        if (passes) {
          return found;
        }
        break;
      }
    }
    throw new FsException(FsError.STALE, directory.path() + ": rights there have just changed");
  }

  /** Returns the number of the last change of a directory or of one above it; 0 without any. */
  private long lastChange(Node directory) {
    RightsChanges closed = changes.rightsChanges();
    long last = 0;
    if (closed.areAny()) {
      for (Node at = directory; at != null; at = at.parent()) {
        last = Math.max(last, closed.last(at.id()));
      }
    }
    return last;
  }

  private boolean letPass(Node directory, Asker asker) {
    for (Node at = directory; at != null; at = at.parent()) {
      if (changes.rightsChanges().last(at.id()) != 0 && !rights.letPass(at, asker)) {
        return false;
      }
    }
    return true;
  }

  private static boolean isControl(long parent, byte[] name) {
    return parent >= CONTROL || isControlName(parent, name);
  }

  private Entry lookupControl(long parent, byte[] name) throws FsException {
    return controlEntry(
        parent >= CONTROL ? control.lookup(parent - CONTROL, name) : ControlNodes.DIRECTORY);
  }

  private static boolean isControlName(long parent, byte[] name) {
    return parent == ROOT && Arrays.equals(name, CONTROL_NAME);
  }

  private Entry controlEntry(long node) throws FsException {
    return new Entry(CONTROL + node, control.attributes(node));
  }

  private Entry entry(Node node) {
    return new Entry(node.id(), rights.shown(node));
  }

  @Override
  public @Nullable Entry known(long parent, byte[] name) {
    try {
      if (isControl(parent, name)) {
        return lookupControl(parent, name);
      }
      Node node = tree.known(tree.node(parent), name);
      return node == null ? null : entry(node);
    } catch (FsException e) {
      return null;
    }
  }

  @Override
  public Attributes attributes(long node) throws FsException {
    if (node >= CONTROL) {
      return control.attributes(node - CONTROL);
    }
    Node known = tree.node(node);
    Attributes before = known.attributes();
    if (!metadata.refresh(known)) {
      // a kernel that came by the path then looks the name up, and finds the new version
      changes.changed(node);
      throw new FsException(FsError.STALE, known.path() + ": replaced at the origin");
    }
    Attributes now = known.attributes();
    if (now.isDirectory() && !now.sameRights(before)) {
      // the kernel was told to ask for the rights, and does not take those of a reply on its way
      throw new FsException(FsError.STALE, known.path() + ": other rights at the origin");
    }
    return rights.shown(known);
  }

  @Override
  public void kernelDecidesByAcls() {
    rights.kernelDecides();
  }

  @Override
  public byte[] readLink(long node, int thread, int uid) throws FsException {
    return node >= CONTROL
        ? control.readLink(node - CONTROL, new ControlNodes.Asker(thread, uid))
        : readLink(tree.node(node));
  }

  private byte[] readLink(Node link) throws FsException {
    try {
      return origin.readLink(link.path(), link.attributes());
    } catch (FsException e) {
      throw staleIfGone(e);
    }
  }

  /**
   * Where a name no longer leads to a node at the origin, that is another node's by now, and the
   * kernel looks the name up again.
   */
  private static FsException staleIfGone(FsException e) {
    return switch (e.code()) {
      case NOT_FOUND, NOT_DIRECTORY, SYMLINK -> new FsException(FsError.STALE, e.getMessage(), e);
      default -> e;
    };
  }

  @Override
  public boolean isCurrent(long node) {
    return node >= CONTROL || tree.isCurrent(node);
  }

  @Override
  public Duration believeNames(long directory) {
    Node known = tree.handle(directory);
    if (known != null && lastChange(known) != 0) {
      return Duration.ZERO;
    }
    return known == null ? metadata.ttl() : metadata.believe(known);
  }

  @Override
  public Duration believeAttributes(long node) {
    Node known = tree.handle(node);
    return known == null ? metadata.ttl() : metadata.believeAttributes(known);
  }

  @Override
  public void list(long directory, long after, IntPredicate looks, ListSink sink)
      throws FsException {
    if (directory >= CONTROL) {
      listControl(directory - CONTROL, after, sink);
    } else {
      listDataset(directory, after, looks, sink);
    }
  }

  private void listDataset(long directory, long after, IntPredicate looks, ListSink sink)
      throws FsException {
    try {
      listings.list(tree.node(directory), after, looks, sink);
    } catch (FsException e) {
      throw staleIfGone(e);
    }
  }

  private void listControl(long directory, long after, ListSink sink) throws FsException {
    List<ListedEntry> all = new ArrayList<>();
    control.list(
        directory,
        (name, type, inode) -> all.add(new ListedEntry(name, all.size() + 1L, type, inode)));
    boolean hasRoom = true;
    for (int i = (int) Math.min(after, all.size()); hasRoom && i < all.size(); i++) {
      hasRoom = sink.take(all.get(i));
    }
  }

  @Override
  public void read(long node, long offset, int length, int thread, ReadReply reply) {
    if (offset < 0 || length < 0 || length > LONGEST_READ) {
      reply.failed(new FsException(FsError.INVALID, "a read of " + length + " bytes at " + offset));
      return;
    }
    if (node >= CONTROL) {
      readControl(node - CONTROL, offset, length, reply);
      return;
    }
    Reader reader = callers.reader(thread);
    ReadReply counted =
        reader.internal()
            ? reply
            : counted(logged(node, offset, length, thread, reply), activity.caller(thread));
    try {
      Node known = tree.node(node);
      Content content = new Content(node, known::path, known.version());
      int count = (int) Math.min(length, Math.max(0, content.version().size() - offset));
      if (count == 0) {
        counted.data(CheckedBytes.NOTHING);
      } else {
        if (!reader.internal()) {
          residency.awaitRoom();
        }
        transit.read(content, offset, count, reader, counted);
      }
    } catch (FsException e) {
      counted.failed(e);
    } catch (RuntimeException | Error e) {
      counted.failed(
          e instanceof OutOfMemoryError
              ? OutOfMemory.FAILURE
              : new FsException(FsError.IO, "the daemon itself failed: " + e, e));
      throw e;
    }
  }

  private ReadReply logged(long node, long offset, int length, int thread, ReadReply reply) {
    return accesses.wantsNext()
        ? new LoggedReply(
            reply,
            accesses,
            new LoggedReply.Read(thread, () -> pathOf(node), offset, length),
            nanoTime)
        : reply;
  }

  private Object pathOf(long node) {
    try {
      return tree.node(node).path();
    } catch (FsException e) {
      return "?"; // the version has gone
    }
  }

  private ReadReply counted(ReadReply reply, Caller caller) {
    ReadReply counted =
        new ReadReply() {
          private ReadSource tier = ReadSource.MEMORY;

          /** An error on the way may answer a read twice; its thread was blocked once. */
          private final AtomicBoolean answered = new AtomicBoolean();

          @Override
          public void data(CheckedBytes bytes) {
            reply.data(bytes);
            int length = bytes.length();
            if (answered.compareAndSet(false, true)) {
              reads.answered(length, caller.answered(nanoTime.getAsLong(), tier, length), tier);
            }
          }

          @Override
          public void waitedFor(ReadSource source) {
            tier = source;
            reply.waitedFor(source);
          }

          @Override
          public void failed(FsException cause) {
            reply.failed(cause);
            if (!answered.compareAndSet(false, true)) {
              return;
            }
            reads.failed(cause.code(), caller.answered(nanoTime.getAsLong(), tier, 0), tier);
            if (cause.code() != FsError.STALE && cause.code() != FsError.ORIGIN_SILENT) {
              log.warn("a read failed: {}", cause.getMessage());
            }
          }
        };
    caller.reads(nanoTime.getAsLong());
    return counted;
  }

  private void readControl(long node, long offset, int length, ReadReply reply) {
    try {
      byte[] content = control.content(node);
      int first = (int) Math.min(offset, content.length);
      int count = Math.min(length, content.length - first);
      Pointer memory =
          jnr.ffi.Memory.allocateDirect(Runtime.getSystemRuntime(), Math.max(1, count), false);
      try {
        Memory.put(memory.address(), content, first, count);
        reply.data(CheckedBytes.within(memory.address(), count, 0, count));
      } finally {
        Reference.reachabilityFence(memory);
      }
    } catch (FsException e) {
      reply.failed(e);
    }
  }

  @Override
  public void opened(long node, int thread) {
    if (node < CONTROL && !callers.reader(thread).internal()) {
      OpenBatch batch = new OpenBatch();
      batch.add(inode(node), size(node));
      activity.opened(thread, batch);
    }
  }

  /** Returns the number by which all opens name a file, as those do that are watched. */
  private long inode(long node) {
    try {
      return tree.node(node).inode();
    } catch (FsException e) {
      return node; // the version has gone
    }
  }

  private long size(long node) {
    try {
      return tree.node(node).attributes().size();
    } catch (FsException e) {
      return 0; // the version has gone
    }
  }

  @Override
  public byte[] extendedAttribute(long node, byte[] name) throws FsException {
    boolean decides = rights.decidesBy(name);
    if (decides && node < CONTROL) {
      return rights.value(tree.node(node), name);
    }
    boolean ofEveryFile = AskedOfEveryFile.contains(name) && !decides;
    if (ofEveryFile && origin.mayHang()) {
      throw new FsException(FsError.UNSUPPORTED, "not asked for");
    }
    try {
      return valueOf(node, name);
    } catch (FsException e) {
      throw e.code() == FsError.NO_ATTRIBUTE && ofEveryFile
          ? new FsException(FsError.UNSUPPORTED, "none of the file", e)
          : e;
    }
  }

  private byte[] valueOf(long node, byte[] name) throws FsException {
    if (node >= CONTROL) {
      throw new FsException(FsError.NO_ATTRIBUTE, ControlNodes.NAME + ": no such attribute");
    }
    Node known = tree.node(node);
    boolean regular = known.attributes().isRegular();
    if (regular && Arrays.equals(name, RESIDENT_ATTRIBUTE)) {
      return bytes(Long.toString(residency.pinnedBytes(node)));
    }
    if (regular && Arrays.equals(name, ITEMS_ATTRIBUTE)) {
      long items = layout.count(known.attributes().size());
      return bytes(residency.pinnedItems(node) + "/" + items);
    }
    return origin.extendedAttribute(known.path(), known.attributes(), name);
  }

  /**
   * Returns the origin's names alone. The attributes that Holdfast adds have values but, like the
   * control directory, are not listed.
   */
  @Override
  public byte[] extendedAttributeNames(long node, int uid) throws FsException {
    if (node >= CONTROL) {
      return new byte[0];
    }
    Node known = tree.node(node);
    byte[] names = origin.extendedAttributeNames(known.path(), known.attributes());
    return AttributeNames.visibleTo(uid, names);
  }

  /**
   * Returns the store's figures. If asking takes long, they are those of the last scan, because
   * {@code find} asks for them in each directory.
   */
  @Override
  public StoreFigures figures() throws FsException {
    StoreFigures known = figures;
    return known == null ? origin.figures() : known;
  }

  /** Asks the store for its figures and remembers them. Each scan calls this. */
  public void rememberFigures() {
    try {
      if (origin.mayHang() && !metadata.ttl().isZero()) {
        figures = origin.figures();
      }
    } catch (FsException e) {
      log.warn("no figures of the store: {}", e.getMessage());
    }
  }
}
