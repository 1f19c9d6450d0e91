package io.holdfast.fs.metrics;

import io.holdfast.fs.metrics.Metric.Unit;
import java.util.ArrayList;
import java.util.List;

/**
 * All metrics there are. The scrape, METRICS.md and the tests of the dashboard follow from this
 * list. Stateless.
 */
public final class Metrics {
  private static final String JOB = "jobs.jobs.[job=job_name].";
  private static final String PEER = "peers.[node].";

  private static final List<Group> GROUPS =
      List.of(
          new Group("The mount", ofTheMount()),
          new Group("Cache", ofTheCache()),
          new Group("Opens, reads and jobs", ofReaders()),
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
    table.info("holdfast_build_info", "Holdfast's version.", "version");
    table.info(
        "holdfast_mount_info",
        "What is mounted where, and how.",
        "origin",
        "mountpoint",
        "cache.policy",
        "cache.pin",
        "kernel.binding");
    table.gauge(
        "holdfast_uptime_seconds", "uptime_seconds", "Time since this daemon took the mount.");
    table.counter(
        "holdfast_daemon_restarts_total",
        "kernel.daemon_restarts",
        "Daemons that this mount has had before this one: killed and replaced, or restarted.");
    table.counter(
        "holdfast_kernel_requests_total",
        "kernel.requests.{opcode}",
        "Requests of the kernel to this daemon. A hit costs none but the IOCTL of programs that"
            + " ask for a terminal.");
    table.counter(
        "holdfast_errors_total",
        "errors.{operation}.{cause}",
        "What failed for good: a `read` that its reader saw fail, a `fetch` from the origin.");
    return table.metrics;
  }

  private static List<Metric> ofTheCache() {
    Table table = new Table();
    table.gauge(
        "holdfast_cache_capacity_bytes", "cache.capacity_bytes", "What residents may take.");
    table.gauge(
        "holdfast_cache_resident_bytes",
        "cache.resident_bytes",
        "What residents take, in whole pages.");
    table.gauge(
        "holdfast_cache_resident_items", "cache.resident_items", "Items that are resident.");
    table.gauge(
        "holdfast_cache_kept_bytes",
        "cache.kept_bytes",
        "What those residents take that are to stay because of their names, in whole pages.");
    table.gauge(
        "holdfast_cache_kept_items",
        "cache.kept_items",
        "Residents that are to stay because of their names.");
    table.counter(
        "holdfast_cache_admitted_items_total",
        "cache.admitted_items",
        "Items that the policy admitted.");
    table.counter(
        "holdfast_cache_refused_items_total",
        "cache.refused_items",
        "Items that the policy refused, each time they were fetched. Grows in each epoch when the"
            + " dataset is larger than the capacity.");
    table.counter(
        "holdfast_cache_evicted_items_total",
        "cache.evicted_items",
        "Items that were given up again.");
    table.counter(
        "holdfast_cache_pin_failures_total",
        "cache.pin_failures",
        "Admitted items that could not be pinned: limits of locked memory or of mappings.");
    table.gauge(
        "holdfast_cache_planned_hit_ratio",
        "cache.planned_hit_ratio",
        "Share of the bytes that each epoch from the second on will find resident here.");
    table.gauge(
        "holdfast_window_bytes",
        "transit.window_bytes",
        "Pages of what was not admitted and is not dropped yet.");
    table.counter(
        "holdfast_window_dropped_bytes_total",
        "transit.dropped_bytes",
        "Pages of what was not admitted that were dropped after they were read.");
    table.gauge(
        "holdfast_kernel_cached_bytes",
        "kernel.cached_bytes",
        "Pages of the mount in the page cache: residents and window.");
    return table.metrics;
  }

  private static List<Metric> ofReaders() {
    Table table = new Table();
    table.truth("holdfast_opens_counted", "opens.counted", "Whether opens are counted.");
    table.counter("holdfast_opens_total", "opens.total", "Opens of files by applications.");
    table.counter(
        "holdfast_read_requests_total",
        "reads.requests",
        "Reads of applications that reached the daemon: what was not in the page cache.");
    table.counter(
        "holdfast_read_bytes_total", "reads.bytes", "Bytes that the daemon answered them with.");
    table.counter("holdfast_read_errors_total", "reads.errors", "Reads that failed.");
    table.counter(
        "holdfast_stall_seconds_total",
        "reads.stall_seconds",
        "Time that readers were blocked, all added up. Its rate is how many readers wait at a"
            + " time.");
    table.counter("holdfast_job_opens_total", JOB + "opens", "Opens by a job.");
    table.counter(
        "holdfast_job_misses_total",
        JOB + "misses",
        "Opens by a job that had to wait for a fetch. 1 - misses/opens is the hit ratio.");
    table.counter(
        "holdfast_job_fetched_bytes_total", JOB + "fetched_bytes", "Bytes fetched for a job.");
    table.counter(
        "holdfast_job_stall_seconds_total",
        JOB + "stall_seconds",
        "Time that a job's readers were blocked.");
    table.gauge("holdfast_job_processes", JOB + "processes", "Processes of a job that read.");
    table.gauge("holdfast_job_epoch", JOB + "epoch", "Which pass over the dataset a job is in.");
    return table.metrics;
  }

  private static List<Metric> ofFetches() {
    Table table = new Table();
    table.counter(
        "holdfast_fetched_items_total",
        "fetches.{source}.items",
        "Items, or parts of items, that were fetched.");
    table.counter("holdfast_fetched_bytes_total", "fetches.{source}.bytes", "Bytes fetched.");
    table.counter(
        "holdfast_fetch_errors_total",
        "fetches.{source}.errors",
        "Fetches that failed: at a peer, after which the origin was asked, or at the origin for"
            + " good.");
    table.counter(
        "holdfast_fetch_retries_total",
        "fetches.origin.retries",
        "Attempts at the origin that were made again after an error.");
    table.counter(
        "holdfast_fetches_coalesced_total",
        "fetches.coalesced",
        "Reads that joined a fetch which another reader had started.");
    table.gauge("holdfast_fetches_in_flight", "fetches.in_flight", "Fetches under way.");
    table.gauge(
        "holdfast_origin_fetches_limit",
        "fetches.origin.limit",
        "How many the origin is asked for at once; 0 where readers fetch themselves.");
    table.gauge(
        "holdfast_origin_fetches_in_flight",
        "fetches.origin.in_flight",
        "How many it is being asked for.");
    table.gauge(
        "holdfast_origin_fetches_queued",
        "fetches.origin.queued",
        "Fetches that wait for their turn at the origin.");
    table.gauge(
        "holdfast_origin_fetches_stuck",
        "fetches.origin.stuck",
        "Fetches that were given up and whose thread has not come back: the origin hangs.");
    table.gauge(
        "holdfast_origin_silent",
        "fetches.origin.silent",
        "1 while the origin does not answer, so that what needs it fails at once.");
    table.counter(
        "holdfast_origin_silences_total",
        "fetches.origin.silences",
        "How often the origin did not answer for so long that it was not asked for a while.");
    table.gauge(
        "holdfast_origin_unanswered_seconds",
        "fetches.origin.unanswered_seconds",
        "For how long the origin has not answered; 0 while nobody waits for it.");
    table.histogram(
        "holdfast_origin_fetch_duration_seconds",
        "fetches.origin.durations",
        "How long the origin took for an item or a part of one.");
    table.gauge(
        "holdfast_transit_capacity_bytes",
        "transit.capacity_bytes",
        "What may be held between fetch and use.");
    table.gauge("holdfast_transit_used_bytes", "transit.used_bytes", "What is held there.");
    table.gauge(
        "holdfast_transit_reclaimable_bytes",
        "transit.reclaimable_bytes",
        "What of that is given up as soon as others need it.");
    return table.metrics;
  }

  private static List<Metric> ofPeers() {
    Table table = new Table();
    table.gauge("holdfast_cluster_nodes", "cluster.nodes", "Nodes that share the dataset.");
    table.gauge(
        "holdfast_cluster_suspect_nodes",
        "cluster.suspect",
        "Nodes that are left alone for a while after a failure.");
    table.gauge(
        "holdfast_cluster_capacity_bytes",
        "cluster.capacity_bytes",
        "What all of them may keep together.");
    table.gauge(
        "holdfast_cluster_planned_hit_ratio",
        "cluster.planned_hit_ratio",
        "Share of the bytes that each epoch from the second on will find here or at a peer.");
    table.gauge(
        "holdfast_cluster_share_ratio", "cluster.share", "Share of the items that this node owns.");
    table.counter(
        "holdfast_cluster_refusals_total",
        "cluster.refusals.{reason}",
        "Requests of peers that were refused.");
    table.gauge(
        "holdfast_peer_state",
        PEER + "state.{state}",
        "1 for the state that a node is in: `self`, `up`, `suspect` or `other dataset`.");
    table.gauge("holdfast_peer_capacity_bytes", PEER + "capacity_bytes", "What a node may keep.");
    table.gauge(
        "holdfast_peer_resident_bytes",
        PEER + "resident_bytes",
        "What a node said last that it keeps.");
    table.counter(
        "holdfast_peer_received_items_total", PEER + "items_in", "Items that came from a node.");
    table.counter(
        "holdfast_peer_received_bytes_total", PEER + "bytes_in", "Bytes that came from a node.");
    table.counter("holdfast_peer_sent_items_total", PEER + "items_out", "Items sent to a node.");
    table.counter("holdfast_peer_sent_bytes_total", PEER + "bytes_out", "Bytes sent to a node.");
    table.counter(
        "holdfast_peer_errors_total", PEER + "errors", "How many times asking a node failed.");
    table.summary(
        "holdfast_peer_fetch_duration_seconds",
        "From asking a node to the last byte of an item.",
        PEER + "p50_us",
        PEER + "p99_us");
    return table.metrics;
  }

  private static List<Metric> ofTheDataset() {
    Table table = new Table();
    table.gauge("holdfast_dataset_files", "dataset.files", "Files counted by the last scan.");
    table.gauge("holdfast_dataset_bytes", "dataset.bytes", "Bytes in them.");
    table.truth(
        "holdfast_dataset_scanned", "dataset.scanned", "Whether all of the dataset was counted.");
    table.gauge(
        "holdfast_dataset_scan_duration_seconds",
        "dataset.scan_seconds",
        "How long the last scan took.");
    table.gauge(
        "holdfast_dataset_scan_age_seconds",
        "dataset.scan_age_seconds",
        "Time since the last complete scan ended.");
    table.gauge(
        "holdfast_dataset_names",
        "dataset.names",
        "Names of files and directories that are known.");
    table.gauge("holdfast_dataset_names_bytes", "dataset.names_bytes", "Memory that they take.");
    table.gauge(
        "holdfast_dataset_loaded_entries",
        "dataset.entries_loaded",
        "Names that were known from a mount before this one.");
    return table.metrics;
  }

  private static List<Metric> ofTheDaemon() {
    Table table = new Table();
    table.gauge(
        "holdfast_memory_limit_bytes",
        "process.memory_limit_bytes",
        "The ceiling for everything together.");
    table.gauge(
        "holdfast_memory_used_bytes",
        "memory.used_bytes",
        "What residents and the daemon have of it.");
    table.gauge(
        "holdfast_memory_allowed_bytes",
        "memory.allowed_bytes",
        "What residents may take now: the capacity, or less while others need memory.");
    table.gauge(
        "holdfast_memory_state",
        "memory.state.{state}",
        "1 for the state that residents are in: `ok`, `limited`, `shrinking` or `growing`.");
    table.gauge(
        "holdfast_memory_available_bytes",
        "memory.rooms.[place].available_bytes",
        "What is left of the machine's memory, and of each cgroup of the daemon.");
    table.counter(
        "holdfast_memory_given_up_bytes_total",
        "memory.given_up_bytes",
        "Residents that made way for others, or for the ceiling.");
    table.gauge(
        "holdfast_process_anonymous_bytes",
        "process.rss_anon_bytes",
        "Memory of the daemon itself that is in use; residents, which are pages of the cache, are"
            + " not in it.");
    table.gauge(
        "holdfast_process_locked_bytes",
        "process.locked_bytes",
        "Memory that is locked: residents.");
    table.gauge("holdfast_heap_used_bytes", "process.heap_used_bytes", "The heap's part in use.");
    table.gauge("holdfast_heap_max_bytes", "process.heap_max_bytes", "What the heap may take.");
    table.gauge(
        "holdfast_direct_memory_bytes",
        "process.direct_bytes",
        "Memory of buffers outside the heap.");
    table.gauge("holdfast_process_threads", "process.threads", "Threads.");
    table.gauge("holdfast_process_descriptors", "process.descriptors", "Open descriptors.");
    table.gauge(
        "holdfast_process_descriptors_limit",
        "process.descriptors_limit",
        "How many there may be.");
    table.counter(
        "holdfast_process_cpu_seconds_total",
        "process.cpu_seconds",
        "Processor time of the daemon.");
    table.counter(
        "holdfast_access_log_lines_total",
        "access_log.{fate}",
        "Events for the access log: `written`; `sampled_out`, as asked for; `dropped`, because"
            + " what takes them was too slow, or away.");
    return table.metrics;
  }

  /** Metrics in the order in which they are declared; the unit follows from the name. */
  private static final class Table {
    final List<Metric> metrics = new ArrayList<>();

    void counter(String name, String figure, String meaning) {
      add(name, Metric.Type.COUNTER, unit(name), meaning, figure);
    }

    void gauge(String name, String figure, String meaning) {
      add(name, Metric.Type.GAUGE, unit(name), meaning, figure);
    }

    void truth(String name, String figure, String meaning) {
      add(name, Metric.Type.GAUGE, Unit.TRUTH, meaning, figure);
    }

    void info(String name, String meaning, String... labels) {
      add(name, Metric.Type.INFO, Unit.TRUTH, meaning, labels);
    }

    void summary(String name, String meaning, String p50, String p99) {
      add(name, Metric.Type.SUMMARY, unit(name), meaning, p50, p99);
    }

    void histogram(String name, String figure, String meaning) {
      add(name, Metric.Type.HISTOGRAM, unit(name), meaning, figure);
    }

    private void add(String name, Metric.Type type, Unit unit, String meaning, String... figures) {
      metrics.add(new Metric(name, type, unit, meaning, List.of(figures)));
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
