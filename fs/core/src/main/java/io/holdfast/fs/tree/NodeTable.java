package io.holdfast.fs.tree;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.Attributes;
import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import java.util.function.LongPredicate;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of a tree, in native memory that may outlive the process. A node's id is the number of
 * its {@link Block} times 512, plus its offset in the block in units of 8 bytes. The id stays the
 * same for a process that opens the memory again, and is never used for another node. Ids grow with
 * time, also among the entries of a directory from the first to the last. {@link NodeRecord}
 * describes the records.
 *
 * <p>A {@linkplain #discard discarded} node can be read for as long as a {@link Node} holds it.
 * When all nodes of a block were discarded, {@link #clean} has unlinked them from their
 * directories, and nobody holds any of them, the block's memory is reused.
 *
 * <p>Crash safety: a process that is killed while it adds a record leaves no record, or a last
 * record that its directory does not link yet. A process that is killed during an update leaves a
 * record with some old and some new fields, all of the same version, since the fields that identify
 * the version never change. A process that is killed while it unlinks records leaves a directory
 * that still links all others.
 *
 * <p>Thread-safe. {@link #appendLock} guards the end of the table, the chains of entries (which are
 * read without the lock) and the blocks' counts. One of a few locks, chosen by id, guards the
 * attributes, the flags and the times of the listing of a record. Lock order: {@link #cleanLock},
 * which a thread that unlinks holds; then a record's lock; then the append lock; then the monitors
 * of {@link SharedAttributes} and {@link Blocks}.
 */
public final class NodeTable implements AutoCloseable {
  /** A node's id has so many bits for the place in its block. */
  private static final int UNIT_BITS = 9;

  private static final int UNITS = 1 << UNIT_BITS;

  /** A power of two. */
  private static final int LOCKS = 64;

  /** In place of an id: the entry is no longer linked. */
  private static final long GONE = -1;

  private final Blocks blocks;
  private final SharedAttributes shapes;
  private final Object[] locks = new Object[LOCKS];
  private final Object appendLock = new Object();
  private final Object cleanLock = new Object();
  private final LongAdder changes = new LongAdder();
  private final LongAdder listings = new LongAdder();

  /**
   * Directories with entries that were discarded since the last cleaning; guarded by the append
   * lock.
   */
  private Set<Long> unclean = new HashSet<>();

  /**
   * Blocks with nodes that an earlier process has parted from their names, until somebody takes the
   * nodes. The blocks themselves, so that their memory is not reused before.
   */
  private Set<Block> parted = new HashSet<>();

  /** The block that new records go to, and its filled bytes; guarded by the append lock. */
  private @Nullable Block current;

  private int filled;
  private volatile long end = 1;

  /**
   * Opens memory and finds the nodes in it. {@link #close} closes the memory.
   *
   * @throws FsException where another version wrote the memory
   */
  public NodeTable(GrowingMemory memory) throws FsException {
    Arrays.setAll(locks, i -> new Object());
    blocks = new Blocks(memory);
    shapes = new SharedAttributes(blocks);
    blocks.forEach(this::open);
    shapes.findFree();
    Block newest = current;
    if (newest != null) {
      linkNewest(newest);
      cleanAll();
    }
  }

  /**
   * Restores a block's counts. Directories precede their entries, so an entry of a stale directory
   * is found to be stale as well.
   */
  private void open(Block block) {
    current = block;
    forEach(
        block,
        (id, at) -> {
          long parent = NodeRecord.parent(at);
          Block directory = block(parent);
          boolean gone =
              directory == null || NodeRecord.has(at(directory, parent), NodeRecord.STALE);
          if (parent != 0 && gone) {
            NodeRecord.set(at, NodeRecord.STALE);
          }
          if (directory != null) {
            block.hold(directory);
          }
          if (NodeRecord.has(at, NodeRecord.STALE)) {
            if (!gone) {
              parted.add(block);
            }
            NodeRecord.set(at, NodeRecord.DEAD);
            unclean.add(parent);
          }
          block.records++;
          shapes.found(NodeRecord.shape(at));
          filled = (int) (at - block.address) + NodeRecord.length(at);
          end = id + NodeRecord.length(at) / NodeRecord.UNIT;
        });
    if (block.records == 0) {
      filled = Blocks.HEADER;
      end = idOf(block, block.address + filled);
    }
  }

  private void linkNewest(Block block) {
    long[] newest = new long[2];
    forEach(
        block,
        (id, at) -> {
          newest[0] = id;
          newest[1] = at;
        });
    Block directory = newest[0] == 0 ? null : block(NodeRecord.parent(newest[1]));
    if (directory != null && !NodeRecord.has(newest[1], NodeRecord.DEAD)) {
      link(directory, NodeRecord.parent(newest[1]), newest[0]);
    }
  }

  /**
   * Passes the nodes that an earlier process has parted from their names, in directories that are
   * still there; none when called again. Called by one thread.
   */
  void takeParted(Consumer<Node> taker) {
    Set<Block> taken = parted;
    parted = Set.of();
    for (Block block : taken) {
      forEach(
          block,
          (id, at) -> {
            if (NodeRecord.has(at, NodeRecord.STALE) && !isStale(NodeRecord.parent(at))) {
              taker.accept(new Node(this, id, block));
            }
          });
    }
  }

  /** Also counts the records that an earlier process had already unlinked. */
  private void cleanAll() {
    clean();
    blocks.forEach(
        block -> {
          block.freed = 0;
          forEach(block, (id, at) -> block.freed += NodeRecord.has(at, NodeRecord.DEAD) ? 1 : 0);
          retireIfFreed(block);
        });
  }

  /** Takes the records of a block. */
  private interface RecordTaker {
    void take(long id, long at);
  }

  private static void forEach(Block block, RecordTaker taker) {
    long end = block.address + Blocks.SIZE;
    long at = block.address + Blocks.HEADER;
    try {
      while (at + NodeRecord.length(0, 0, false) <= end && NodeRecord.exists(at)) {
        int length = NodeRecord.length(at);
        taker.take(idOf(block, at), at);
        at += length;
      }
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  private static long idOf(Block block, long at) {
    return block.number * UNITS + (at - block.address) / NodeRecord.UNIT;
  }

  /** Returns the address of a record, which is valid while the block is reachable. */
  static long at(Block block, long id) {
    return block.address + (id & UNITS - 1) * NodeRecord.UNIT;
  }

  /** Returns a node, stale or not, or null where its record is gone. */
  @Nullable Node node(long id) {
    Block block = block(id);
    return block == null ? null : new Node(this, id, block);
  }

  /** Returns the node with an id that may be any number, or null where there is none. */
  @Nullable Node nodeIfThere(long id) {
    Block block = id < end ? block(id) : null;
    return block != null && NodeRecord.exists(at(block, id)) ? new Node(this, id, block) : null;
  }

  private @Nullable Block block(long id) {
    return id <= 0 ? null : blocks.find(id >>> UNIT_BITS);
  }

  /** Returns the block of a node that the caller, or the block of one of its entries, holds. */
  Block held(long id) {
    Block block = block(id);
    if (block == null) {
      throw new IllegalArgumentException("there is no node " + id);
    }
    return block;
  }

  /** Reads a number from a record. */
  private long number(long id, LongUnaryOperator field) {
    Block block = held(id);
    try {
      return field.applyAsLong(at(block, id));
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  /** Reads or writes a record if it still exists: the caller does not hold the node. */
  private long numberIfThere(long id, long otherwise, LongUnaryOperator field) {
    Block block = block(id);
    try {
      return block == null ? otherwise : field.applyAsLong(at(block, id));
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  private <T> T read(long id, LongFunction<T> field) {
    Block block = held(id);
    try {
      return field.apply(at(block, id));
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  /**
   * Adds a node.
   *
   * @param parent a directory, which the caller holds, or 0 for the root
   * @return its id
   * @throws FsException NO_MEMORY where there is no room
   */
  long add(long parent, byte[] name, Attributes attributes) throws FsException {
    byte[] etag = Etags.pack(attributes.etag());
    int length = NodeRecord.length(name.length, etag.length, attributes.isDirectory());
    if (length > Blocks.SIZE - Blocks.HEADER) {
      throw new FsException(FsError.IO, "a name of " + name.length + " bytes");
    }
    Block directory = parent == 0 ? null : held(parent);
    synchronized (appendLock) {
      Block block = blockFor(length);
      long at = block.address + filled;
      int shape = shapes.take(attributes);
      if (directory != null) {
        block.hold(directory);
      }
      NodeRecord.begin(at, name, etag);
      NodeRecord.complete(at, parent, attributes, shape);
      block.records++;
      filled += length;
      long id = idOf(block, at);
      end = id + length / NodeRecord.UNIT;
      if (directory != null) {
        link(directory, parent, id);
      }
      changes.increment();
      return id;
    }
  }

  private Block blockFor(int length) throws FsException {
    Block block = current;
    if (block != null && filled + length <= Blocks.SIZE) {
      return block;
    }
    blocks.collect(this::releaseShapes);
    Block next = blocks.take();
    current = next;
    filled = Blocks.HEADER;
    if (block != null) {
      retireIfFreed(block);
    }
    return next;
  }

  /** Releases the shapes of a page whose records nobody reads any more. */
  private void releaseShapes(long page) {
    forEach(new Block(0, 0, page), (id, at) -> shapes.release(NodeRecord.shape(at)));
  }

  private void retireIfFreed(Block block) {
    if (block.isFreed() && block != current) {
      blocks.retire(block);
    }
  }

  /** Appends the newest node to its directory's entries, unless it is already the last one. */
  private void link(Block parent, long parentId, long id) {
    long directory = at(parent, parentId);
    long last = NodeRecord.last(directory);
    if (last == id) {
      return;
    }
    if (last == 0) {
      NodeRecord.setFirst(directory, id);
    } else {
      NodeRecord.setNext(at(held(last), last), id);
    }
    NodeRecord.setLast(directory, id);
  }

  /** Tells whether a node has had an access control list that the kernel can evaluate. */
  boolean hasAcls() {
    return shapes.hasAcls();
  }

  /** Tells whether a node with this id may exist. */
  boolean contains(long id) {
    return id < end && numberIfThere(id, 0, at -> NodeRecord.exists(at) ? 1 : 0) != 0;
  }

  /** Returns a number above the ids of all nodes; later nodes get this id or a higher one. */
  long end() {
    return end;
  }

  boolean isEmpty() {
    return end == 1;
  }

  /** Passes every node, stale or not, in the order in which the nodes were added. */
  void forEach(LongConsumer taker) {
    long until = end;
    blocks.forEach(
        block ->
            forEach(
                block,
                (id, at) -> {
                  if (id < until) {
                    taker.accept(id);
                  }
                }));
  }

  /**
   * Passes the entries of a directory, stale or not, in the order in which they were added, until
   * the taker returns false. A stale directory may lack some entries.
   *
   * @param after the id of the entry to continue behind, which may be gone; 0 to begin
   */
  void forEachEntry(long directory, long after, LongPredicate taker) {
    Block held = block(directory);
    if (held == null || after < 0) {
      return;
    }
    long at = at(held, directory);
    try {
      long id = after == 0 ? NodeRecord.first(at) : behind(at, isEntry(directory, after), after);
      while (id != 0) {
        Block block = block(id);
        id = block == null ? firstBehind(at, id - 1) : passed(at, block, id, taker);
      }
    } finally {
      Reference.reachabilityFence(held);
    }
  }

  /** Passes an entry and returns the next one, or 0 at the end. */
  private long passed(long directory, Block block, long entry, LongPredicate taker) {
    try {
      return taker.test(entry) ? behind(directory, block, entry) : 0;
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  /**
   * Returns the block of an entry, or null where the given id, which may be any number, is no entry
   * of the directory.
   */
  private @Nullable Block isEntry(long directory, long place) {
    Block block = place < end ? block(place) : null;
    boolean[] is = new boolean[1];
    if (block != null) {
      forEach(block, (id, at) -> is[0] |= id == place && NodeRecord.parent(at) == directory);
    }
    return is[0] ? block : null;
  }

  /**
   * Returns the entry behind another one. If the directory no longer links the other one, returns
   * the first entry with a higher id.
   */
  private long behind(long directory, @Nullable Block block, long entry) {
    long next = block == null ? GONE : linkedBehind(block, entry);
    return next == GONE ? firstBehind(directory, entry) : next;
  }

  /** Returns the next entry, or {@link #GONE} where the directory no longer links this one. */
  private static long linkedBehind(Block block, long entry) {
    try {
      long at = at(block, entry);
      long next = NodeRecord.next(at);
      return NodeRecord.has(at, NodeRecord.UNLINKED) ? GONE : next;
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  /**
   * Returns the first entry with a higher id than a place, or 0. Starts over when the current entry
   * has just been unlinked.
   */
  private long firstBehind(long directory, long place) {
    long id = NodeRecord.first(directory);
    while (id != 0 && id <= place) {
      Block block = block(id);
      long next = block == null ? GONE : linkedBehind(block, id);
      if (next == GONE) {
        Thread.onSpinWait();
      }
      id = next == GONE ? NodeRecord.first(directory) : next;
    }
    return id;
  }

  /**
   * Records that lookups no longer find a node. The node is stale: its name leads elsewhere.
   *
   * @param id a node that the caller holds
   */
  void discard(long id) {
    Block block = held(id);
    synchronized (lockOf(id)) {
      NodeRecord.set(at(block, id), NodeRecord.DEAD);
      synchronized (appendLock) {
        unclean.add(NodeRecord.parent(at(block, id)));
      }
    }
  }

  /** Unlinks discarded nodes from their directories, and frees their memory. */
  void clean() {
    synchronized (cleanLock) {
      Set<Long> directories;
      synchronized (appendLock) {
        directories = unclean;
        unclean = new HashSet<>();
      }
      for (long directory : directories) {
        Block block = block(directory);
        if (block != null) {
          clean(block, directory);
        }
      }
    }
    synchronized (appendLock) {
      blocks.collect(this::releaseShapes);
    }
    blocks.askCollector();
  }

  private void clean(Block parent, long directory) {
    long at = at(parent, directory);
    try {
      long before = 0;
      long id = NodeRecord.first(at);
      while (id != 0) {
        // a linked record's block is never retired
        Block block = held(id);
        if (NodeRecord.has(at(block, id), NodeRecord.DEAD)) {
          id = unlink(at, before, block, id);
        } else {
          before = id;
          id = NodeRecord.next(at(block, id));
        }
      }
    } finally {
      Reference.reachabilityFence(parent);
    }
  }

  /** Unlinks an entry and returns the one behind it. */
  private long unlink(long directory, long before, Block block, long id) {
    synchronized (lockOf(id)) {
      NodeRecord.set(at(block, id), NodeRecord.UNLINKED);
    }
    synchronized (appendLock) {
      long next = NodeRecord.next(at(block, id));
      if (NodeRecord.last(directory) == id) {
        NodeRecord.setLast(directory, before);
      }
      if (before == 0) {
        NodeRecord.setFirst(directory, next);
      } else {
        NodeRecord.setNext(at(held(before), before), next);
      }
      block.freed++;
      retireIfFreed(block);
      return next;
    }
  }

  /** Returns the time that {@link #setListed} stored for a directory, or 0. */
  long listed(long directory) {
    return numberIfThere(directory, 0, NodeRecord::listed);
  }

  /**
   * Returns the directory's own change time at that listing, or 0 where it cannot tell. Has no
   * meaning for a directory that is not listed.
   */
  long listedChanged(long directory) {
    return numberIfThere(directory, 0, NodeRecord::listedChanged);
  }

  /**
   * Records since when all entries of a directory are known, or with 0 that they are not. Ignores a
   * time that is not behind that of the last {@link #forgetListed}.
   *
   * @param changed the directory's own change time, or 0
   */
  void setListed(long directory, long time, long changed) {
    changeListed(
        directory,
        at -> {
          // a directory that is not listed has the time of the last forgetting, or 0
          boolean isListed = NodeRecord.listed(at) != 0;
          long forgotten = isListed ? 0 : NodeRecord.listedChanged(at);
          if (isListed || (time != 0 && (forgotten == 0 || time - forgotten > 0))) {
            NodeRecord.setListed(at, time, changed);
          }
          return 0;
        });
  }

  /**
   * Records that some entries of a directory are not known, even if a listing that began before a
   * time has all of them.
   */
  void forgetListed(long directory, long time) {
    changeListed(
        directory,
        at -> {
          NodeRecord.setListed(at, 0, time);
          return 0;
        });
  }

  private void changeListed(long directory, LongUnaryOperator change) {
    synchronized (lockOf(directory)) {
      long unused = numberIfThere(directory, 0, change);
    }
    listings.increment();
  }

  /** Begins a pass over a directory and returns the pass's number. */
  int beginPass(long directory) {
    synchronized (appendLock) {
      return (int)
          numberIfThere(
              directory,
              1,
              at -> {
                int number = NodeRecord.passes(at) % NodeRecord.MOST_PASSES + 1;
                NodeRecord.setPasses(at, number);
                return number;
              });
    }
  }

  /** Tells whether a pass over the directory, or a later pass, has found the entry. */
  boolean isSeen(long id, int pass) {
    int seen = (int) numberIfThere(id, 0, NodeRecord::seen);
    return seen != 0
        && Math.floorMod(seen - pass, NodeRecord.MOST_PASSES) <= NodeRecord.MOST_PASSES / 2;
  }

  /** Records that a pass has found an entry. */
  void see(long id, int pass) {
    if (!isSeen(id, pass)) {
      setSeen(id, pass);
    }
  }

  /** Records that no pass has found an entry. */
  void unsee(long id) {
    setSeen(id, 0);
  }

  private void setSeen(long id, int pass) {
    long unused =
        numberIfThere(
            id,
            0,
            at -> {
              NodeRecord.setSeen(at, pass);
              return 0;
            });
  }

  /** Returns the id of the node's directory, or 0 for the root. */
  long parent(long id) {
    return number(id, NodeRecord::parent);
  }

  byte[] name(long id) {
    return read(id, at -> Memory.bytes(NodeRecord.name(at), NodeRecord.nameLength(at)));
  }

  /** Returns {@link NameHash#of} the name, without a copy of it. */
  int nameHash(long id) {
    return (int) number(id, NodeTable::nameHashAt);
  }

  private static long nameHashAt(long at) {
    SipHash hash = NameHash.begin(NodeRecord.parent(at));
    long name = NodeRecord.name(at);
    int length = NodeRecord.nameLength(at);
    for (int i = 0; i < length; i++) {
      hash.add(Memory.getByte(name + i));
    }
    return hash.end();
  }

  /** Returns the position of a node in 32 bits; it is valid until the node is discarded. */
  int place(long id) {
    return held(id).page * UNITS + (int) (id % UNITS);
  }

  /** Returns the id of the node at a place; the node must not be discarded. */
  long idAt(int place) {
    long unsigned = Integer.toUnsignedLong(place);
    return blocks.number((int) (unsigned / UNITS)) * UNITS + unsigned % UNITS;
  }

  /** Tells whether the node at a place has this name; the node must not be discarded. */
  boolean isNamed(int place, long parent, byte[] name) {
    long at = blocks.address(Integer.toUnsignedLong(place) * NodeRecord.UNIT);
    return NodeRecord.parent(at) == parent
        && NodeRecord.nameLength(at) == name.length
        && Memory.equal(NodeRecord.name(at), name);
  }

  /** Tells whether a node is stale; a node whose record is gone is. */
  boolean isStale(long id) {
    return numberIfThere(id, 1, at -> NodeRecord.has(at, NodeRecord.STALE) ? 1 : 0) != 0;
  }

  void markStale(long id) {
    Block block = held(id);
    try {
      synchronized (lockOf(id)) {
        NodeRecord.set(at(block, id), NodeRecord.STALE);
      }
    } finally {
      Reference.reachabilityFence(block);
    }
    changes.increment();
  }

  Attributes attributes(long id) {
    return attributes(held(id), id);
  }

  /** Returns the attributes of a node in its block. */
  Attributes attributes(Block block, long id) {
    try {
      synchronized (lockOf(id)) {
        long at = at(block, id);
        return NodeRecord.attributes(at, shapes.at(NodeRecord.shape(at)));
      }
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  /**
   * Replaces a node's attributes, unless somebody else has replaced them since. Version, type and
   * etag stay the same.
   *
   * @param known the attributes before the origin was asked
   * @return whether the node has the fresh attributes now
   */
  boolean update(long id, Attributes known, Attributes fresh) throws FsException {
    Block block = held(id);
    long at = at(block, id);
    try {
      synchronized (lockOf(id)) {
        if (!attributes(block, id).equals(known)) {
          return false;
        }
        if (NodeRecord.changed(at) != fresh.changed()) {
          changes.increment();
        }
        int before = NodeRecord.shape(at);
        NodeRecord.update(at, fresh, shapes.take(fresh));
        shapes.release(before);
        return true;
      }
    } finally {
      Reference.reachabilityFence(block);
    }
  }

  private Object lockOf(long id) {
    return locks[(int) (id & LOCKS - 1)];
  }

  /**
   * Returns a number that grows when a node is added or becomes stale, or when its change time
   * changes. Access alone does not count.
   */
  long changes() {
    return changes.sum();
  }

  /** Returns a number that grows with every {@link #setListed}. */
  long listings() {
    return listings.sum();
  }

  /** Returns the bytes that did not fit where names belong and are stored elsewhere. */
  long elsewhere() {
    return blocks.elsewhere();
  }

  /** Returns the bytes of memory that the nodes take. */
  long bytes() {
    return blocks.bytes();
  }

  /** Returns the bytes of memory without the pages that wait for their last reader. */
  long inUse() {
    return blocks.inUse();
  }

  @Override
  public void close() {
    blocks.close();
  }
}
