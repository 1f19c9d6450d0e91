package io.holdfast.fs.memory;

import io.holdfast.fs.linux.Procfs;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.Supplier;

/**
 * Measures the memory of this process, from /proc and the virtual machine. Thread-safe.
 *
 * <p>The memory of everything but residents is the larger of two figures. The first is the memory
 * in use: anonymous and shared pages, the window, and the kernel's own memory for residents. The
 * second is the memory that was promised: all of transit, and all of the heap with the connections'
 * buffers. The part of these that the virtual machine has not taken yet is lent to the window, to
 * metadata and to the kernel.
 */
public final class OwnMemory {
  /**
   * The kernel's memory for a resident: a mapping, an open file, an inode, a name, and a node of
   * the page cache's tree.
   */
  static final long KERNEL_BYTES_AN_ITEM = 1536;

  private final Procfs procfs;
  private final Promised promised;
  private final Supplier<Parts> parts;

  /**
   * The memory that parts may take at any moment, in bytes.
   *
   * @param transit items on their way
   * @param window cached pages of items that were not admitted
   * @param heap the most that the heap may take
   * @param connections buffers of connections with peers and stores
   */
  public record Promised(long transit, long window, long heap, long connections) {}

  /**
   * The memory of the daemon's parts by their own account, in bytes.
   *
   * @param items the number of residents
   */
  public record Parts(long residents, long items, long window, long transit, long metadata) {}

  /** Creates a meter. */
  public OwnMemory(Procfs procfs, Promised promised, Supplier<Parts> parts) {
    this.procfs = procfs;
    this.promised = promised;
    this.parts = parts;
  }

  /** Returns the memory of this process now. */
  public OwnUse now() {
    Procfs.Fields status = procfs.status(Procfs.SELF);
    long anonymous = status.bytes("RssAnon").orElse(0);
    long shared = status.bytes("RssShmem").orElse(0);
    long pageTables = status.bytes("VmPTE").orElse(0);
    long heap = Runtime.getRuntime().totalMemory();
    long machine =
        ManagementFactory.getMemoryMXBean().getNonHeapMemoryUsage().getCommitted()
            + ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    return of(parts.get(), new Measured(anonymous, shared, heap, machine, pageTables));
  }

  /** The figures of the kernel and the virtual machine, in bytes. */
  record Measured(long anonymous, long shared, long heap, long machine, long pageTables) {}

  OwnUse of(Parts own, Measured all) {
    long kernel = all.pageTables + own.items * KERNEL_BYTES_AN_ITEM;
    // a part of the heap stays from its first use on, and malloc keeps what transit has freed
    long anonymous = all.anonymous;
    long heap = Math.min(all.heap, anonymous);
    long machine = Math.min(all.machine, anonymous - heap);
    long transit = Math.min(own.transit, anonymous - heap - machine);
    long other = anonymous - heap - machine - transit + Math.max(0, all.shared - own.metadata);
    long there = anonymous + Math.max(all.shared, own.metadata) + own.window + kernel;
    long needed = all.heap + all.machine + promised.window + own.metadata + kernel;
    long kept = promised.transit + Math.max(promised.heap + promised.connections, needed);
    return new OwnUse(
        own.residents,
        own.window,
        transit,
        own.metadata,
        heap,
        machine,
        kernel,
        other,
        Math.max(there, kept));
  }
}
