package io.holdfast.fs.mount;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.control.ControlFiles;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.Origin.EntrySink;
import io.holdfast.fs.origin.StoreFigures;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.stats.OpenCounts;
import io.holdfast.fs.stats.ReadStats;
import io.holdfast.fs.transit.Content;
import io.holdfast.fs.transit.ItemLayout;
import io.holdfast.fs.transit.Reader;
import io.holdfast.fs.transit.Transit;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.Tree;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
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
  private final OpenCounts opens;
  private final KernelView kernel;
  private final Executor changes;
  private final LongSupplier nanoTime;
  private final CallerMemory callers = new CallerMemory();
  private final MissingNames missing;

  /**
   * What the filesystem is made of.
   *
   * @param metadataTtl how long the kernel keeps names and attributes
   * @param changes where a file that has changed is looked up again; not a thread that answers
   *     requests
   */
  public record Parts(
      Origin origin,
      Tree tree,
      ItemLayout layout,
      Transit transit,
      Residency residency,
      ControlFiles control,
      ReadStats reads,
      OpenCounts opens,
      KernelView kernel,
      Duration metadataTtl,
      Executor changes,
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
    opens = parts.opens;
    kernel = parts.kernel;
    changes = parts.changes;
    nanoTime = parts.nanoTime;
    missing = new MissingNames(parts.metadataTtl);
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
      return entry(tree.lookup(tree.node(parent), name));
    } catch (FsException e) {
      if (e.code() == FsError.NOT_FOUND) {
        missing.add(parent, name);
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
    if (!tree.refresh(known)) {
      // the name's next lookup brings the new version; this inode keeps the old one
      changed(known);
    }
    return known.attributes();
  }

  @Override
  public byte[] readLink(long node) throws FsException {
    return node >= CONTROL
        ? control.readLink(node - CONTROL)
        : origin.readLink(tree.node(node).path());
  }

  @Override
  public void list(long node, EntrySink sink) throws FsException {
    if (node >= CONTROL) {
      control.list(node - CONTROL, sink);
      return;
    }
    origin.list(tree.node(node).path(), withoutControlName(node, sink));
  }

  private static EntrySink withoutControlName(long node, EntrySink sink) {
    return node != ROOT
        ? sink
        : (name, type, inode) -> {
          if (!Arrays.equals(name, CONTROL_NAME)) {
            sink.entry(name, type, inode);
          }
        };
  }

  @Override
  public boolean listAndLookUp(long node, EntrySink sink) throws FsException {
    if (node >= CONTROL || origin.mayHang()) {
      list(node, sink);
      return false;
    }
    Node directory = tree.node(node);
    EntrySink all = withoutControlName(node, sink);
    origin.listWithAttributes(
        directory.path(),
        (name, type, inode, attributes) -> {
          if (attributes != null) {
            learn(directory, name, attributes);
          }
          all.entry(name, type, inode);
        });
    return true;
  }

  private void learn(Node directory, byte[] name, Attributes attributes) {
    try {
      tree.listed(directory, name, attributes);
    } catch (FsException e) {
      log.debug("gone since it was listed: {}", e.getMessage());
    }
  }

  @Override
  public void read(long node, long offset, int length, int thread, ReadReply reply) {
    if (node >= CONTROL) {
      readControl(node - CONTROL, offset, length, reply);
      return;
    }
    Reader reader = callers.reader(thread);
    ReadReply counted = reader.internal() ? reply : counted(reply);
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

  private ReadReply counted(ReadReply reply) {
    long started = nanoTime.getAsLong();
    return new ReadReply() {
      @Override
      public void data(long address, int length) {
        reply.data(address, length);
        reads.answered(length, nanoTime.getAsLong() - started);
      }

      @Override
      public void failed(FsException cause) {
        reply.failed(cause);
        reads.failed(nanoTime.getAsLong() - started);
        if (cause.code() != FsError.STALE) {
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
      opens.opened(thread, 1);
    }
  }

  @Override
  public byte[] extendedAttribute(long node, byte[] name) throws FsException {
    try {
      return valueOf(node, name);
    } catch (FsException e) {
      throw e.code() == FsError.NO_ATTRIBUTE && AskedOfEveryFile.contains(name)
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

  @Override
  public StoreFigures figures() throws FsException {
    return origin.figures();
  }

  /** Lets go of a node that its name no longer leads to: see {@link Tree.ChangeListener}. */
  public void replaced(Node old) {
    Node parent = old.parent();
    String path = old.path().toString();
    transit.abandon(old.id(), path);
    long freed = residency.release(old.id(), layout.count(old.attributes().size()));
    if (parent != null) {
      kernel.replace(parent.id(), old.name(), old.id());
    }
    log.info(
        "{} changed at the origin, was {}; {} resident bytes released", path, old.version(), freed);
  }

  /** Learns, from a fetch, that a file has another version by now. */
  public void changed(long node) {
    try {
      changed(tree.node(node));
    } catch (FsException e) {
      log.debug("replaced already: {}", e.getMessage());
    }
  }

  private void changed(Node node) {
    try {
      changes.execute(() -> refresh(node));
    } catch (RejectedExecutionException e) {
      log.debug("the mount is ending", e);
    }
  }

  /**
   * Asks the origin for everything that is known at and below a path, and shows the kernel what is
   * different.
   *
   * @param path names separated by slashes, relative to the root; empty for the whole dataset
   * @return entries that were different
   */
  public long refresh(String path) throws FsException {
    Node top = tree.root();
    for (String name : path.split("/", -1)) {
      if (!name.isEmpty() && !name.equals(".")) {
        Node next = tree.known(top, bytes(name));
        top = next == null ? tree.lookup(top, bytes(name)) : next;
      }
    }
    List<Node> within = tree.knownWithin(top);
    long different = 0;
    for (Node node : within) {
      different += refresh(node) ? 1 : 0;
    }
    missing.takeWithin(within.stream().map(Node::id).collect(Collectors.toSet()), kernel::expire);
    return different;
  }

  /** Asks the origin for one node; not to be called by a thread that answers requests. */
  private boolean refresh(Node node) {
    Node parent = node.parent();
    Attributes before = node.attributes();
    if (before.isDirectory()) {
      kernel.expireDirectory(node.id());
    }
    if (parent == null) {
      return false;
    }
    boolean different = true;
    try {
      Node now = tree.lookup(parent, node.name());
      different = !now.equals(node) || !now.attributes().equals(before);
    } catch (FsException e) {
      if (e.code() != FsError.NOT_FOUND && e.code() != FsError.NOT_DIRECTORY) {
        log.warn("could not refresh {}: {}", node.path(), e.getMessage());
        return false;
      }
    }
    // a directory that is still there keeps its entry, for those who work in it
    if (different && !(before.isDirectory() && !node.isStale())) {
      kernel.expire(parent.id(), node.name());
    }
    return different;
  }

  /**
   * Drops the pages of files of which nothing is resident: after a restart, those that the daemon
   * before this one had let linger, and nobody would drop any more.
   */
  public void dropStrays() {
    tree.forEach(
        node -> {
          Attributes attributes = node.attributes();
          long items = attributes.isRegular() ? layout.count(attributes.size()) : 0;
          if (items > 0 && !residency.hasResidents(node.id(), items)) {
            kernel.dropPages(node.id());
          }
        });
  }

  /**
   * Asks the origin for every file that has resident items, so that memory held for old versions
   * comes free.
   */
  public void refreshResidents() {
    for (long id : residency.residentNodes()) {
      try {
        refresh(tree.node(id));
      } catch (FsException e) {
        log.debug("replaced already: {}", e.getMessage());
      }
    }
  }
}
