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
 * Native memory in pages that are used again, though nothing in them ever is mistaken for something
 * else: a block of nodes has a number that no other has had. Of the first page:
 *
 * <pre>
 *   0 magic u64      8 number of the next block u64
 * </pre>
 *
 * <p>and of each other:
 *
 * <pre>
 *   0 kind u8, 0: free   1 number u56, of nodes   8 records
 * </pre>
 *
 * <p>A block that was {@linkplain #retire retired} is read by whoever still holds it. Its page
 * comes free once nobody does, which the garbage collector finds out: no reader has to say when it
 * begins and ends, and none can be forgotten. So that this does not wait for the collector's
 * leisure, the collector is asked to run when many pages wait for it.
 *
 * <p>Thread-safe; the monitor guards the pages, and is a leaf. Blocks are found without it.
 */
final class Blocks implements AutoCloseable {
  static final int SIZE = 4096;
  static final int HEADER = 8;
  static final int NODES = 1;
  static final int SHAPES = 2;

  /** "hf-node", and the layout of pages and records. */
  private static final long MAGIC = 0x0165_646f_6e2d_6668L;

  private static final int NEXT = 8;
  private static final int KIND_BITS = 8;
  private static final int KIND = (1 << KIND_BITS) - 1;

  /** Ids of nodes take 40 bits. */
  private static final long MOST_NUMBERS = 1L << 31;

  /** Pages that may wait for the collector: 4 MiB. */
  private static final int MOST_WAITING = 1024;

  /** Blocks are found by parts of their numbers. */
  private static final int CHUNK = 1024;

  private final GrowingMemory memory;
  private final long base;
  private final ReferenceQueue<Block> unheld = new ReferenceQueue<>();
  private final Deque<Integer> free = new ArrayDeque<>();

  /** Pages from here on have never been used. */
  private int pages = 1;

  private long next;
  private int waiting;
  private volatile AtomicReferenceArray<@Nullable Chunk> chunks = new AtomicReferenceArray<>(16);

  private static final class Chunk {
    final AtomicReferenceArray<@Nullable Object> blocks = new AtomicReferenceArray<>(CHUNK);
    int count;
  }

  /** What is left of a block that was retired, for those who hold it. */
  private static final class Retired extends WeakReference<Block> {
    final long number;
    final int page;

    Retired(Block block, ReferenceQueue<Block> queue) {
      super(block, queue);
      number = block.number;
      page = block.page;
    }
  }

  /** Uses memory, which is closed with this, and finds the blocks that are in it already. */
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

  /** Returns the address of a byte, counted from the beginning of all pages. */
  long address(long offset) {
    return base + offset;
  }

  /**
   * Begins a block of nodes, which is empty.
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

  /** Returns a page for shapes, which is never given back. */
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

  /** Returns a block by its number, or null where it is no more. */
  @Nullable Block find(long number) {
    AtomicReferenceArray<@Nullable Chunk> all = chunks;
    if (number < 0 || number / CHUNK >= all.length()) {
      return null;
    }
    Chunk chunk = all.get((int) (number / CHUNK));
    Object there = chunk == null ? null : chunk.blocks.get((int) (number % CHUNK));
    return there instanceof Retired retired ? retired.get() : (Block) there;
  }

  /** Returns a number above those of all blocks. */
  synchronized long end() {
    return next;
  }

  /** Calls for each block that was not retired, by their numbers. */
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

  /** Gives back a block, once nobody holds it any more. */
  synchronized void retire(Block block) {
    Chunk chunk = chunks.get((int) (block.number / CHUNK));
    if (chunk != null) {
      chunk.blocks.set((int) (block.number % CHUNK), new Retired(block, unheld));
      waiting++;
    }
  }

  /**
   * Frees the pages of blocks that nobody holds any more.
   *
   * @param last told where each block is, just before its page is free
   */
  void collect(LongConsumer last) {
    while (unheld.poll() instanceof Retired retired) {
      last.accept(address(retired.page));
      free(retired);
    }
  }

  private synchronized void free(Retired retired) {
    Memory.putLong(address(retired.page), 0);
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

  /** Has the collector run where many pages wait for it. */
  void askCollector() {
    boolean many;
    synchronized (this) {
      many = waiting > MOST_WAITING;
    }
    if (many) {
      System.gc();
    }
  }

  /** Returns the bytes of all pages that are in use. */
  synchronized long bytes() {
    return (long) (pages - free.size()) * SIZE;
  }

  /** Returns the same without those that wait for the collector. */
  synchronized long inUse() {
    return (long) (pages - free.size() - waiting) * SIZE;
  }

  /** Returns the bytes of memory that found no room where they belong. */
  long elsewhere() {
    return memory.elsewhere();
  }

  @Override
  public void close() {
    memory.close();
  }
}
