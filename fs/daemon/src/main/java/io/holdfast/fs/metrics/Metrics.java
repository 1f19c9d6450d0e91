package io.holdfast.fs.metrics;

import io.holdfast.fs.figures.AccessLogFigures;
import io.holdfast.fs.figures.AllocationFigures;
import io.holdfast.fs.figures.ClusterFigures;
import io.holdfast.fs.figures.ConvoyFigures;
import io.holdfast.fs.figures.ErrorFigures;
import io.holdfast.fs.figures.FetchFigures;
import io.holdfast.fs.figures.FetchFigures.Origin;
import io.holdfast.fs.figures.FetchFigures.Peers;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.JobsFigures.Job;
import io.holdfast.fs.figures.JobsFigures.Split;
import io.holdfast.fs.figures.NodeFigures;
import io.holdfast.fs.figures.OrderFigures;
import io.holdfast.fs.metrics.Metric.Point;
import io.holdfast.fs.metrics.Metric.Readings;
import io.holdfast.fs.metrics.Metric.Unit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * The list of all metrics. The scrape, METRICS.md and the tests of the dashboard follow from it.
 * Stateless.
 */
public final class Metrics {
  private static final List<Group> GROUPS =
      List.of(
          new Group("The mount", ofTheMount()),
          new Group("Cache", ofTheCache()),
          new Group("Allocation", ofTheAllocation()),
          new Group("Opens, reads and jobs", ofReaders()),
          new Group("Orders", ofOrders()),
          new Group("Convoys", ofConvoys()),
          new Group("Fetches", ofFetches()),
          new Group("Peers", ofPeers()),
          new Group("Dataset", ofTheDataset()),
          new Group("Daemon", ofTheDaemon()));

  private Metrics() {}

  /** Metrics that belong together, under a heading. */
  public record Group(String heading, List<Metric> metrics) {
    /** Groups metrics. */
    public Group {
      metrics = List.copyOf(metrics);
    }
  }

  /** Returns all metrics, in the order of the document. */
  public static List<Group> groups() {
    return GROUPS;
  }

  /** Returns all metrics. */
  public static List<Metric> all() {
    return GROUPS.stream().flatMap(group -> group.metrics().stream()).toList();
  }

  private static List<Metric> ofTheMount() {
    Table table = new Table();
    table.info(
        "holdfast_build_info",
        "Holdfast's version.",
        List.of("version"),
        f -> List.of(f.version()));
    table.info(
        "holdfast_mount_info",
        "What is mounted where, and how.",
        List.of("origin", "mountpoint", "policy", "pin", "binding", "ioctl", "opens"),
        f ->
            List.of(
                f.origin(),
                f.mountpoint(),
                f.cache().policy(),
                f.cache().pin(),
                f.kernel().binding(),
                f.kernel().ioctl(),
                f.kernel().opens()));
    table.gauge(
        "holdfast_uptime_seconds",
        f -> f.uptimeSeconds(),
        "Time since this daemon took the mount.");
    table.counter(
        "holdfast_daemon_restarts_total",
        f -> f.kernel().daemonRestarts(),
        "Daemons that this mount has had before this one: killed and replaced, or restarted.");
    table.counter(
        "holdfast_kernel_requests_total",
        "opcode",
        r -> each(r.figures().kernel().requests()),
        "Requests of the kernel to this daemon. A hit costs none but the IOCTL of programs that"
            + " ask for a terminal, where the kernel does not answer that itself.");
    table.counter(
        "holdfast_errors_total",
        List.of("operation", "cause"),
        Metrics::errors,
        "What failed for good: a `read` that its reader saw fail, a `fetch` from the origin.");
    return table.metrics;
  }

  private static List<Metric> ofTheCache() {
    Table table = new Table();
    table.gauge(
        "holdfast_cache_capacity_bytes",
        f -> f.cache().capacityBytes(),
        "What residents may take.");
    table.gauge(
        "holdfast_cache_resident_bytes",
        f -> f.cache().residentBytes(),
        "What residents take, in whole pages.");
    table.gauge(
        "holdfast_cache_resident_items",
        f -> f.cache().residentItems(),
        "Items that are resident.");
    table.gauge(
        "holdfast_cache_kept_bytes",
        f -> f.cache().keptBytes(),
        "What those residents take that are to stay because of their names, in whole pages.");
    table.gauge(
        "holdfast_cache_kept_items",
        f -> f.cache().keptItems(),
        "Residents that are to stay because of their names.");
    table.counter(
        "holdfast_cache_admitted_items_total",
        f -> f.cache().admittedItems(),
        "Items that the policy admitted.");
    table.counter(
        "holdfast_cache_refused_items_total",
        f -> f.cache().refusedItems(),
        "Items that the policy refused, each time they were fetched. Grows in each epoch when the"
            + " dataset is larger than the capacity.");
    table.counter(
        "holdfast_cache_evicted_items_total",
        f -> f.cache().evictedItems(),
        "Items that were given up again.");
    table.counter(
        "holdfast_cache_swapped_items_total",
        f -> f.cache().swappedItems(),
        "Items that were admitted in the place of one that was given up, to spread the residents"
            + " over an order that repeats, or by the plan of several nodes.");
    table.counter(
        "holdfast_cache_pin_failures_total",
        f -> f.cache().pinFailures(),
        "Admitted items that could not be pinned: limits of locked memory or of mappings.");
    table.gauge(
        "holdfast_cache_pin_backlog_bytes",
        f -> f.cache().pinBacklogBytes(),
        "Bytes of residents that are cached and not locked yet: pins come behind the readers.");
    table.gauge(
        "holdfast_cache_planned_hit_ratio",
        f -> f.cache().plannedHitRatio(),
        "Share of the bytes that each epoch from the second on will find resident here.");
    table.gauge(
        "holdfast_window_bytes",
        f -> f.transit().windowBytes(),
        "Pages of what was not admitted and is not dropped yet.");
    table.counter(
        "holdfast_window_dropped_bytes_total",
        f -> f.transit().droppedBytes(),
        "Pages of what was not admitted that were dropped after they were read.");
    table.gauge(
        "holdfast_kernel_cached_bytes",
        f -> f.kernel().cachedBytes(),
        "Pages of the mount in the page cache: residents and window.");
    return table.metrics;
  }

  private static List<Metric> ofTheAllocation() {
    Table table = new Table();
    table.gauge(
        "holdfast_allocation_budget_bytes",
        List.of(),
        allocation(told -> OptionalDouble.of((double) told.budgetBytes())),
        "Memory for all mounts of the node, as 'holdfast allocate' told this daemon last. This and"
            + " the next ones are there once it has; holdfast_cache_capacity_bytes is what the"
            + " mount has.");
    table.gauge(
        "holdfast_allocation_fair_share_bytes",
        List.of(),
        allocation(told -> number(told.fairShareBytes())),
        "The mount's part of the budget by weights, floors and ceilings. There where a job's rates"
            + " are known.");
    table.gauge(
        "holdfast_allocation_proposed_bytes",
        List.of(),
        allocation(told -> OptionalDouble.of((double) told.proposedBytes())),
        "The capacity that the mount is to have. With --watch it comes there in steps.");
    table.counter(
        "holdfast_allocation_changes_total",
        List.of(),
        allocation(told -> OptionalDouble.of((double) told.changes())),
        "How often 'holdfast allocate' set the capacity since this daemon began.");
    table.gauge(
        "holdfast_allocation_last_change_timestamp_seconds",
        List.of(),
        allocation(told -> number(told.changedSeconds())),
        "When it did so last, in seconds since 1970. There once it has.");
    return table.metrics;
  }

  private static OptionalDouble number(OptionalLong known) {
    return known.isPresent()
        ? OptionalDouble.of((double) known.getAsLong())
        : OptionalDouble.empty();
  }

  private static Function<Readings, List<Point>> allocation(
      Function<AllocationFigures, OptionalDouble> figure) {
    return r ->
        r.figures().allocation().map(figure).stream()
            .flatMapToDouble(OptionalDouble::stream)
            .mapToObj(Point::of)
            .toList();
  }

  private static List<Metric> ofReaders() {
    Table table = new Table();
    table.truth("holdfast_opens_counted", f -> f.opens().counted(), "Whether opens are counted.");
    table.counter(
        "holdfast_opens_total", f -> f.opens().total(), "Opens of files by applications.");
    table.counter(
        "holdfast_open_overflows_total",
        f -> f.opens().overflows(),
        "Times that opens came so much faster than they were counted that those waiting were not.");
    table.counter(
        "holdfast_read_requests_total",
        f -> f.reads().requests(),
        "Reads of applications that reached the daemon: what was not in the page cache.");
    table.counter(
        "holdfast_read_bytes_total",
        f -> f.reads().bytes(),
        "Bytes that the daemon answered them with.");
    table.counter("holdfast_read_errors_total", f -> f.reads().errors(), "Reads that failed.");
    table.counter(
        "holdfast_stall_seconds_total",
        f -> f.reads().stallSeconds(),
        "Time that readers were blocked, all added up. Its rate is how many readers wait at a"
            + " time.");
    table.counter(
        "holdfast_stall_peer_seconds_total",
        f -> f.reads().peerStallSeconds(),
        "The part of holdfast_stall_seconds_total that a peer answered; the rest is the origin's.");
    table.counter("holdfast_job_opens_total", "job_name", job(Job::opens), "Opens by a job.");
    table.counter(
        "holdfast_job_items_total",
        "job_name",
        job(Job::items),
        "Items of the files that a job opened: one for each file up to the item size.");
    table.counter(
        "holdfast_job_misses_total",
        "job_name",
        job(Job::misses),
        "Items that were fetched for a job, or that it had to wait for. 1 - misses/items is the hit"
            + " ratio.");
    table.counter(
        "holdfast_job_fetched_bytes_total",
        "job_name",
        job(Job::fetchedBytes),
        "Bytes fetched for a job.");
    table.counter(
        "holdfast_job_stall_seconds_total",
        "job_name",
        job(Job::stallSeconds),
        "Time that a job's readers were blocked.");
    table.counter(
        "holdfast_job_reader_seconds_total",
        List.of("job_name", "kind"),
        Metrics::readerSeconds,
        "What a job's readers did with their time: `fetch_origin` and `fetch_peer`: blocked by a"
            + " fetch; `preparation`: on a processor, or waiting for one; `back_pressure`: the"
            + " rest, waiting for the job to take what was read.");
    table.gauge(
        "holdfast_job_verdict",
        List.of("job_name", "verdict"),
        Metrics::verdicts,
        "1 for what a job waits for: `storage`, `preparation`, `accelerator` or `unknown`. Not there"
            + " once the job has ended.");
    table.gauge(
        "holdfast_job_processes", "job_name", job(Job::processes), "Processes of a job that read.");
    table.gauge(
        "holdfast_job_epoch",
        "job_name",
        job(Job::epoch),
        "Which pass over the dataset a job is in; 0 before the first.");
    return table.metrics;
  }

  private static List<Metric> ofOrders() {
    Table table = new Table();
    table.gauge(
        "holdfast_order_length",
        "job_name",
        order(OrderFigures::length),
        "Files of the order in which a job reads.");
    table.gauge(
        "holdfast_order_position",
        "job_name",
        order(OrderFigures::position),
        "The place in its order that the job has reached.");
    table.gauge(
        "holdfast_order_window_bytes",
        "job_name",
        order(OrderFigures::windowBytes),
        "Bytes that may be fetched ahead of the job's readers.");
    table.counter(
        "holdfast_order_prefetched_items_total",
        "job_name",
        order(OrderFigures::prefetchedItems),
        "Items that were fetched ahead because the order predicted them.");
    table.counter(
        "holdfast_order_used_items_total",
        "job_name",
        order(OrderFigures::usedItems),
        "Items that were fetched ahead and opened.");
    table.counter(
        "holdfast_order_wasted_bytes_total",
        "job_name",
        order(OrderFigures::wastedBytes),
        "Bytes that were fetched ahead and not opened in time.");
    table.counter(
        "holdfast_order_surprises_total",
        "job_name",
        order(OrderFigures::surprises),
        "Opens by the job of files that its order did not have near its place.");
    return table.metrics;
  }

  private static List<Metric> ofConvoys() {
    Table table = new Table();
    table.gauge(
        "holdfast_convoy_jobs",
        "job_name",
        convoy(ConvoyFigures::jobs),
        "Jobs that read one order together, of which one is named.");
    table.gauge(
        "holdfast_convoy_gap_bytes",
        "job_name",
        convoy(ConvoyFigures::gapBytes),
        "Bytes in transit, of files that a job has fetched and others have yet to read.");
    table.gauge(
        "holdfast_convoy_budget_bytes",
        "job_name",
        convoy(ConvoyFigures::budgetBytes),
        "The most bytes that all convoys may have there.");
    table.counter(
        "holdfast_convoy_delayed_seconds_total",
        "job_name",
        convoy(ConvoyFigures::delayedSeconds),
        "Time for which misses were delayed for jobs that come later, each job's by itself.");
    return table.metrics;
  }

  private static Function<Readings, List<Point>> convoy(ToDoubleFunction<ConvoyFigures> figure) {
    return r ->
        r.figures().convoys().stream()
            .map(convoy -> Point.of(figure.applyAsDouble(convoy), convoy.job()))
            .toList();
  }

  private static Function<Readings, List<Point>> order(ToDoubleFunction<OrderFigures> figure) {
    return r ->
        r.figures().orders().stream()
            .map(order -> Point.of(figure.applyAsDouble(order), order.job()))
            .toList();
  }

  private static List<Metric> ofFetches() {
    Table table = new Table();
    table.counter(
        "holdfast_fetched_items_total",
        "source",
        sources(Origin::items, Peers::items),
        "Items, or parts of items, that were fetched.");
    table.counter(
        "holdfast_fetched_bytes_total",
        "source",
        sources(Origin::bytes, Peers::bytes),
        "Bytes fetched.");
    table.counter(
        "holdfast_fetch_errors_total",
        "source",
        sources(Origin::errors, Peers::errors),
        "Fetches that failed: at a peer, after which the origin was asked, or at the origin for"
            + " good.");
    table.counter(
        "holdfast_fetch_retries_total",
        f -> f.fetches().origin().retries(),
        "Attempts at the origin that were made again after an error.");
    table.counter(
        "holdfast_fetches_coalesced_total",
        f -> f.fetches().coalesced(),
        "Reads that joined a fetch which another reader had started.");
    table.gauge("holdfast_fetches_in_flight", f -> f.fetches().inFlight(), "Fetches under way.");
    table.gauge(
        "holdfast_origin_fetches_limit",
        f -> f.fetches().origin().limit(),
        "How many the origin is asked for at once; 0 where readers fetch themselves.");
    table.gauge(
        "holdfast_origin_fetches_in_flight",
        f -> f.fetches().origin().inFlight(),
        "How many it is being asked for.");
    table.gauge(
        "holdfast_origin_fetches_queued",
        f -> f.fetches().origin().queued(),
        "Fetches that wait for their turn at the origin.");
    table.gauge(
        "holdfast_origin_fetches_stuck",
        f -> f.fetches().origin().stuck(),
        "Fetches that were given up and whose thread has not come back: the origin hangs.");
    table.gauge(
        "holdfast_origin_silent",
        f -> f.fetches().origin().silent() ? 1 : 0,
        "1 while the origin does not answer, so that what needs it fails at once.");
    table.counter(
        "holdfast_origin_silences_total",
        f -> f.fetches().origin().silences(),
        "How often the origin did not answer for so long that it was not asked for a while.");
    table.gauge(
        "holdfast_origin_unanswered_seconds",
        f -> f.fetches().origin().unansweredSeconds(),
        "For how long the origin has not answered; 0 while nobody waits for it.");
    table.histogram(
        "holdfast_origin_fetch_duration_seconds",
        f -> f.fetches().origin().durations(),
        "How long the origin took for an item or a part of one.");
    table.gauge(
        "holdfast_transit_capacity_bytes",
        f -> f.transit().capacityBytes(),
        "What may be held between fetch and use.");
    table.gauge("holdfast_transit_used_bytes", f -> f.transit().usedBytes(), "What is held there.");
    table.gauge(
        "holdfast_transit_reclaimable_bytes",
        f -> f.transit().reclaimableBytes(),
        "What of that is given up as soon as others need it.");
    return table.metrics;
  }

  private static List<Metric> ofPeers() {
    Table table = new Table();
    table.gauge(
        "holdfast_cluster_nodes", cluster(ClusterFigures::nodes), "Nodes that share the dataset.");
    table.gauge(
        "holdfast_cluster_suspect_nodes",
        cluster(ClusterFigures::suspect),
        "Nodes that are left alone for a while after a failure.");
    table.gauge(
        "holdfast_cluster_other_dataset_nodes",
        cluster(ClusterFigures::otherDataset),
        "Nodes that have another dataset by the same id; nothing is shared with them.");
    table.gauge(
        "holdfast_cluster_capacity_bytes",
        cluster(ClusterFigures::capacityBytes),
        "What all of them may keep together.");
    table.gauge(
        "holdfast_cluster_planned_hit_ratio",
        cluster(ClusterFigures::plannedHitRatio),
        "Share of the bytes that each epoch from the second on will find here or at a peer.");
    table.gauge(
        "holdfast_cluster_share_ratio",
        cluster(ClusterFigures::share),
        "Share of the items that this node owns.");
    table.gauge(
        "holdfast_plan_followed",
        cluster(each -> each.plan().isFollowed() ? 1 : 0),
        "1 while the nodes follow a plan of their ranks' orders.");
    table.gauge(
        "holdfast_plan_local_bytes",
        cluster(each -> each.plan().localBytes()),
        "What this node's ranks are to read in the epoch from its own memory.");
    table.gauge(
        "holdfast_plan_peer_bytes",
        cluster(each -> each.plan().peerBytes()),
        "What they are to read in it through other nodes.");
    table.gauge(
        "holdfast_plan_origin_bytes",
        cluster(each -> each.plan().originBytes()),
        "What this node is to fetch in it from the origin.");
    table.gauge(
        "holdfast_plan_elsewhere_items",
        cluster(each -> each.plan().elsewhereItems()),
        "Items that were not where the plan says, since it is followed.");
    table.counter(
        "holdfast_cluster_refusals_total",
        "reason",
        Metrics::refusals,
        "Requests of peers that were refused.");
    table.gauge(
        "holdfast_peer_state",
        List.of("node", "state"),
        Metrics::states,
        "1 for the state that a node is in: `self`, `up`, `suspect`, `comparing` or `other"
            + " dataset`.");
    table.gauge(
        "holdfast_peer_capacity_bytes",
        "node",
        node(NodeFigures::capacityBytes),
        "What a node may keep.");
    table.gauge(
        "holdfast_peer_resident_bytes",
        "node",
        node(NodeFigures::residentBytes),
        "What a node said last that it keeps.");
    table.counter(
        "holdfast_peer_received_items_total",
        "node",
        node(NodeFigures::itemsIn),
        "Items that came from a node.");
    table.counter(
        "holdfast_peer_received_bytes_total",
        "node",
        node(NodeFigures::bytesIn),
        "Bytes that came from a node.");
    table.counter(
        "holdfast_peer_sent_items_total",
        "node",
        node(NodeFigures::itemsOut),
        "Items sent to a node.");
    table.counter(
        "holdfast_peer_sent_bytes_total",
        "node",
        node(NodeFigures::bytesOut),
        "Bytes sent to a node.");
    table.counter(
        "holdfast_peer_errors_total",
        "node",
        node(NodeFigures::errors),
        "How many times asking a node failed.");
    table.summary(
        "holdfast_peer_fetch_duration_seconds", "From asking a node to the last byte of an item.");
    return table.metrics;
  }

  private static List<Metric> ofTheDataset() {
    Table table = new Table();
    table.gauge(
        "holdfast_dataset_files", f -> f.dataset().files(), "Files counted by the last scan.");
    table.gauge("holdfast_dataset_bytes", f -> f.dataset().bytes(), "Bytes in them.");
    table.truth(
        "holdfast_dataset_scanned",
        f -> f.dataset().scanned(),
        "Whether all of the dataset was counted.");
    table.gauge(
        "holdfast_dataset_scan_duration_seconds",
        f -> f.dataset().scanSeconds(),
        "How long the last scan took.");
    table.gauge(
        "holdfast_dataset_scan_age_seconds",
        f -> f.dataset().scanAgeSeconds(),
        "Time since the last complete scan ended.");
    table.gauge(
        "holdfast_dataset_names",
        f -> f.dataset().names(),
        "Names of files and directories that are known.");
    table.gauge(
        "holdfast_dataset_names_bytes", f -> f.dataset().namesBytes(), "Memory that they take.");
    table.gauge(
        "holdfast_dataset_names_elsewhere_bytes",
        f -> f.dataset().namesElsewhereBytes(),
        "What of it found no room in the mount's directory in /run.");
    table.counter(
        "holdfast_dataset_incomplete_listings_total",
        f -> f.dataset().incompleteListings(),
        "Listings of directories that failed before their end, of scans and of readers.");
    table.gauge(
        "holdfast_dataset_hidden_keys",
        f -> f.dataset().hiddenKeys(),
        "Keys of the store that have no path, and are not shown.");
    table.gauge(
        "holdfast_dataset_loaded_entries",
        f -> f.dataset().entriesLoaded(),
        "Names that were known from a mount before this one.");
    return table.metrics;
  }

  private static List<Metric> ofTheDaemon() {
    Table table = new Table();
    table.gauge(
        "holdfast_memory_limit_bytes",
        f -> f.process().memoryLimitBytes(),
        "The ceiling for everything together.");
    table.gauge(
        "holdfast_memory_used_bytes",
        f -> f.memory().usedBytes(),
        "What residents and the daemon have of it.");
    table.gauge(
        "holdfast_memory_allowed_bytes",
        f -> f.memory().allowedBytes(),
        "What residents may take now: the capacity, or less while others need memory.");
    table.gauge(
        "holdfast_memory_state",
        "state",
        r -> List.of(Point.of(1, r.figures().memory().state())),
        "1 for the state that residents are in: `ok`, `limited`, `shrinking` or `growing`.");
    table.gauge(
        "holdfast_memory_available_bytes",
        "place",
        Metrics::rooms,
        "What is left of the machine's memory, and of each cgroup of the daemon.");
    table.counter(
        "holdfast_memory_given_up_bytes_total",
        f -> f.memory().givenUpBytes(),
        "Residents that made way for others, or for the ceiling.");
    table.gauge(
        "holdfast_process_anonymous_bytes",
        f -> known(f.process().rssAnonBytes()),
        "Memory of the daemon itself that is in use; residents, which are pages of the cache, are"
            + " not in it.");
    table.gauge(
        "holdfast_process_locked_bytes",
        f -> known(f.process().lockedBytes()),
        "Memory that is locked: residents.");
    table.gauge(
        "holdfast_heap_used_bytes", f -> f.process().heapUsedBytes(), "The heap's part in use.");
    table.gauge(
        "holdfast_heap_max_bytes", f -> f.process().heapMaxBytes(), "What the heap may take.");
    table.gauge(
        "holdfast_direct_memory_bytes",
        f -> f.process().directBytes(),
        "Memory of buffers outside the heap.");
    table.gauge("holdfast_process_threads", f -> known(f.process().threads()), "Threads.");
    table.gauge(
        "holdfast_process_descriptors", f -> known(f.process().descriptors()), "Open descriptors.");
    table.gauge(
        "holdfast_process_descriptors_limit",
        f -> known(f.process().descriptorsLimit()),
        "How many there may be.");
    table.counter(
        "holdfast_process_cpu_seconds_total",
        f -> known(f.process().cpuSeconds()),
        "Processor time of the daemon.");
    table.counter(
        "holdfast_access_log_lines_total",
        "fate",
        Metrics::fates,
        "Events for the access log: `written`; `sampled_out`, as asked for; `dropped`, because"
            + " what takes them was too slow, or away.");
    return table.metrics;
  }

  private static List<Point> readerSeconds(Readings readings) {
    List<Point> points = new ArrayList<>();
    for (Job job : readings.figures().jobs().jobs()) {
      Split seconds = job.splitSeconds().orElse(null);
      if (seconds != null) {
        points.add(Point.of(seconds.fetchOrigin(), job.job(), "fetch_origin"));
        points.add(Point.of(seconds.fetchPeer(), job.job(), "fetch_peer"));
        points.add(Point.of(seconds.preparation(), job.job(), "preparation"));
        points.add(Point.of(seconds.backPressure(), job.job(), "back_pressure"));
      }
    }
    return points;
  }

  private static List<Point> verdicts(Readings readings) {
    return readings.figures().jobs().jobs().stream()
        .filter(job -> !job.verdict().isEmpty() && !job.isOver())
        .map(job -> Point.of(1, job.job(), job.verdict()))
        .toList();
  }

  private static Function<Readings, List<Point>> job(ToDoubleFunction<Job> figure) {
    return r ->
        r.figures().jobs().jobs().stream()
            .map(job -> Point.of(figure.applyAsDouble(job), job.job()))
            .toList();
  }

  private static Function<Readings, List<Point>> node(ToDoubleFunction<NodeFigures> figure) {
    return r ->
        r.nodes().stream().map(node -> Point.of(figure.applyAsDouble(node), node.node())).toList();
  }

  private static List<Point> states(Readings readings) {
    return readings.nodes().stream()
        .filter(node -> !node.state().isEmpty())
        .map(node -> Point.of(1, node.node(), node.state()))
        .toList();
  }

  private static ToDoubleFunction<Figures> cluster(ToDoubleFunction<ClusterFigures> figure) {
    return f -> f.cluster().map(figure::applyAsDouble).orElse(Point.UNKNOWN);
  }

  private static List<Point> refusals(Readings readings) {
    return readings.figures().cluster().map(cluster -> each(cluster.refusals())).orElse(List.of());
  }

  private static Function<Readings, List<Point>> sources(
      ToDoubleFunction<Origin> origin, ToDoubleFunction<Peers> peer) {
    return r ->
        List.of(
            Point.of(origin.applyAsDouble(r.figures().fetches().origin()), "origin"),
            Point.of(peer.applyAsDouble(r.figures().fetches().peer()), "peer"));
  }

  private static List<Point> errors(Readings readings) {
    List<Point> points = new ArrayList<>();
    ErrorFigures errors = readings.figures().errors();
    errors.read().forEach((cause, count) -> points.add(Point.of(count, "read", cause)));
    errors.fetch().forEach((cause, count) -> points.add(Point.of(count, "fetch", cause)));
    return points;
  }

  private static List<Point> rooms(Readings readings) {
    return readings.figures().memory().rooms().stream()
        .map(room -> Point.of(room.availableBytes(), room.place()))
        .toList();
  }

  private static List<Point> fates(Readings readings) {
    AccessLogFigures log = readings.figures().accessLog();
    return List.of(
        Point.of(log.written(), "written"),
        Point.of(log.sampledOut(), "sampled_out"),
        Point.of(log.dropped(), "dropped"));
  }

  private static List<Point> each(Map<String, Long> counts) {
    return counts.entrySet().stream()
        .map(each -> Point.of(each.getValue(), each.getKey()))
        .toList();
  }

  private static double known(OptionalLong figure) {
    return figure.isPresent() ? figure.getAsLong() : Point.UNKNOWN;
  }

  private static double known(OptionalDouble figure) {
    return figure.orElse(Point.UNKNOWN);
  }

  /** Collects metrics in the order of their declaration; the unit follows from the name. */
  private static final class Table {
    private static final double MICROS = 1e6;

    final List<Metric> metrics = new ArrayList<>();

    void counter(String name, ToDoubleFunction<Figures> figure, String meaning) {
      add(name, Metric.Type.COUNTER, unit(name), meaning, List.of(), one(figure));
    }

    void counter(
        String name, String label, Function<Readings, List<Point>> points, String meaning) {
      counter(name, List.of(label), points, meaning);
    }

    void counter(
        String name, List<String> labels, Function<Readings, List<Point>> points, String meaning) {
      add(name, Metric.Type.COUNTER, unit(name), meaning, labels, points);
    }

    void gauge(String name, ToDoubleFunction<Figures> figure, String meaning) {
      add(name, Metric.Type.GAUGE, unit(name), meaning, List.of(), one(figure));
    }

    void gauge(String name, String label, Function<Readings, List<Point>> points, String meaning) {
      gauge(name, List.of(label), points, meaning);
    }

    void gauge(
        String name, List<String> labels, Function<Readings, List<Point>> points, String meaning) {
      add(name, Metric.Type.GAUGE, unit(name), meaning, labels, points);
    }

    void truth(String name, Predicate<Figures> figure, String meaning) {
      Function<Readings, List<Point>> point = one(f -> figure.test(f) ? 1 : 0);
      add(name, Metric.Type.GAUGE, Unit.TRUTH, meaning, List.of(), point);
    }

    void info(
        String name, String meaning, List<String> labels, Function<Figures, List<String>> values) {
      Function<Readings, List<Point>> point =
          r -> List.of(new Point(values.apply(r.figures()), 1, Map.of()));
      add(name, Metric.Type.INFO, Unit.TRUTH, meaning, labels, point);
    }

    /** Declares a summary for each node, with the median and the 99th percentile. */
    void summary(String name, String meaning) {
      Function<Readings, List<Point>> points =
          r ->
              r.nodes().stream()
                  .flatMap(
                      node ->
                          Stream.of(
                              Point.of(node.p50Us() / MICROS, node.node(), "0.5"),
                              Point.of(node.p99Us() / MICROS, node.node(), "0.99")))
                  .toList();
      add(name, Metric.Type.SUMMARY, unit(name), meaning, List.of("node", "quantile"), points);
    }

    void histogram(String name, Function<Figures, FetchFigures.Durations> figure, String meaning) {
      Function<Readings, List<Point>> point = r -> List.of(Point.of(figure.apply(r.figures())));
      add(name, Metric.Type.HISTOGRAM, unit(name), meaning, List.of("le"), point);
    }

    private static Function<Readings, List<Point>> one(ToDoubleFunction<Figures> figure) {
      return r -> List.of(Point.of(figure.applyAsDouble(r.figures())));
    }

    private void add(
        String name,
        Metric.Type type,
        Unit unit,
        String meaning,
        List<String> labels,
        Function<Readings, List<Point>> points) {
      metrics.add(new Metric(name, type, unit, meaning, labels, points));
    }

    private static Unit unit(String name) {
      String base = name.endsWith("_total") ? name.substring(0, name.length() - 6) : name;
      for (Unit unit : List.of(Unit.BYTES, Unit.SECONDS, Unit.RATIO)) {
        if (base.endsWith(unit.suffix())) {
          return unit;
        }
      }
      return Unit.COUNT;
    }
  }
}
