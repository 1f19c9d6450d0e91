package io.holdfast.fs.daemon;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.control.ConfigText;
import io.holdfast.fs.control.ControlFiles.Content;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.control.PeersText;
import io.holdfast.fs.control.StatsText;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.NodeFigures;
import io.holdfast.fs.metrics.Exposition;
import io.holdfast.fs.page.Recent;
import io.holdfast.fs.settings.SettingRow;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.StatsAudience;
import io.holdfast.fs.units.Visible;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The content of the files in {@code .holdfast}, and of scrapes. The mount's owner sees everything;
 * other users see nothing that names a job, process or file. The only state is the last metrics,
 * and the labels that they remember.
 */
final class DaemonFiles {
  private final StatsAudience audience;
  private final LiveChanges live;
  private final StatsReport report;
  private final Supplier<byte[]> metrics;
  private final Supplier<byte[]> metricsForOthers;
  private final Supplier<List<NodeFigures>> peers;

  DaemonFiles(
      Settings settings, LiveChanges live, StatsReport report, Supplier<List<NodeFigures>> peers) {
    this.audience = settings.get(SettingTable.STATS_VISIBLE_TO);
    this.live = live;
    this.report = report;
    this.peers = peers;
    String name = settings.get(SettingTable.NAME);
    this.metrics = metrics(name, report::stats, peers, System::nanoTime);
    this.metricsForOthers = metrics(name, this::statsForOthers, peers, System::nanoTime);
  }

  /**
   * Returns the maker of a mount's metrics, which come from what is at hand for a moment: any user
   * may scrape all the time.
   */
  static Supplier<byte[]> metrics(
      String name,
      Supplier<Figures> stats,
      Supplier<List<NodeFigures>> peers,
      LongSupplier nanoTime) {
    return new Recent(new Exposition(name, stats, peers)::text, nanoTime);
  }

  /** Returns the content of each file, by name, in the order of the listing. */
  Map<String, Content> files() {
    Map<String, Content> files = new LinkedHashMap<>();
    files.put("stats", stats(figures -> utf8(StatsText.of(figures))));
    files.put("stats.json", stats(figures -> json(FiguresJson.map(figures))));
    files.putAll(peers(audience, peers));
    files.put("metrics", content(audience, metrics, metricsForOthers));
    files.put(
        "config",
        content(
            audience,
            () -> utf8(ConfigText.of(live.settings())),
            () -> utf8(ConfigText.of(SettingRow.forOthers(live.settings())))));
    return files;
  }

  /**
   * Returns the answer to a scrape. The server does not know who asks, so it shows what other users
   * may see.
   */
  byte[] scrape() {
    return (audience == StatsAudience.ALL ? metrics : metricsForOthers).get();
  }

  private Content stats(Function<Figures, byte[]> renderer) {
    return content(
        audience, () -> renderer.apply(report.stats()), () -> renderer.apply(statsForOthers()));
  }

  /** Returns the content of the files about the nodes, by name. */
  static Map<String, Content> peers(StatsAudience audience, Supplier<List<NodeFigures>> nodes) {
    Map<String, Content> files = new LinkedHashMap<>();
    files.put("peers", peers(audience, nodes, rows -> utf8(PeersText.of(rows))));
    files.put("peers.json", peers(audience, nodes, rows -> json(FiguresJson.maps(rows))));
    return files;
  }

  private static Content peers(
      StatsAudience audience,
      Supplier<List<NodeFigures>> nodes,
      Function<List<NodeFigures>, byte[]> renderer) {
    return content(
        audience, () -> renderer.apply(nodes.get()), () -> renderer.apply(forOthers(nodes.get())));
  }

  /** Returns the rows of the nodes as users other than the owner see them. */
  static List<NodeFigures> forOthers(List<NodeFigures> nodes) {
    return nodes.stream().map(NodeFigures::forOthers).toList();
  }

  private static Content content(
      StatsAudience audience, Supplier<byte[]> forOwner, Supplier<byte[]> forOthers) {
    return audience == StatsAudience.ALL
        ? Content.forAll(forOwner)
        : new Content(forOwner, forOthers);
  }

  /**
   * Returns the figures for other users. Does not wait for opens to be counted: a user who opens
   * files all the time could keep the threads that answer requests.
   */
  private Figures statsForOthers() {
    return report.figures().forOthers();
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static byte[] json(Object value) {
    try {
      return utf8(
          Visible.json(JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(value)) + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
