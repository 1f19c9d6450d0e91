package io.holdfast.fs.tree;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.Memory;
import java.lang.invoke.VarHandle;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Allocates native memory in pages and reuses freed pages. Each block of nodes has a number that no
 * other block ever has, so an old reference is never mistaken for a new block. The first page:
 *
 * <pre>
 *   0 magic u64      8 number of the next block u64
 * </pre>
 *
 * <p>Every other page:
 *
 * <pre>
 *   0 kind u8, 0: free   1 number u56, of nodes   8 records
 * </pre>
 *
 * <p>Readers may still read a {@linkplain #retire retired} block that they hold. The garbage
 * collector finds out when nobody holds the block, and then its page becomes free. Readers
 * therefore need not say when they begin and end. When many pages wait for the collector, {@link
 * #askCollector} runs it.
 *
 * <p>Thread-safe. The monitor guards the pages and is a leaf lock. {@link #find} takes no lock.
 */
final class Blocks implements AutoCloseable {
  static final int SIZE = 4096;
  static final int HEADER = 8;
  static final int NODES = 1;
  static final int SHAPES = 2;

  /** "hf-node" and the version of the layout of pages and records. */
  private static final long MAGIC = 0x0165_646f_6e2d_6668L;

  private static final int NEXT = 8;
  private static final int KIND_BITS = 8;
  private static final int KIND = (1 << KIND_BITS) - 1;

  /** A node's id has 40 bits. */
  private static final long MOST_NUMBERS = 1L << 31;

  /** Pages that may wait for the collector before it is run: 4 MiB. */
  private static final int MOST_WAITING = 1024;

  /** Blocks in an entry of {@link #chunks}. */
  private static final int CHUNK_BITS = 10;

  private static final int CHUNK = 1 << CHUNK_BITS;

  private final GrowingMemory memory;
  private final long base;
  private final ReferenceQueue<Block> unheld = new ReferenceQueue<>();
  private final Deque<Integer> free = new ArrayDeque<>();

  /** The first page that was never used. */
  private int pages = 1;

  private long next;
  private int waiting;
  private volatile AtomicReferenceArray<@Nullable Chunk> chunks = new AtomicReferenceArray<>(16);

  private static final class Chunk {
    final AtomicReferenceArray<@Nullable Object> blocks = new AtomicReferenceArray<>(CHUNK);
    int count;
  }

  /** A weak reference to a retired block; readers may still hold the block. */
  private static final class Retired extends WeakReference<Block> {
    final long number;
    final int page;

    Retired(Block block, ReferenceQueue<Block> queue) {
      super(block, queue);
      number = block.number;
      page = block.page;
    }
  }

  /** Opens memory and finds the blocks in it. {@link #close} closes the memory. */
  Blocks(GrowingMemory memory) throws FsException {
    this.memory = memory;
    base = memory.address();
    long reserved = memory.reserved();
    memory.reserve(SIZE);
    if (Memory.getLong(base) == 0 && Memory.getLong(base + NEXT) == 0) {
      Memory.putLong(base, MAGIC);
    } else if (Memory.getLong(base) != MAGIC) {
      throw new FsException(
          FsError.UNSUPPORTED, "names are of another version: unmount and mount again");
    }
    next = Memory.getLong(base + NEXT);
    for (; pages < reserved / SIZE; pages++) {
      if (kind(pages) == NODES) {
        put(new Block(number(pages), pages, address(pages)));
      } else if (kind(pages) != SHAPES) {
        free.add(pages);
      }
    }
  }

  private long address(int page) {
    return base + (long) page * SIZE;
  }

  private int kind(int page) {
    return (int) (Memory.getLong(address(page)) & KIND);
  }

  /** Returns the number of the block of nodes that is in a page. */
  long number(int page) {
    return Memory.getLong(address(page)) >>> KIND_BITS;
  }

  /** Returns the address of an offset from the first page. */
  long address(long offset) {
    return base + offset;
  }

  /**
   * Allocates an empty block of nodes.
   *
   * @throws FsException NO_MEMORY where there is no room
   */
  synchronized Block take() throws FsException {
    if (next == MOST_NUMBERS) {
      throw new FsException(
          FsError.NO_MEMORY, "there have been as many names as can be told apart");
    }
    int page = page();
    Block block = new Block(next++, page, address(page));
    Memory.putLong(base + NEXT, next);
    VarHandle.releaseFence();
    Memory.putLong(block.address, block.number << KIND_BITS | NODES);
    put(block);
    return block;
  }

  /** Allocates a page for shapes. It is never freed. */
  synchronized int takeForShapes() throws FsException {
    int page = page();
    Memory.putLong(address(page), SHAPES);
    return page;
  }

  private int page() throws FsException {
    Integer page = free.poll();
    if (page == null) {
      memory.reserve((pages + 1L) * SIZE);
      return pages++;
    }
    Memory.clear(address(page), SIZE);
    return page;
  }

  private void put(Block block) {
    int place = (int) (block.number / CHUNK);
    while (place >= chunks.length()) {
      AtomicReferenceArray<@Nullable Chunk> longer =
          new AtomicReferenceArray<>(2 * chunks.length());
      for (int i = 0; i < chunks.length(); i++) {
        longer.set(i, chunks.get(i));
      }
      chunks = longer;
    }
    Chunk chunk = chunks.get(place);
    if (chunk == null) {
      chunk = new Chunk();
      chunks.set(place, chunk);
    }
    chunk.count++;
    chunk.blocks.set((int) (block.number % CHUNK), block);
  }

  /** Returns the block with a number, or null if its page was freed. */
  @Nullable Block find(long number) {
    AtomicReferenceArray<@Nullable Chunk> all = chunks;
    if (number < 0 || number >>> CHUNK_BITS >= all.length()) {
      return null;
    }
    Chunk chunk = all.get((int) (number >>> CHUNK_BITS));
    Object there = chunk == null ? null : chunk.blocks.get((int) (number & CHUNK - 1));
    return there instanceof Retired retired ? retired.get() : (Block) there;
  }

  /** Returns a number above the numbers of all blocks. */
  synchronized long end() {
    return next;
  }

  /** Passes each block that was not retired, in the order of their numbers. */
  void forEach(Consumer<Block> taker) {
    AtomicReferenceArray<@Nullable Chunk> all = chunks;
    for (int i = 0; i < all.length(); i++) {
      Chunk chunk = all.get(i);
      for (int j = 0; chunk != null && j < CHUNK; j++) {
        if (chunk.blocks.get(j) instanceof Block block) {
          taker.accept(block);
        }
      }
    }
  }

  /** Returns the pages of shapes. */
  synchronized List<Integer> shapePages() {
    List<Integer> found = new ArrayList<>();
    for (int page = 1; page < pages; page++) {
      if (kind(page) == SHAPES) {
        found.add(page);
      }
    }
    return found;
  }

  /** Retires a block: its page becomes free once nobody holds the block. */
  synchronized void retire(Block block) {
    Chunk chunk = chunks.get((int) (block.number / CHUNK));
    if (chunk != null) {
      chunk.blocks.set((int) (block.number % CHUNK), new Retired(block, unheld));
      waiting++;
    }
  }

  /**
   * Frees the pages of retired blocks that nobody holds any more.
   *
   * @param last takes the address of each page just before the page becomes free
   */
  void collect(LongConsumer last) {
    while (unheld.poll() instanceof Retired retired) {
      // first, so that a process which opens this memory later reads none of its shapes
      Memory.putLong(address(retired.page), 0);
      VarHandle.releaseFence();
      last.accept(address(retired.page));
      free(retired);
    }
  }

  private synchronized void free(Retired retired) {
    free.add(retired.page);
    waiting--;
    int place = (int) (retired.number / CHUNK);
    Chunk chunk = chunks.get(place);
    if (chunk != null) {
      chunk.blocks.set((int) (retired.number % CHUNK), null);
      chunk.count--;
      if (chunk.count == 0) {
        chunks.set(place, null);
      }
    }
  }

  /** Runs the garbage collector if many pages wait for it. */
  void askCollector() {
    boolean many;
    synchronized (this) {
      many = waiting > MOST_WAITING;
    }
    if (many) {
      System.gc();
    }
  }

  /** Returns the bytes of all pages that are not free. */
  synchronized long bytes() {
    return (long) (pages - free.size()) * SIZE;
  }

  /** Returns the bytes of all pages that are neither free nor waiting for the collector. */
  synchronized long inUse() {
    return (long) (pages - free.size() - waiting) * SIZE;
  }

  /** Returns the bytes that did not fit where names belong and are stored elsewhere. */
  long elsewhere() {
    return memory.elsewhere();
  }

  @Override
  public void close() {
    memory.close();
  }
}
