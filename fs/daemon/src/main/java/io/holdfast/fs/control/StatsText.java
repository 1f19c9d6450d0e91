package io.holdfast.fs.control;

import io.holdfast.fs.figures.AllocationFigures;
import io.holdfast.fs.figures.CacheFigures;
import io.holdfast.fs.figures.ClusterFigures;
import io.holdfast.fs.figures.ConvoyFigures;
import io.holdfast.fs.figures.DatasetFigures;
import io.holdfast.fs.figures.FetchFigures;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.JobsFigures;
import io.holdfast.fs.figures.KernelFigures;
import io.holdfast.fs.figures.MemoryFigures;
import io.holdfast.fs.figures.OpenFigures;
import io.holdfast.fs.figures.OrderFigures;
import io.holdfast.fs.figures.PlanFigures;
import io.holdfast.fs.figures.ReadFigures;
import io.holdfast.fs.figures.TransitFigures;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Visible;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The figures of a mount as aligned text for people: {@code /.holdfast/stats} and {@code holdfast
 * stats}. Stateless.
 */
public final class StatsText {
  private static final int JOBS_SHOWN = 8;

  private final StringBuilder text = new StringBuilder();

  private StatsText() {}

  /**
   * Shows the figures.
   *
   * @return lines, each with its end
   */
  public static String of(Figures stats) {
    return new StatsText().all(stats);
  }

  private String all(Figures stats) {
    text.append(Visible.of(stats.name())).append('\n');
    row("origin", stats.origin());
    row("mountpoint", stats.mountpoint());
    row("up", Human.seconds(stats.uptimeSeconds()) + since(stats.mountedAt()));
    row("version", stats.version());
    row("binding", stats.kernel().binding() + restarts(stats.kernel()));
    dataset(stats.dataset());
    cache(stats);
    opens(stats.opens());
    jobs(stats.jobs());
    orders(stats.orders());
    convoys(stats.convoys());
    fetches(stats.fetches());
    stats.cluster().ifPresent(this::cluster);
    reads(stats.reads());
    transit(stats.transit());
    memory(stats.memory());
    kernel(stats.kernel());
    return text.toString();
  }

  private static String restarts(KernelFigures kernel) {
    long restarts = kernel.daemonRestarts();
    return restarts == 0 ? "" : ", daemon started again " + Human.count(restarts, "time");
  }

  private static String soFar(DatasetFigures dataset) {
    long failed = dataset.incompleteListings();
    return failed == 0
        ? " so far: still scanning"
        : " so far: not scanned whole, "
            + Human.count(failed, "listing")
            + " failed since the mount: see the log";
  }

  private void dataset(DatasetFigures dataset) {
    heading("dataset");
    boolean scanned = dataset.scanned();
    row("files", Human.count(dataset.files()) + (scanned ? "" : soFar(dataset)));
    row("size", Human.bytes(dataset.bytes()));
    long hidden = dataset.hiddenKeys();
    if (hidden > 0) {
      row("hidden", HiddenKeys.text(hidden, dataset.hiddenKey()));
    }
  }

  private void cache(Figures stats) {
    CacheFigures cache = stats.cache();
    long capacity = cache.capacityBytes();
    long resident = cache.residentBytes();
    heading("cache");
    row("policy", cache.policy() + ", " + cache.pin() + " pins");
    row(
        "resident",
        "%s of %s (%s)%s",
        Human.bytes(resident),
        Human.bytes(capacity),
        percent(resident, capacity),
        cache.capacityOfNodeBudget() ? ", a part of the node's budget" : "");
    row("items", "%s resident", Human.grouped(cache.residentItems()));
    row(
        "decisions",
        "%s admitted, %s refused, %s evicted%s",
        Human.grouped(cache.admittedItems()),
        Human.grouped(cache.refusedItems()),
        Human.grouped(cache.evictedItems()),
        cache.swappedItems() == 0
            ? ""
            : " (%s of them to spread the residents)"
                .formatted(Human.grouped(cache.swappedItems())));
    row(
        "hit ratio",
        "%s planned, %s so far",
        planned(stats.dataset(), cache),
        hitRatio(stats.opens()));
    stats.allocation().ifPresent(told -> row("allocation", allocation(told)));
  }

  /** Says a mount's part of its node's memory. */
  private static String allocation(AllocationFigures told) {
    StringBuilder line = new StringBuilder();
    line.append("%s proposed".formatted(Human.bytes(told.proposedBytes())));
    told.fairShareBytes()
        .ifPresent(share -> line.append(", fair share %s".formatted(Human.bytes(share))));
    line.append(", of %s for all mounts".formatted(Human.bytes(told.budgetBytes())));
    told.changedSeconds()
        .ifPresent(
            last ->
                line.append(
                    "; set %s, at %s last"
                        .formatted(
                            Human.count(told.changes(), "time"), Instant.ofEpochSecond(last))));
    return line.toString();
  }

  private void opens(OpenFigures opens) {
    heading("opens");
    if (!opens.counted()) {
      row("total", "not counted");
      return;
    }
    row("total", Human.grouped(opens.total()));
    if (opens.overflows() > 0) {
      row("overflows", Human.grouped(opens.overflows()) + ": too many to be counted");
    }
  }

  /** By what the jobs are told apart, and those that have opened most. */
  private void jobs(JobsFigures jobs) {
    List<JobsFigures.Job> all = jobs.jobs();
    if (all.isEmpty()) {
      return;
    }
    heading("jobs, by " + jobs.by());
    JobsText.jobs(all, JOBS_SHOWN).lines().forEach(line -> text.append("  " + line + "\n"));
    if (all.size() > JOBS_SHOWN) {
      text.append("  and " + (all.size() - JOBS_SHOWN) + " more: 'holdfast stats --jobs'\n");
    }
  }

  private void orders(List<OrderFigures> orders) {
    if (orders.isEmpty()) {
      return;
    }
    heading("orders");
    OrdersText.of(orders).lines().forEach(line -> text.append("  " + line + "\n"));
  }

  private void convoys(List<ConvoyFigures> convoys) {
    if (convoys.isEmpty()) {
      return;
    }
    heading("convoys");
    ConvoysText.of(convoys).lines().forEach(line -> text.append("  " + line + "\n"));
  }

  private void fetches(FetchFigures fetches) {
    FetchFigures.Origin origin = fetches.origin();
    FetchFigures.Peers peer = fetches.peer();
    heading("fetches");
    row(
        "from origin",
        "%s items, %s, errors %s, retries %s",
        Human.grouped(origin.items()),
        Human.bytes(origin.bytes()),
        Human.grouped(origin.errors()),
        Human.grouped(origin.retries()));
    if (peer.items() + peer.errors() > 0) {
      row(
          "from peers",
          "%s items, %s, errors %s",
          Human.grouped(peer.items()),
          Human.bytes(peer.bytes()),
          Human.grouped(peer.errors()));
    }
    row("shared", "%s waited for another's fetch", Human.grouped(fetches.coalesced()));
    row("in flight", Human.grouped(fetches.inFlight()) + turns(origin));
  }

  private static String turns(FetchFigures.Origin origin) {
    long limit = origin.limit();
    long stuck = origin.stuck();
    return limit == 0
        ? ""
        : "; at the origin %d of at most %d, %d wait%s%s"
            .formatted(
                origin.inFlight(),
                limit,
                origin.queued(),
                stuck == 0 ? "" : ", " + stuck + " never came back",
                origin.silent() ? "; it does not answer" : "");
  }

  private void plan(PlanFigures plan) {
    if (!plan.isFollowed()) {
      row("plan", "none: " + plan.state());
      return;
    }
    row(
        "plan",
        "epoch %d: %s from memory, %s through peers, %s from the origin; %s elsewhere"
            .formatted(
                plan.epoch(),
                Human.bytes(plan.localBytes()),
                Human.bytes(plan.peerBytes()),
                Human.bytes(plan.originBytes()),
                Human.count(plan.elsewhereItems(), "item")));
  }

  private void cluster(ClusterFigures cluster) {
    long nodes = cluster.nodes();
    if (nodes == 0) {
      return;
    }
    heading("cluster");
    long others = cluster.otherDataset();
    row(
        "nodes",
        "%s, %s suspect%s; 'holdfast peers' shows them",
        Human.grouped(nodes),
        Human.grouped(cluster.suspect()),
        others == 0 ? "" : ", " + Human.grouped(others) + " with another dataset");
    row("capacity", Human.bytes(cluster.capacityBytes()) + " in all nodes");
    row("own share", Human.ratio(cluster.share()));
    row("hit ratio", Human.ratio(cluster.plannedHitRatio()) + " planned, with peers");
    plan(cluster.plan());
    Map<String, Long> refusals = new TreeMap<>(cluster.refusals());
    if (!refusals.isEmpty()) {
      row(
          "refused",
          refusals.entrySet().stream()
              .map(e -> e.getKey() + " " + Human.grouped(e.getValue()))
              .collect(Collectors.joining(", ")));
    }
  }

  private void reads(ReadFigures reads) {
    heading("reads that reached the daemon");
    row("requests", Human.grouped(reads.requests()));
    row("size", Human.bytes(reads.bytes()));
    row("errors", Human.grouped(reads.errors()));
    row(
        "stalled",
        "%.1f s, all readers together, %.1f s of it by peers",
        reads.stallSeconds(),
        reads.peerStallSeconds());
  }

  private void transit(TransitFigures transit) {
    heading("transit");
    row(
        "in use",
        "%s of %s",
        Human.bytes(transit.usedBytes()),
        Human.bytes(transit.capacityBytes()));
    row(
        "window",
        "%s now, %s dropped",
        Human.bytes(transit.windowBytes()),
        Human.bytes(transit.droppedBytes()));
  }

  private void memory(MemoryFigures memory) {
    heading("memory");
    row(
        "in use",
        "%s of %s, at most %s so far",
        Human.bytes(memory.usedBytes()),
        Human.bytes(memory.limitBytes()),
        Human.bytes(memory.peakBytes()));
    if (!memory.state().equals("ok")) {
      row(
          "residents",
          "%s because of %s: they may take %s",
          memory.state(),
          memory.cause(),
          Human.bytes(memory.allowedBytes()));
    }
    long times = memory.givenUpTimes();
    if (times > 0) {
      row(
          "made way",
          "%s in %s, %s",
          Human.bytes(memory.givenUpBytes()),
          Human.count(memory.givenUpItems(), "item"),
          Human.count(times, "time"));
    }
  }

  private void kernel(KernelFigures kernel) {
    heading("kernel");
    row("page cache", Human.bytes(kernel.cachedBytes()));
    if (!kernel.ioctl().isEmpty()) {
      row(
          "ioctl",
          kernel.ioctl().equals(KernelFigures.MESSAGE)
              ? "a message each"
              : "TCGETS answered by the kernel (BPF, " + kernel.ioctl() + ")");
    }
    switch (kernel.opens()) {
      case KernelFigures.BPF -> row("opens", "told by a program in the kernel (BPF)");
      case KernelFigures.FANOTIFY -> row("opens", "told by fanotify");
      case KernelFigures.MESSAGE -> row("opens", "a message each");
      default -> {}
    }
    Map<String, Long> requests = new TreeMap<>(kernel.requests());
    if (!requests.isEmpty()) {
      row(
          "requests",
          requests.entrySet().stream()
              .map(e -> e.getKey() + " " + Human.grouped(e.getValue()))
              .collect(Collectors.joining(", ")));
    }
  }

  /** Returns the planned hit ratio, once a dataset has been counted and has files. */
  private static String planned(DatasetFigures dataset, CacheFigures cache) {
    return dataset.scanned() && dataset.files() > 0 ? Human.ratio(cache.plannedHitRatio()) : "-";
  }

  /** Returns the share of items that needed no fetch, or a dash where it is unknown. */
  private static String hitRatio(OpenFigures opens) {
    return opens.counted() ? hitRatio(opens.items(), opens.misses()) : "-";
  }

  /** Returns the hit ratio from counts; files that stay open may have more misses than items. */
  static String hitRatio(long items, long misses) {
    return items == 0 || misses > items ? "-" : Human.ratio(1 - (double) misses / items);
  }

  private static String percent(long part, long whole) {
    return whole == 0 ? "-" : (long) (100.0 * part / whole) + " %";
  }

  private static String since(String time) {
    return time.isEmpty() ? "" : ", since " + time;
  }

  private void heading(String heading) {
    text.append('\n').append(heading).append('\n');
  }

  private void row(String name, String format, Object... values) {
    String value = values.length == 0 ? format : String.format(Locale.ROOT, format, values);
    text.append(String.format(Locale.ROOT, "  %-12s  %s%n", name, Visible.of(value)));
  }
}
