package io.holdfast.fs.tree;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.Attributes;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;

/**
 * The nodes of a tree, in native memory that may outlive the process. A node's id is its place, so
 * that it stays the same for whoever opens the memory again, and is never used for another.
 *
 * <p>Records follow each other, the first of them at byte 8:
 *
 * <pre>
 *   0 length u32, a multiple of 8 and written last   24 size u64       64 changed i64   84 gid u32
 *   4 name length u16                                32 blocks u64     72 mode u32      88 name
 *   6 stale u8, etag length u8                       40 device u64     76 links u32
 *   8 parent's id u64, 0 for the root                48 accessed i64   80 uid u32
 *  16 inode u64                                      56 modified i64   behind it the etag
 * </pre>
 *
 * <p>A process that is killed while it adds a record leaves a length of 0, which is the end; one
 * that is killed while it updates one leaves some fields new and some old, never of another
 * version, since what makes the version does not change.
 *
 * <p>Thread-safe. {@link #appendLock} guards the end; one of a few locks, chosen by id, the
 * attributes of a record. They are leaves.
 */
public final class NodeTable implements AutoCloseable {
  private static final int FIRST = 8;
  private static final int NAME_LENGTH = 4;
  private static final int STALE = 6;
  private static final int ETAG_LENGTH = 7;
  private static final int PARENT = 8;
  private static final int INODE = 16;
  private static final int SIZE = 24;
  private static final int BLOCKS = 32;
  private static final int DEVICE = 40;
  private static final int ACCESSED = 48;
  private static final int MODIFIED = 56;
  private static final int CHANGED = 64;
  private static final int MODE = 72;
  private static final int LINKS = 76;
  private static final int UID = 80;
  private static final int GID = 84;
  private static final int NAME = 88;
  private static final int LONGEST_ETAG = 255;
  private static final int LOCKS = 64;

  private final GrowingMemory memory;
  private final long base;
  private final Object[] locks = new Object[LOCKS];
  private final Object appendLock = new Object();
  private final LongAdder changes = new LongAdder();
  private volatile long end;

  /** Uses memory, which is closed with this, and finds what is in it already. */
  public NodeTable(GrowingMemory memory) {
    this.memory = memory;
    base = memory.address();
    Arrays.setAll(locks, i -> new Object());
    long at = FIRST;
    while (Memory.getInt(base + at) != 0) {
      at += Memory.getInt(base + at);
    }
    end = at;
  }

  /**
   * Adds a node.
   *
   * @return its id
   * @throws FsException NO_MEMORY where there is no room
   */
  long add(long parent, byte[] name, Attributes attributes) throws FsException {
    byte[] etag = etag(attributes);
    int length = NAME + name.length + etag.length + 7 & ~7;
    synchronized (appendLock) {
      long offset = end;
      // and the zero behind it
      memory.reserve(offset + length + Integer.BYTES);
      long at = base + offset;
      Memory.putShort(at + NAME_LENGTH, name.length);
      Memory.putByte(at + STALE, 0);
      Memory.putLong(at + PARENT, parent);
      Memory.put(at + NAME, name, 0, name.length);
      Memory.putByte(at + ETAG_LENGTH, etag.length);
      Memory.put(at + NAME + name.length, etag, 0, etag.length);
      put(at, attributes);
      VarHandle.releaseFence();
      Memory.putInt(at, length);
      end = offset + length;
      changes.increment();
      return offset / FIRST;
    }
  }

  private long at(long id) {
    return base + id * FIRST;
  }

  /** Tells whether there may be a node of that id. */
  boolean contains(long id) {
    return id > 0 && id < end / FIRST;
  }

  boolean isEmpty() {
    return end == FIRST;
  }

  /** Calls for each node, stale or not, in the order in which they were added. */
  void forEach(LongConsumer taker) {
    long until = end;
    for (long offset = FIRST; offset < until; offset += Memory.getInt(base + offset)) {
      taker.accept(offset / FIRST);
    }
  }

  /** Returns the id of the directory, or 0 for the root. */
  long parent(long id) {
    return Memory.getLong(at(id) + PARENT);
  }

  byte[] name(long id) {
    return Memory.bytes(at(id) + NAME, nameLength(id));
  }

  int nameLength(long id) {
    return Memory.getShort(at(id) + NAME_LENGTH);
  }

  /** Writes the name into an array. */
  void copyName(long id, byte[] to, int offset) {
    byte[] name = name(id);
    System.arraycopy(name, 0, to, offset, name.length);
  }

  boolean isNamed(long id, long parent, byte[] name) {
    return parent(id) == parent
        && nameLength(id) == name.length
        && Memory.equal(at(id) + NAME, name);
  }

  boolean isStale(long id) {
    VarHandle.acquireFence();
    return Memory.getByte(at(id) + STALE) != 0;
  }

  void markStale(long id) {
    Memory.putByte(at(id) + STALE, 1);
    VarHandle.fullFence();
    changes.increment();
  }

  Attributes attributes(long id) {
    long at = at(id);
    synchronized (lockOf(id)) {
      return new Attributes(
          Memory.getInt(at + MODE),
          Memory.getInt(at + LINKS),
          Memory.getInt(at + UID),
          Memory.getInt(at + GID),
          Memory.getLong(at + DEVICE),
          Memory.getLong(at + INODE),
          Memory.getLong(at + SIZE),
          Memory.getLong(at + BLOCKS),
          Memory.getLong(at + ACCESSED),
          Memory.getLong(at + MODIFIED),
          Memory.getLong(at + CHANGED),
          etag(id));
    }
  }

  private static byte[] etag(Attributes attributes) throws FsException {
    byte[] etag = attributes.etag().getBytes(StandardCharsets.UTF_8);
    if (etag.length > LONGEST_ETAG) {
      throw new FsException(FsError.IO, "an etag of " + etag.length + " bytes");
    }
    return etag;
  }

  private String etag(long id) {
    int length = Memory.getByte(at(id) + ETAG_LENGTH);
    return length == 0
        ? ""
        : new String(Memory.bytes(at(id) + NAME + nameLength(id), length), StandardCharsets.UTF_8);
  }

  /** Gives a node other attributes; its version stays the same, and so its etag. */
  void update(long id, Attributes fresh) {
    synchronized (lockOf(id)) {
      if (Memory.getLong(at(id) + CHANGED) != fresh.changed()) {
        changes.increment();
      }
      put(at(id), fresh);
    }
  }

  private Object lockOf(long id) {
    return locks[(int) (id % LOCKS)];
  }

  private static void put(long at, Attributes attributes) {
    Memory.putInt(at + MODE, attributes.mode());
    Memory.putInt(at + LINKS, attributes.links());
    Memory.putInt(at + UID, attributes.uid());
    Memory.putInt(at + GID, attributes.gid());
    Memory.putLong(at + DEVICE, attributes.device());
    Memory.putLong(at + INODE, attributes.inode());
    Memory.putLong(at + SIZE, attributes.size());
    Memory.putLong(at + BLOCKS, attributes.blocks());
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

  /** Returns the bytes that the nodes take. */
  long bytes() {
    return end;
  }

  @Override
  public void close() {
    memory.close();
  }
}
