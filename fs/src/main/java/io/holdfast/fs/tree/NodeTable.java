package io.holdfast.fs.tree;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.Attributes;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;

/**
 * The nodes of a tree, in native memory that may outlive the process. A node's id is its place, so
 * that it stays the same for whoever opens the memory again, and is never used for another. Ids
 * grow; the memory's range keeps them below 2^31.
 *
 * <p>Records follow each other, the first of them, the root, at byte 8:
 *
 * <pre>
 *   0 length u16, in units of 8, written last    12 next u32, in its directory  40 modified i64
 *   2 name length u16                            16 shape u32                   48 changed i64
 *   4 flags u8                                   20 blocks u32, lower part      56 accessed i64
 *   5 etag length u8, as {@link Etags} packs it  24 inode u64                   64 name, etag
 *   6 seen u8: last pass that it was found by    32 size u64                    directories, in their last 32 bytes:
 *   7 blocks, higher part u8                                                    first u32, last u32: of its entries
 *   8 parent's id u32, 0 for the root                                           listed i64: when it was known whole
 *                                                                               listed changed i64: its own time then
 *                                                                               passes u8: over it, counted 1 to 255
 * </pre>
 *
 * <p>What most nodes share is kept once, in a record among the others, the shape:
 *
 * <pre>
 *   0 length u16, 4 flags u8   8 mode u32   12 links u32   16 uid u32   20 gid u32   24 device u64
 * </pre>
 *
 * <p>A process that is killed while it adds a record leaves a length of 0, which is the end, or a
 * last record that its directory does not lead to yet; one that is killed while it updates one
 * leaves some fields new and some old, never of another version, since what makes the version does
 * not change.
 *
 * <p>Thread-safe. {@link #appendLock} guards the end, the shapes and the chains of entries, which
 * only grow and are read without it; one of a few locks, chosen by id, the attributes of a record.
 * They are leaves; the second may be held when the first is taken.
 */
public final class NodeTable implements AutoCloseable {
  private static final int UNIT = 8;
  private static final int NAME_LENGTH = 2;
  private static final int FLAGS = 4;
  private static final int ETAG_LENGTH = 5;
  private static final int SEEN = 6;
  private static final int BLOCKS_HIGH = 7;
  private static final int PARENT = 8;
  private static final int NEXT = 12;
  private static final int SHAPE = 16;
  private static final int BLOCKS = 20;
  private static final int INODE = 24;
  private static final int SIZE = 32;
  private static final int MODIFIED = 40;
  private static final int CHANGED = 48;
  private static final int ACCESSED = 56;
  private static final int NAME = 64;

  /** Behind a directory's name, counted from the record's end. */
  private static final int ENTRIES = 32;

  private static final int FIRST = -32;
  private static final int LAST = -28;
  private static final int LISTED = -24;
  private static final int LISTED_CHANGED = -16;
  private static final int PASSES = -8;
  private static final int MOST_PASSES = 255;

  private static final int STALE = 1;
  private static final int DIRECTORY = 2;
  private static final int IS_SHAPE = 4;

  private static final int SHAPE_BYTES = 32;
  private static final int MODE = 8;
  private static final int LINKS = 12;
  private static final int UID = 16;
  private static final int GID = 20;
  private static final int DEVICE = 24;

  private static final long MOST_BLOCKS = (1L << 40) - 1;
  private static final int LOCKS = 64;

  private final GrowingMemory memory;
  private final long base;
  private final Object[] locks = new Object[LOCKS];
  private final Object appendLock = new Object();
  private final Map<Shape, Integer> shapes = new HashMap<>();
  private final LongAdder changes = new LongAdder();
  private final LongAdder listings = new LongAdder();
  private volatile long end = UNIT;

  private record Shape(int mode, int links, int uid, int gid, long device) {
    static Shape of(Attributes attributes) {
      return new Shape(
          attributes.mode(),
          attributes.links(),
          attributes.uid(),
          attributes.gid(),
          attributes.device());
    }
  }

  /** Uses memory, which is closed with this, and finds what is in it already. */
  public NodeTable(GrowingMemory memory) {
    this.memory = memory;
    base = memory.address();
    Arrays.setAll(locks, i -> new Object());
    long last = 0;
    long at = UNIT;
    for (; length(at) != 0; at += length(at)) {
      if (isShape(at / UNIT)) {
        shapes.put(shape(base + at), (int) (at / UNIT));
      } else {
        last = at / UNIT;
      }
    }
    end = at;
    if (last != 0 && parent(last) != 0) {
      link(parent(last), last);
    }
  }

  private int length(long offset) {
    return Memory.getShort(base + offset) * UNIT;
  }

  /**
   * Adds a node.
   *
   * @param parent a directory, or 0 for the root
   * @return its id
   * @throws FsException NO_MEMORY where there is no room
   */
  long add(long parent, byte[] name, Attributes attributes) throws FsException {
    byte[] etag = Etags.pack(attributes.etag());
    int length =
        roundUp(NAME + name.length + etag.length) + (attributes.isDirectory() ? ENTRIES : 0);
    synchronized (appendLock) {
      long offset = end;
      // the root comes first, and its shape behind it
      boolean root = offset == UNIT;
      int shape =
          root ? appendShape(offset + length, Shape.of(attributes)) : shape(Shape.of(attributes));
      offset = root ? offset : end;
      memory.reserve(offset + length + UNIT);
      long at = base + offset;
      Memory.putShort(at + NAME_LENGTH, name.length);
      Memory.putByte(at + FLAGS, attributes.isDirectory() ? DIRECTORY : 0);
      Memory.putByte(at + ETAG_LENGTH, etag.length);
      Memory.putByte(at + SEEN, 0);
      Memory.putInt(at + PARENT, (int) parent);
      Memory.putInt(at + NEXT, 0);
      Memory.put(at + NAME, name, 0, name.length);
      Memory.put(at + NAME + name.length, etag, 0, etag.length);
      put(at, attributes, shape);
      if (attributes.isDirectory()) {
        Memory.clear(at + length - ENTRIES, ENTRIES);
      }
      VarHandle.releaseFence();
      Memory.putShort(at, length / UNIT);
      end = offset + length + (root ? SHAPE_BYTES : 0);
      long id = offset / UNIT;
      if (parent != 0) {
        link(parent, id);
      }
      changes.increment();
      return id;
    }
  }

  private static int roundUp(int bytes) {
    return (bytes + UNIT - 1) / UNIT * UNIT;
  }

  /** Puts the newest node at the end of its directory's entries, unless it is there already. */
  private void link(long parent, long id) {
    long directory = endOf(parent);
    long last = Integer.toUnsignedLong(Memory.getInt(directory + LAST));
    if (last == id) {
      return;
    }
    VarHandle.releaseFence();
    Memory.putInt(last == 0 ? directory + FIRST : at(last) + NEXT, (int) id);
    VarHandle.releaseFence();
    Memory.putInt(directory + LAST, (int) id);
  }

  private long endOf(long directory) {
    if ((Memory.getByte(at(directory) + FLAGS) & DIRECTORY) == 0) {
      throw new IllegalArgumentException("node " + directory + " is no directory");
    }
    return at(directory) + length(directory * UNIT);
  }

  private int shape(Shape shape) throws FsException {
    synchronized (appendLock) {
      Integer known = shapes.get(shape);
      if (known != null) {
        return known;
      }
      int id = appendShape(end, shape);
      end += SHAPE_BYTES;
      return id;
    }
  }

  private int appendShape(long offset, Shape shape) throws FsException {
    memory.reserve(offset + SHAPE_BYTES + UNIT);
    long at = base + offset;
    Memory.putByte(at + FLAGS, IS_SHAPE);
    Memory.putInt(at + MODE, shape.mode);
    Memory.putInt(at + LINKS, shape.links);
    Memory.putInt(at + UID, shape.uid);
    Memory.putInt(at + GID, shape.gid);
    Memory.putLong(at + DEVICE, shape.device);
    VarHandle.releaseFence();
    Memory.putShort(at, SHAPE_BYTES / UNIT);
    shapes.put(shape, (int) (offset / UNIT));
    return (int) (offset / UNIT);
  }

  private static Shape shape(long at) {
    return new Shape(
        Memory.getInt(at + MODE),
        Memory.getInt(at + LINKS),
        Memory.getInt(at + UID),
        Memory.getInt(at + GID),
        Memory.getLong(at + DEVICE));
  }

  private boolean isShape(long id) {
    return (Memory.getByte(at(id) + FLAGS) & IS_SHAPE) != 0;
  }

  private long at(long id) {
    return base + id * UNIT;
  }

  /** Tells whether there may be a node of that id. */
  boolean contains(long id) {
    return id > 0 && id < end();
  }

  /** Returns a number above the ids of all nodes, and not above those of nodes yet to come. */
  long end() {
    return end / UNIT;
  }

  boolean isEmpty() {
    return end == UNIT;
  }

  /** Calls for each node, stale or not, in the order in which they were added. */
  void forEach(LongConsumer taker) {
    long until = end;
    for (long offset = UNIT; offset < until; offset += length(offset)) {
      if (!isShape(offset / UNIT)) {
        taker.accept(offset / UNIT);
      }
    }
  }

  /**
   * Calls for the entries of a directory, stale or not, in the order in which they were added, for
   * as long as they are wanted.
   *
   * @param after an entry to go on behind, or 0 to begin; what is none ends the call
   */
  void forEachEntry(long directory, long after, LongPredicate taker) {
    long before = after;
    long id = after == 0 ? link(endOf(directory) + FIRST) : behind(directory, after);
    // whatever a caller says, only entries of the directory, and to an end
    while (id > before && contains(id) && parent(id) == directory && taker.test(id)) {
      before = id;
      id = link(at(id) + NEXT);
    }
  }

  private long behind(long directory, long entry) {
    return contains(entry) && parent(entry) == directory ? link(at(entry) + NEXT) : 0;
  }

  private static long link(long at) {
    long id = Integer.toUnsignedLong(Memory.getInt(at));
    VarHandle.acquireFence();
    return id;
  }

  /** Returns when a directory was last known whole, as it was told, or 0. */
  long listed(long directory) {
    return Memory.getLong(endOf(directory) + LISTED);
  }

  /** Returns when the directory itself had changed last, as of then, or 0 where it may not tell. */
  long listedChanged(long directory) {
    return Memory.getLong(endOf(directory) + LISTED_CHANGED);
  }

  /**
   * Takes note that all entries of a directory are known as they were at a time; 0 for not.
   *
   * @param changed when the directory itself had changed last, or 0
   */
  void setListed(long directory, long time, long changed) {
    Memory.putLong(endOf(directory) + LISTED_CHANGED, changed);
    Memory.putLong(endOf(directory) + LISTED, time);
    listings.increment();
  }

  /** Returns the number of a pass over a directory that begins now. */
  int beginPass(long directory) {
    long at = endOf(directory) + PASSES;
    synchronized (appendLock) {
      int number = Memory.getByte(at) % MOST_PASSES + 1;
      Memory.putByte(at, number);
      return number;
    }
  }

  /** Tells whether an entry was found by a pass over its directory, or by one that began later. */
  boolean isSeen(long id, int pass) {
    int seen = Memory.getByte(at(id) + SEEN);
    return seen != 0 && Math.floorMod(seen - pass, MOST_PASSES) <= MOST_PASSES / 2;
  }

  /** Takes note that a pass has found an entry. */
  void see(long id, int pass) {
    if (!isSeen(id, pass)) {
      Memory.putByte(at(id) + SEEN, pass);
    }
  }

  /** Takes note that no pass has found an entry. */
  void unsee(long id) {
    Memory.putByte(at(id) + SEEN, 0);
  }

  /** Returns the id of the directory, or 0 for the root. */
  long parent(long id) {
    return Integer.toUnsignedLong(Memory.getInt(at(id) + PARENT));
  }

  byte[] name(long id) {
    return Memory.bytes(at(id) + NAME, nameLength(id));
  }

  int nameLength(long id) {
    return Memory.getShort(at(id) + NAME_LENGTH);
  }

  /** Returns {@link Arrays#hashCode(byte[])} of the name, without a copy of it. */
  int nameHash(long id) {
    return Memory.hash(at(id) + NAME, nameLength(id));
  }

  /** Writes the name into an array. */
  void copyName(long id, byte[] to, int offset) {
    Memory.get(at(id) + NAME, to, offset, nameLength(id));
  }

  boolean isNamed(long id, long parent, byte[] name) {
    return parent(id) == parent
        && nameLength(id) == name.length
        && Memory.equal(at(id) + NAME, name);
  }

  boolean isStale(long id) {
    VarHandle.acquireFence();
    return (Memory.getByte(at(id) + FLAGS) & STALE) != 0;
  }

  void markStale(long id) {
    Memory.putByte(at(id) + FLAGS, Memory.getByte(at(id) + FLAGS) | STALE);
    VarHandle.fullFence();
    changes.increment();
  }

  Attributes attributes(long id) {
    long at = at(id);
    synchronized (lockOf(id)) {
      long shape = at(Integer.toUnsignedLong(Memory.getInt(at + SHAPE)));
      return new Attributes(
          Memory.getInt(shape + MODE),
          Memory.getInt(shape + LINKS),
          Memory.getInt(shape + UID),
          Memory.getInt(shape + GID),
          Memory.getLong(shape + DEVICE),
          Memory.getLong(at + INODE),
          Memory.getLong(at + SIZE),
          Integer.toUnsignedLong(Memory.getInt(at + BLOCKS))
              | (long) Memory.getByte(at + BLOCKS_HIGH) << Integer.SIZE,
          Memory.getLong(at + ACCESSED),
          Memory.getLong(at + MODIFIED),
          Memory.getLong(at + CHANGED),
          Etags.unpack(at + NAME + nameLength(id), Memory.getByte(at + ETAG_LENGTH)));
    }
  }

  /** Returns the type, which never changes, as in {@link Attributes#type()}. */
  int type(long id) {
    long shape = at(Integer.toUnsignedLong(Memory.getInt(at(id) + SHAPE)));
    return Memory.getInt(shape + MODE) & Attributes.TYPE_MASK;
  }

  long inode(long id) {
    return Memory.getLong(at(id) + INODE);
  }

  /** Gives a node other attributes; its version stays the same, and so its type and etag. */
  void update(long id, Attributes fresh) throws FsException {
    synchronized (lockOf(id)) {
      if (Memory.getLong(at(id) + CHANGED) != fresh.changed()) {
        changes.increment();
      }
      put(at(id), fresh, shape(Shape.of(fresh)));
    }
  }

  private Object lockOf(long id) {
    return locks[(int) (id % LOCKS)];
  }

  private static void put(long at, Attributes attributes, int shape) {
    long blocks = Math.min(attributes.blocks(), MOST_BLOCKS);
    Memory.putInt(at + SHAPE, shape);
    Memory.putInt(at + BLOCKS, (int) blocks);
    Memory.putByte(at + BLOCKS_HIGH, (int) (blocks >>> Integer.SIZE));
    Memory.putLong(at + INODE, attributes.inode());
    Memory.putLong(at + SIZE, attributes.size());
    Memory.putLong(at + ACCESSED, attributes.accessed());
    Memory.putLong(at + MODIFIED, attributes.modified());
    Memory.putLong(at + CHANGED, attributes.changed());
  }

  /**
   * Returns a number that grows with each change: a node more or less, or other attributes; not
   * when something was only read.
   */
  long changes() {
    return changes.sum();
  }

  /** Returns a number that grows whenever something is told of what is known whole. */
  long listings() {
    return listings.sum();
  }

  /** Returns the bytes that the nodes take. */
  long bytes() {
    return end;
  }

  @Override
  public void close() {
    memory.close();
  }
}
