package io.holdfast.fs.tree;

import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.Attributes;
import java.lang.invoke.VarHandle;

/**
 * A node in memory, by its address:
 *
 * <pre>
 *    0 parent's id u40, 0 for the root         16 shape u32, as {@link SharedAttributes} places it
 *    5 flags u4, type u4: written last         20 blocks u32, lower part
 *    6 seen u8: last pass that it was found by 24 inode u64, see below
 *    7 blocks, higher part u7, bit 7: below    32 size u64
 *    8 name length u16                         40 modified i64
 *   10 etag length u8, as {@link Etags} packs  48 changed i64
 *   11 next u40, in its directory              56 accessed i64
 *                                              64 name, etag
 *
 *   directories, behind that: first u64: of its entries; listed i64: when it was known whole;
 *   listed changed i64: its own time then; passes u8: over it, counted 1 to 255; last u56
 * </pre>
 *
 * <p>An inode number below 2^32 has the inode's generation in its upper half, and bit 7 of byte 7
 * says so; with a larger number there is no generation.
 *
 * <p>Stateless. Whoever has the address holds the {@link Block}.
 */
final class NodeRecord {
  static final int UNIT = 8;
  static final int STALE = 1;

  /** Lookups no longer find the node. */
  static final int DEAD = 2;

  /** The directory no longer links the node. */
  static final int UNLINKED = 4;

  /** The record is complete. */
  private static final int EXISTS = 8;

  static final int MOST_PASSES = 255;

  private static final int FLAGS = 5;
  private static final int SEEN = 6;
  private static final int BLOCKS_HIGH = 7;
  private static final int NAME_LENGTH = 8;
  private static final int ETAG_LENGTH = 10;
  private static final int SHAPE = 16;
  private static final int BLOCKS = 20;
  private static final int INODE = 24;
  private static final int SIZE = 32;
  private static final int MODIFIED = 40;
  private static final int CHANGED = 48;
  private static final int ACCESSED = 56;
  private static final int NAME = 64;

  /** Size of the fields behind a directory's name and etag. */
  private static final int ENTRIES = 32;

  private static final int FIRST = 0;
  private static final int LISTED = 8;
  private static final int LISTED_CHANGED = 16;
  private static final int PASSES = 24;

  private static final long ID = (1L << 40) - 1;
  private static final int FLAGS_SHIFT = 40;
  private static final int BLOCKS_SHIFT = 56;
  private static final int NEXT_SHIFT = 24;
  private static final long LENGTHS = (1L << NEXT_SHIFT) - 1;
  private static final int ETAG_SHIFT = 16;
  private static final int LAST_SHIFT = 8;

  /** The type takes the upper four bits of the byte of flags. */
  private static final int TYPE_SHIFT = 8;

  private static final int TYPE = 0xf0;
  private static final long MOST_BLOCKS = (1L << 39) - 1;
  private static final int HAS_GENERATION = 0x80;

  private NodeRecord() {}

  /** Returns the bytes of a record. */
  static int length(int name, int etag, boolean directory) {
    return (NAME + name + etag + UNIT - 1) / UNIT * UNIT + (directory ? ENTRIES : 0);
  }

  /** Writes a node's name and etag into unused memory. */
  static void begin(long at, byte[] name, byte[] etag) {
    Memory.putLong(at + NAME_LENGTH, name.length | (long) etag.length << ETAG_SHIFT);
    Memory.put(at + NAME, name, 0, name.length);
    Memory.put(at + NAME + name.length, etag, 0, etag.length);
  }

  /** Writes the other fields. Readers see the record from then on. */
  static void complete(long at, long parent, Attributes attributes, int shape) {
    putFields(at, attributes, shape);
    if (attributes.isDirectory()) {
      int length = length(nameLength(at), Memory.getByte(at + ETAG_LENGTH), true);
      Memory.clear(at + length - ENTRIES, ENTRIES);
    }
    VarHandle.releaseFence();
    long flags = EXISTS | attributes.type() >>> TYPE_SHIFT;
    Memory.putLong(
        at, parent | flags << FLAGS_SHIFT | (long) blocksHigh(attributes) << BLOCKS_SHIFT);
  }

  /** Replaces a node's attributes by others of the same version. */
  static void update(long at, Attributes attributes, int shape) {
    putFields(at, attributes, shape);
    Memory.putByte(at + BLOCKS_HIGH, blocksHigh(attributes));
  }

  private static void putFields(long at, Attributes attributes, int shape) {
    Memory.putInt(at + SHAPE, shape);
    Memory.putInt(at + BLOCKS, (int) Math.min(attributes.blocks(), MOST_BLOCKS));
    Memory.putLong(
        at + INODE,
        attributes.generation() == 0
            ? attributes.inode()
            : (long) attributes.generation() << Integer.SIZE | attributes.inode());
    Memory.putLong(at + SIZE, attributes.size());
    Memory.putLong(at + ACCESSED, attributes.accessed());
    Memory.putLong(at + MODIFIED, attributes.modified());
    Memory.putLong(at + CHANGED, attributes.changed());
  }

  private static int blocksHigh(Attributes attributes) {
    int high = (int) (Math.min(attributes.blocks(), MOST_BLOCKS) >>> Integer.SIZE);
    return high | (attributes.generation() == 0 ? 0 : HAS_GENERATION);
  }

  /** Returns the attributes of a node; its shape is at the given address. */
  static Attributes attributes(long at, long shape) {
    return new Attributes(
        Memory.getInt(shape + SharedAttributes.MODE),
        Memory.getInt(shape + SharedAttributes.LINKS),
        Memory.getInt(shape + SharedAttributes.UID),
        Memory.getInt(shape + SharedAttributes.GID),
        Memory.getLong(shape + SharedAttributes.DEVICE),
        inode(at),
        Memory.getLong(at + SIZE),
        Integer.toUnsignedLong(Memory.getInt(at + BLOCKS))
            | (long) (Memory.getByte(at + BLOCKS_HIGH) & ~HAS_GENERATION) << Integer.SIZE,
        Memory.getLong(at + ACCESSED),
        Memory.getLong(at + MODIFIED),
        changed(at),
        Etags.unpack(at + NAME + nameLength(at), Memory.getByte(at + ETAG_LENGTH)),
        hasGeneration(at) ? (int) (Memory.getLong(at + INODE) >>> Integer.SIZE) : 0,
        Memory.getShort(shape + SharedAttributes.ACL));
  }

  /** Tells whether there is a record. */
  static boolean exists(long at) {
    return (Memory.getByte(at + FLAGS) & EXISTS) != 0;
  }

  /** Returns the bytes of the record. */
  static int length(long at) {
    return length(nameLength(at), Memory.getByte(at + ETAG_LENGTH), isDirectory(at));
  }

  static long parent(long at) {
    return Memory.getLong(at) & ID;
  }

  static boolean has(long at, int flag) {
    VarHandle.acquireFence();
    return (Memory.getByte(at + FLAGS) & flag) != 0;
  }

  static void set(long at, int flag) {
    Memory.putByte(at + FLAGS, Memory.getByte(at + FLAGS) | flag);
    VarHandle.fullFence();
  }

  static int type(long at) {
    return (Memory.getByte(at + FLAGS) & TYPE) << TYPE_SHIFT;
  }

  static boolean isDirectory(long at) {
    return type(at) == Attributes.DIRECTORY;
  }

  static int seen(long at) {
    return Memory.getByte(at + SEEN);
  }

  static void setSeen(long at, int pass) {
    Memory.putByte(at + SEEN, pass);
  }

  static int nameLength(long at) {
    return Memory.getShort(at + NAME_LENGTH);
  }

  /** Returns the address of the name. */
  static long name(long at) {
    return at + NAME;
  }

  static int shape(long at) {
    return Memory.getInt(at + SHAPE);
  }

  static long changed(long at) {
    return Memory.getLong(at + CHANGED);
  }

  static long inode(long at) {
    long stored = Memory.getLong(at + INODE);
    return hasGeneration(at) ? stored & Attributes.MOST_INODE_WITH_GENERATION : stored;
  }

  private static boolean hasGeneration(long at) {
    return (Memory.getByte(at + BLOCKS_HIGH) & HAS_GENERATION) != 0;
  }

  /** Returns the id of the next entry in the same directory, or 0. */
  static long next(long at) {
    long id = Memory.getLong(at + NAME_LENGTH) >>> NEXT_SHIFT;
    VarHandle.acquireFence();
    return id;
  }

  static void setNext(long at, long id) {
    long lengths = Memory.getLong(at + NAME_LENGTH) & LENGTHS;
    VarHandle.releaseFence();
    Memory.putLong(at + NAME_LENGTH, lengths | id << NEXT_SHIFT);
  }

  private static long entries(long directory) {
    if (!isDirectory(directory)) {
      throw new IllegalArgumentException("no directory");
    }
    return directory + length(directory) - ENTRIES;
  }

  /** Returns the id of a directory's first entry, or 0. */
  static long first(long directory) {
    long id = Memory.getLong(entries(directory) + FIRST);
    VarHandle.acquireFence();
    return id;
  }

  static void setFirst(long directory, long id) {
    VarHandle.releaseFence();
    Memory.putLong(entries(directory) + FIRST, id);
  }

  static long last(long directory) {
    return Memory.getLong(entries(directory) + PASSES) >>> LAST_SHIFT;
  }

  static void setLast(long directory, long id) {
    VarHandle.releaseFence();
    Memory.putLong(entries(directory) + PASSES, id << LAST_SHIFT | passes(directory));
  }

  static int passes(long directory) {
    return Memory.getByte(entries(directory) + PASSES);
  }

  static void setPasses(long directory, int number) {
    Memory.putByte(entries(directory) + PASSES, number);
  }

  static long listed(long directory) {
    return Memory.getLong(entries(directory) + LISTED);
  }

  static long listedChanged(long directory) {
    return Memory.getLong(entries(directory) + LISTED_CHANGED);
  }

  static void setListed(long directory, long time, long changed) {
    long at = entries(directory);
    Memory.putLong(at + LISTED_CHANGED, changed);
    Memory.putLong(at + LISTED, time);
  }
}
