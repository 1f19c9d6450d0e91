package io.holdfast.fs.control;

import io.holdfast.fs.units.Human;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The figures of a mount as aligned text for people: {@code /.holdfast/stats} and {@code holdfast
 * stats}. Takes the map of {@link ControlCommands#stats()}; figures that are missing there show as
 * 0. Stateless.
 */
public final class StatsText {
  private static final int JOBS_SHOWN = 8;

  private final StringBuilder text = new StringBuilder();

  private StatsText() {}

  /**
   * Shows the figures.
   *
   * @param stats as from {@link ControlCommands#stats()}
   * @return lines, each with its end
   */
  public static String of(Map<String, Object> stats) {
    return new StatsText().all(new Figures(stats));
  }

  private String all(Figures stats) {
    text.append(stats.text("name")).append('\n');
    row("origin", stats.text("origin"));
    row("mountpoint", stats.text("mountpoint"));
    row("up", Human.seconds(stats.number("uptime_seconds")) + since(stats.text("mounted_at")));
    row("version", stats.text("version"));
    row("binding", stats.group("kernel").text("binding") + restarts(stats.group("kernel")));
    dataset(stats.group("dataset"));
    cache(stats);
    opens(stats.group("opens"));
    jobs(stats.group("jobs"));
    fetches(stats.group("fetches"));
    cluster(stats.group("cluster"));
    reads(stats.group("reads"));
    transit(stats.group("transit"));
    memory(stats.group("memory"));
    kernel(stats.group("kernel"));
    return text.toString();
  }

  private static String restarts(Figures kernel) {
    long restarts = kernel.number("daemon_restarts");
    return restarts == 0 ? "" : ", daemon started again " + Human.count(restarts, "time");
  }

  private void dataset(Figures dataset) {
    heading("dataset");
    boolean scanned = dataset.is("scanned");
    row("files", Human.count(dataset.number("files")) + (scanned ? "" : " so far: still scanning"));
    row("size", Human.bytes(dataset.number("bytes")));
  }

  private void cache(Figures stats) {
    Figures cache = stats.group("cache");
    long capacity = cache.number("capacity_bytes");
    long resident = cache.number("resident_bytes");
    heading("cache");
    row("policy", cache.text("policy") + ", " + cache.text("pin") + " pins");
    row(
        "resident",
        "%s of %s (%s)",
        Human.bytes(resident),
        Human.bytes(capacity),
        percent(resident, capacity));
    row("items", "%s resident", Human.grouped(cache.number("resident_items")));
    row(
        "decisions",
        "%s admitted, %s refused, %s evicted",
        Human.grouped(cache.number("admitted_items")),
        Human.grouped(cache.number("refused_items")),
        Human.grouped(cache.number("evicted_items")));
    row(
        "hit ratio",
        "%s planned, %s so far",
        stats.group("dataset").is("scanned") ? Human.ratio(cache.real("planned_hit_ratio")) : "-",
        hitRatio(stats));
  }

  private void opens(Figures opens) {
    heading("opens");
    if (!opens.is("counted")) {
      row("total", "not counted");
      return;
    }
    row("total", Human.grouped(opens.number("total")));
  }

  /** By what the jobs are told apart, and those that have opened most. */
  private void jobs(Figures jobs) {
    List<Figures> all = jobs.groups("jobs");
    if (all.isEmpty()) {
      return;
    }
    heading("jobs, by " + jobs.text("by"));
    JobsText.jobs(all, JOBS_SHOWN).lines().forEach(line -> text.append("  " + line + "\n"));
    if (all.size() > JOBS_SHOWN) {
      text.append("  and " + (all.size() - JOBS_SHOWN) + " more: 'holdfast stats --jobs'\n");
    }
  }

  private void fetches(Figures fetches) {
    Figures origin = fetches.group("origin");
    Figures peer = fetches.group("peer");
    heading("fetches");
    row(
        "from origin",
        "%s items, %s, errors %s, retries %s",
        Human.grouped(origin.number("items")),
        Human.bytes(origin.number("bytes")),
        Human.grouped(origin.number("errors")),
        Human.grouped(origin.number("retries")));
    if (peer.number("items") + peer.number("errors") > 0) {
      row(
          "from peers",
          "%s items, %s, errors %s",
          Human.grouped(peer.number("items")),
          Human.bytes(peer.number("bytes")),
          Human.grouped(peer.number("errors")));
    }
    row("shared", "%s waited for another's fetch", Human.grouped(fetches.number("coalesced")));
    row("in flight", Human.grouped(fetches.number("in_flight")) + turns(origin));
  }

  private static String turns(Figures origin) {
    long limit = origin.number("limit");
    long stuck = origin.number("stuck");
    return limit == 0
        ? ""
        : "; at the origin %d of at most %d, %d wait%s%s"
            .formatted(
                origin.number("in_flight"),
                limit,
                origin.number("queued"),
                stuck == 0 ? "" : ", " + stuck + " never came back",
                origin.is("silent") ? "; it does not answer" : "");
  }

  private void cluster(Figures cluster) {
    long nodes = cluster.number("nodes");
    if (nodes == 0) {
      return;
    }
    heading("cluster");
    row(
        "nodes",
        "%s, %s suspect; 'holdfast peers' shows them",
        Human.grouped(nodes),
        Human.grouped(cluster.number("suspect")));
    row("capacity", Human.bytes(cluster.number("capacity_bytes")) + " in all nodes");
    row("own share", Human.ratio(cluster.real("share")));
    row("hit ratio", Human.ratio(cluster.real("planned_hit_ratio")) + " planned, with peers");
    Map<String, Long> refusals = cluster.group("refusals").numbers();
    if (!refusals.isEmpty()) {
      row(
          "refused",
          refusals.entrySet().stream()
              .map(e -> e.getKey() + " " + Human.grouped(e.getValue()))
              .collect(Collectors.joining(", ")));
    }
  }

  private void reads(Figures reads) {
    heading("reads that reached the daemon");
    row("requests", Human.grouped(reads.number("requests")));
    row("size", Human.bytes(reads.number("bytes")));
    row("errors", Human.grouped(reads.number("errors")));
    row("stalled", "%.1f s, all readers together", reads.real("stall_seconds"));
  }

  private void transit(Figures transit) {
    heading("transit");
    row(
        "in use",
        "%s of %s",
        Human.bytes(transit.number("used_bytes")),
        Human.bytes(transit.number("capacity_bytes")));
    row(
        "window",
        "%s now, %s dropped",
        Human.bytes(transit.number("window_bytes")),
        Human.bytes(transit.number("dropped_bytes")));
  }

  private void memory(Figures memory) {
    heading("memory");
    row(
        "in use",
        "%s of %s, at most %s so far",
        Human.bytes(memory.number("used_bytes")),
        Human.bytes(memory.number("limit_bytes")),
        Human.bytes(memory.number("peak_bytes")));
    if (!memory.text("state").equals("ok")) {
      row(
          "residents",
          "%s because of %s: they may take %s",
          memory.text("state"),
          memory.text("cause"),
          Human.bytes(memory.number("allowed_bytes")));
    }
    long times = memory.number("given_up_times");
    if (times > 0) {
      row(
          "made way",
          "%s in %s, %s",
          Human.bytes(memory.number("given_up_bytes")),
          Human.count(memory.number("given_up_items"), "item"),
          Human.count(times, "time"));
    }
  }

  private void kernel(Figures kernel) {
    heading("kernel");
    row("page cache", Human.bytes(kernel.number("cached_bytes")));
    Map<String, Long> requests = kernel.group("requests").numbers();
    if (!requests.isEmpty()) {
      row(
          "requests",
          requests.entrySet().stream()
              .map(e -> e.getKey() + " " + Human.grouped(e.getValue()))
              .collect(Collectors.joining(", ")));
    }
  }

  /** The share of opens that needed no fetch, or a dash where that cannot be told. */
  private static String hitRatio(Figures stats) {
    Figures fetches = stats.group("fetches");
    long fetched = fetches.group("origin").number("items") + fetches.group("peer").number("items");
    Figures opens = stats.group("opens");
    return opens.is("counted") ? hitRatio(opens.number("total"), fetched) : "-";
  }

  /** The same from the numbers alone; files of several items may need more fetches than opens. */
  static String hitRatio(long opens, long fetched) {
    return opens == 0 || fetched > opens ? "-" : Human.ratio(1 - (double) fetched / opens);
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
    text.append(String.format(Locale.ROOT, "  %-12s  %s%n", name, value));
  }
}
