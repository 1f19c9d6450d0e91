package io.holdfast.fs.daemon;

import io.holdfast.fs.figures.AccessLogFigures;
import io.holdfast.fs.figures.AllocationFigures;
import io.holdfast.fs.figures.CacheFigures;
import io.holdfast.fs.figures.ConvoyFigures;
import io.holdfast.fs.figures.ErrorFigures;
import io.holdfast.fs.figures.FetchFigures;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.JobsFigures;
import io.holdfast.fs.figures.KernelFigures;
import io.holdfast.fs.figures.MemoryFigures;
import io.holdfast.fs.figures.OpenFigures;
import io.holdfast.fs.figures.OrderFigures;
import io.holdfast.fs.figures.PlanFigures;
import io.holdfast.fs.figures.TransitFigures;
import io.holdfast.fs.linux.MountPlace;
import io.holdfast.fs.mount.Binding;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.peers.PeersReport;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.stats.Activity;
import io.holdfast.fs.stats.OpenWatcher;
import io.holdfast.fs.stats.OwnProcess;
import io.holdfast.fs.stats.ReadStats;
import io.holdfast.fs.transit.Transit;
import io.holdfast.fs.transit.TransitStats;
import io.holdfast.fs.tree.DatasetScan;
import io.holdfast.policy.Policies;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Puts the figures of a mount together, from the parts that own them. Thread-safe; touches neither
 * the origin nor the own mount.
 */
final class StatsReport {
  private final Sources sources;
  private final Instant mountedAt = Instant.now().truncatedTo(ChronoUnit.SECONDS);
  private final long startNanos;

  /**
   * The sources of the figures.
   *
   * @param version Holdfast's version
   * @param restarts the number of daemons that this mount has had before this one
   * @param entriesLoaded the number of entries that an earlier mount had left
   * @param opens how the daemon learns of opens, as in {@link KernelFigures}
   * @param ioctl how programs learn that a file is no terminal
   */
  record Sources(
      Settings settings,
      String version,
      long restarts,
      DatasetScan scan,
      LongSupplier entriesLoaded,
      Residency residency,
      BooleanSupplier capacityOfNodeBudget,
      MountPlace place,
      Origin origin,
      Transit transit,
      ReadStats reads,
      Activity activity,
      Supplier<AccessLogFigures> accesses,
      Supplier<MemoryFigures> memory,
      OpenWatcher watcher,
      Supplier<String> opens,
      Binding binding,
      Supplier<String> ioctl,
      Supplier<@Nullable PeersReport> peers,
      Supplier<PlanFigures> plan,
      Supplier<List<Map<String, Object>>> tasks,
      Supplier<List<OrderFigures>> orders,
      Supplier<List<ConvoyFigures>> convoys,
      Supplier<Optional<AllocationFigures>> allocation,
      LongSupplier nanoTime) {}

  StatsReport(Sources sources) {
    this.sources = sources;
    this.startNanos = sources.nanoTime.getAsLong();
  }

  /** Returns the figures with all opens before the call; waits a moment for these. */
  Figures stats() {
    sources.watcher.flush();
    return figures();
  }

  /** Returns the figures of now; waits for nothing. */
  Figures figures() {
    Residency.Figures cache = sources.residency.figures();
    PeersReport peers = sources.peers.get();
    boolean counted = !sources.opens.get().equals(KernelFigures.OFF);
    long opens = sources.activity.opens(); // first, so that the jobs' figures have all of them
    List<Activity.JobReport> jobs = sources.activity.jobs();
    return new Figures(
        sources.settings.get(SettingTable.NAME),
        sources.version,
        sources.settings.get(SettingTable.SOURCE).toString(),
        sources.place.path().toString(),
        mountedAt.toString(),
        (sources.nanoTime.getAsLong() - startNanos) / 1_000_000_000L,
        sources.scan.figures(sources.entriesLoaded.getAsLong(), acls()),
        cache(cache),
        opens(counted, opens, jobs),
        fetches(peers),
        Optional.ofNullable(peers)
            .map(each -> each.cluster(hitRatio(each.capacity()), sources.plan.get())),
        sources.reads.figures(),
        new JobsFigures(
            sources.activity.by().toString(),
            jobs.stream().map(job -> job.figures(counted)).toList()),
        sources.activity.processes().stream().map(Activity.ProcessReport::figures).toList(),
        sources.orders.get(),
        sources.convoys.get(),
        transit(cache),
        kernel(cache),
        sources.memory.get(),
        sources.tasks.get(),
        new ErrorFigures(sources.reads.errorsByCause(), sources.transit.stats().errors.byCause()),
        OwnProcess.figures(sources.settings.get(SettingTable.MEMORY)),
        sources.accesses.get(),
        sources.allocation.get());
  }

  private String acls() {
    return sources.binding.decidesByAcls() ? "kernel" : sources.scan.hasAcls() ? "strict" : "none";
  }

  private CacheFigures cache(Residency.Figures figures) {
    return new CacheFigures(
        sources.residency.policyName(),
        figures.capacityBytes(),
        figures.residentBytes(),
        figures.residentItems(),
        figures.keptBytes(),
        figures.keptItems(),
        figures.admittedItems(),
        figures.refusedItems(),
        figures.evictedItems(),
        figures.swappedItems(),
        figures.pinFailures(),
        figures.pinBacklogBytes(),
        plannedHitRatio(),
        sources.residency.isHard() ? "hard" : "soft",
        sources.capacityOfNodeBudget.getAsBoolean());
  }

  /**
   * Returns the share of bytes that each epoch from the second on will hit, of the files counted so
   * far.
   */
  double plannedHitRatio() {
    if (sources.settings.get(SettingTable.POLICY).equals(Policies.NONE)) {
      return 0;
    }
    return hitRatio(sources.residency.figures().capacityBytes());
  }

  /** Returns the share of bytes that each epoch from the second on will hit here or at a peer. */
  double plannedClusterHitRatio() {
    PeersReport peers = sources.peers.get();
    return peers == null ? plannedHitRatio() : hitRatio(peers.capacity());
  }

  private double hitRatio(long capacity) {
    long whole = sources.scan.pageBytes();
    if (whole == 0) {
      // files without bytes always hit
      return sources.scan.files() == 0 ? 0 : 1;
    }
    return Math.min(1, Math.round(10_000.0 * capacity / whole) / 10_000.0);
  }

  private OpenFigures opens(boolean counted, long opens, List<Activity.JobReport> jobs) {
    return new OpenFigures(
        counted,
        opens,
        jobs.stream().mapToLong(job -> job.counts().items()).sum(),
        jobs.stream().mapToLong(job -> job.counts().misses()).sum(),
        sources.watcher.overflows());
  }

  private FetchFigures fetches(@Nullable PeersReport peers) {
    TransitStats stats = sources.transit.stats();
    return new FetchFigures(
        stats.fromOrigin(sources.transit.fetches(), sources.origin.health()),
        new FetchFigures.Peers(
            stats.peerItems.sum(),
            stats.peerBytes.sum(),
            peers == null ? 0 : peers.errors(),
            peers == null ? Map.of() : peers.fetchesByNode()),
        stats.coalesced.sum(),
        stats.inFlight.sum());
  }

  private TransitFigures transit(Residency.Figures figures) {
    return new TransitFigures(
        sources.transit.capacity(),
        sources.transit.used(),
        sources.transit.reclaimable(),
        figures.windowBytes(),
        figures.droppedBytes());
  }

  private KernelFigures kernel(Residency.Figures figures) {
    return new KernelFigures(
        figures.residentBytes() + figures.windowBytes(),
        sources.binding.name(),
        sources.restarts,
        sources.ioctl.get(),
        sources.opens.get(),
        sources.binding.requests());
  }
}
