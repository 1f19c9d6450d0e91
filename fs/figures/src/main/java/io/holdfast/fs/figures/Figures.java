package io.holdfast.fs.figures;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All figures of a mount at one moment, as in {@code stats.json}. Immutable.
 *
 * @param mountedAt when this daemon took the mount, in ISO 8601
 * @param cluster the figures of peers; empty without peers
 * @param processes the processes that opened or read files
 * @param orders the orders in which jobs will read, as far as they are known
 * @param convoys jobs that read one order together
 * @param tasks the tasks of admins, as each describes itself
 * @param allocation the mount's part of the node's memory; empty where nobody has told it
 */
public record Figures(
    String name,
    String version,
    String origin,
    String mountpoint,
    String mountedAt,
    long uptimeSeconds,
    DatasetFigures dataset,
    CacheFigures cache,
    OpenFigures opens,
    FetchFigures fetches,
    Optional<ClusterFigures> cluster,
    ReadFigures reads,
    JobsFigures jobs,
    List<ProcessFigures> processes,
    List<OrderFigures> orders,
    List<ConvoyFigures> convoys,
    TransitFigures transit,
    KernelFigures kernel,
    MemoryFigures memory,
    List<Map<String, Object>> tasks,
    ErrorFigures errors,
    DaemonFigures process,
    AccessLogFigures accessLog,
    Optional<AllocationFigures> allocation) {

  /**
   * Returns these figures as users other than the owner see them: without names of the store, and
   * without the rows of jobs, processes, orders, convoys and tasks, because these say who does what
   * with which files.
   */
  public Figures forOthers() {
    return new Figures(
        name,
        version,
        origin,
        mountpoint,
        mountedAt,
        uptimeSeconds,
        dataset.withoutNames(),
        cache,
        opens,
        fetches,
        cluster,
        reads,
        jobs.with(List.of()),
        List.of(),
        List.of(),
        List.of(),
        transit,
        kernel,
        memory,
        List.of(),
        errors,
        process,
        accessLog,
        allocation);
  }

  /**
   * Returns the capacity that residents may take. While memory is short they take less, and grow
   * back later.
   */
  public long promisedBytes() {
    return memory.capacityBytes() > 0 ? memory.capacityBytes() : cache.capacityBytes();
  }

  /** Tells whether the daemon that tells these figures also told earlier ones: counts go on. */
  public boolean isOfDaemonOf(Figures earlier) {
    return mountedAt.equals(earlier.mountedAt) && uptimeSeconds >= earlier.uptimeSeconds;
  }

  /** Returns the same with other rows of jobs. */
  public Figures with(JobsFigures others) {
    return new Figures(
        name,
        version,
        origin,
        mountpoint,
        mountedAt,
        uptimeSeconds,
        dataset,
        cache,
        opens,
        fetches,
        cluster,
        reads,
        others,
        processes,
        orders,
        convoys,
        transit,
        kernel,
        memory,
        tasks,
        errors,
        process,
        accessLog,
        allocation);
  }
}
