package io.holdfast.fs.mount;

import io.holdfast.fs.AccessLog;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.control.ControlFiles;
import io.holdfast.fs.linux.Memory;
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
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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

  /** Far above any id that the tree reaches; below what an item's id has room for. */
  private static final long CONTROL = 1L << 38;

  private static final byte[] CONTROL_NAME = ControlFiles.NAME.getBytes(StandardCharsets.UTF_8);
  private static final byte[] RESIDENT_ATTRIBUTE = bytes("user.holdfast.resident");
  private static final byte[] ITEMS_ATTRIBUTE = bytes("user.holdfast.items");

  private final Origin origin;
  private final Tree tree;
  private final ItemLayout layout;
  private final Transit transit;
  private final Residency residency;
  private final ControlFiles control;
  private final ReadStats reads;
  private final Activity activity;
  private final AccessLog accesses;
  private final DatasetChanges changes;
  private final LongSupplier nanoTime;
  private final CallerMemory callers = new CallerMemory();
  private final Remembered remembered;
  private final Listings listings;
  private volatile @Nullable StoreFigures figures;

  /**
   * What the filesystem is made of.
   *
   * @param changes learns what changes
   * @param metadataTtl how long names and attributes are believed
   */
  public record Parts(
      Origin origin,
      Tree tree,
      ItemLayout layout,
      Transit transit,
      Residency residency,
      ControlFiles control,
      ReadStats reads,
      Activity activity,
      AccessLog accesses,
      DatasetChanges changes,
      Duration metadataTtl,
      LongSupplier nanoTime) {}

  /** Composes the filesystem. */
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
    remembered = new Remembered(tree, origin.mayHang(), parts.metadataTtl, nanoTime);
    listings = new Listings(origin, tree, remembered);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public Entry lookup(long parent, byte[] name) throws FsException {
    if (parent >= CONTROL) {
      return controlEntry(control.lookup(parent - CONTROL, name));
    }
    if (isControlName(parent, name)) {
      return controlEntry(ControlFiles.DIRECTORY);
    }
    try {
      return entry(remembered.lookup(tree.node(parent), name));
    } catch (FsException e) {
      if (e.code() == FsError.NOT_FOUND) {
        changes.missing(parent, name);
      }
      throw e;
    }
  }

  private static boolean isControlName(long parent, byte[] name) {
    return parent == ROOT && Arrays.equals(name, CONTROL_NAME);
  }

  private Entry controlEntry(long node) throws FsException {
    return new Entry(CONTROL + node, control.attributes(node));
  }

  private static Entry entry(Node node) {
    return new Entry(node.id(), node.attributes());
  }

  @Override
  public @Nullable Entry known(long parent, byte[] name) {
    try {
      if (parent >= CONTROL || isControlName(parent, name)) {
        return lookup(parent, name);
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
    if (!remembered.refresh(known)) {
      // the name's next lookup brings the new version; this inode keeps the old one
      changes.changed(node);
    }
    return known.attributes();
  }

  @Override
  public byte[] readLink(long node, int thread) throws FsException {
    return node >= CONTROL
        ? control.readLink(node - CONTROL, thread)
        : origin.readLink(tree.node(node).path());
  }

  @Override
  public boolean isCurrent(long node) {
    return node >= CONTROL || tree.isCurrent(node);
  }

  @Override
  public Duration believeNames(long directory) {
    return directory >= CONTROL ? remembered.ttl() : remembered.believe(tree.handle(directory));
  }

  @Override
  public Duration believeAttributes(long node) {
    return node >= CONTROL ? remembered.ttl() : remembered.believeAttributes(tree.handle(node));
  }

  @Override
  public void list(long directory, long after, IntPredicate looks, ListSink sink)
      throws FsException {
    if (directory >= CONTROL) {
      listControl(directory - CONTROL, after, sink);
    } else {
      listings.list(tree.node(directory), after, looks, sink);
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
      int count = (int) Math.min(length, content.version().size() - offset);
      if (count <= 0) {
        counted.data(0, 0);
      } else {
        if (!reader.internal()) {
          residency.awaitRoom();
        }
        transit.read(content, offset, count, reader, counted);
      }
    } catch (FsException e) {
      counted.failed(e);
    }
  }

  private ReadReply logged(long node, long offset, int length, int thread, ReadReply reply) {
    return accesses.wantsNext()
        ? new LoggedReply(
            reply,
            accesses,
            new LoggedReply.Asked(thread, () -> pathOf(node), offset, length),
            nanoTime)
        : reply;
  }

  private Object pathOf(long node) {
    try {
      return tree.node(node).path();
    } catch (FsException e) {
      return "?"; // a version that is no more
    }
  }

  private ReadReply counted(ReadReply reply, Caller caller) {
    caller.reads(nanoTime.getAsLong());
    return new ReadReply() {
      @Override
      public void data(long address, int length) {
        reply.data(address, length);
        reads.answered(length, caller.answered(nanoTime.getAsLong()));
      }

      @Override
      public void waitedFor(ReadSource source) {
        reply.waitedFor(source);
      }

      @Override
      public void failed(FsException cause) {
        reply.failed(cause);
        reads.failed(cause.code(), caller.answered(nanoTime.getAsLong()));
        if (cause.code() != FsError.STALE && cause.code() != FsError.ORIGIN_SILENT) {
          log.warn("a read failed: {}", cause.getMessage());
        }
      }
    };
  }

  private void readControl(long node, long offset, int length, ReadReply reply) {
    try {
      byte[] content = control.content(node);
      int count = (int) Math.max(0, Math.min(length, content.length - offset));
      Pointer memory =
          jnr.ffi.Memory.allocateDirect(Runtime.getSystemRuntime(), Math.max(1, count), false);
      Memory.put(memory.address(), content, (int) Math.min(offset, content.length), count);
      reply.data(memory.address(), count);
    } catch (FsException e) {
      reply.failed(e);
    }
  }

  @Override
  public void opened(long node, int thread) {
    if (node < CONTROL && !callers.reader(thread).internal()) {
      OpenBatch batch = new OpenBatch();
      batch.add(node, size(node));
      activity.opened(thread, batch);
    }
  }

  private long size(long node) {
    try {
      return tree.node(node).attributes().size();
    } catch (FsException e) {
      return 0; // a version that is no more
    }
  }

  @Override
  public byte[] extendedAttribute(long node, byte[] name) throws FsException {
    boolean ofEveryFile = AskedOfEveryFile.contains(name);
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
      throw new FsException(FsError.NO_ATTRIBUTE, ControlFiles.NAME + ": no such attribute");
    }
    Node known = tree.node(node);
    long items = layout.count(known.attributes().size());
    boolean regular = known.attributes().isRegular();
    if (regular && Arrays.equals(name, RESIDENT_ATTRIBUTE)) {
      return bytes(Long.toString(residency.pinnedBytes(node, items)));
    }
    if (regular && Arrays.equals(name, ITEMS_ATTRIBUTE)) {
      return bytes(residency.pinnedItems(node, items) + "/" + items);
    }
    return origin.extendedAttribute(known.path(), name);
  }

  /** The attributes that Holdfast adds are answered and, like the control directory, not listed. */
  @Override
  public byte[] extendedAttributeNames(long node) throws FsException {
    return node >= CONTROL ? new byte[0] : origin.extendedAttributeNames(tree.node(node).path());
  }

  /**
   * Where asking takes long, the figures are those of the last scan: {@code find} asks for them in
   * each directory.
   */
  @Override
  public StoreFigures figures() throws FsException {
    StoreFigures known = figures;
    return known == null ? origin.figures() : known;
  }

  /** Asks the store for its figures, to be answered from then on; for each scan. */
  public void rememberFigures() {
    try {
      if (origin.mayHang() && !remembered.ttl().isZero()) {
        figures = origin.figures();
      }
    } catch (FsException e) {
      log.warn("no figures of the store: {}", e.getMessage());
    }
  }
}
