package io.holdfast.fs.stats;

import io.holdfast.fs.figures.DaemonFigures;
import io.holdfast.fs.linux.Procfs;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;

/**
 * Measures what this process takes of the machine: {@code process} in {@code stats.json}. Reads
 * /proc at every call; a figure that cannot be read is empty. Stateless.
 */
public final class OwnProcess {
  private static final String DESCRIPTORS_LIMIT = "Max open files";

  private OwnProcess() {}

  /**
   * Returns the figures of this moment.
   *
   * @param memoryLimit the ceiling for everything together, in bytes
   */
  public static DaemonFigures figures(long memoryLimit) {
    Procfs procfs = Procfs.host();
    Procfs.Fields status = procfs.status(Procfs.SELF);
    Runtime runtime = Runtime.getRuntime();
    return new DaemonFigures(
        memoryLimit,
        status.bytes("RssAnon"),
        status.bytes("VmLck"),
        runtime.totalMemory() - runtime.freeMemory(),
        runtime.maxMemory(),
        ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(pool -> pool.getName().equals("direct"))
            .mapToLong(BufferPoolMXBean::getMemoryUsed)
            .sum(),
        status.number("Threads"),
        procfs.descriptors(),
        procfs
            .limit(Procfs.SELF, DESCRIPTORS_LIMIT)
            .filter(limit -> limit.soft() != Long.MAX_VALUE)
            .stream()
            .mapToLong(Procfs.Limit::soft)
            .findFirst(),
        ProcessHandle.current().info().totalCpuDuration().stream()
            .mapToDouble(time -> time.toMillis() / 1000.0)
            .findFirst());
  }
}
