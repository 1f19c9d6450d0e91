package io.holdfast.fs.daemon;

import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.figures.CurveFigures;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.LogLine;
import io.holdfast.fs.figures.NodeFigures;
import io.holdfast.fs.page.Recent;
import io.holdfast.fs.settings.SettingRow;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.StatsAudience;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The JSON that the page of a mount shows. A visitor with the token sees what the mount's owner
 * sees; one without may be any user of this machine, and sees what {@code .holdfast} shows to other
 * users. Thread-safe; waits for nothing.
 */
final class PageFiles {
  /** The most jobs with a curve: those with the most opens. */
  private static final int MOST_CURVES = 16;

  private final Settings settings;
  private final StatsReport report;
  private final LiveChanges live;
  private final Supplier<List<NodeFigures>> peers;
  private final Supplier<List<LogLine>> recentLog;

  /**
   * Creates the files of a mount.
   *
   * @param recentLog returns the last warnings and errors of the log, the newest first
   */
  PageFiles(
      Settings settings,
      StatsReport report,
      LiveChanges live,
      Supplier<List<NodeFigures>> peers,
      Supplier<List<LogLine>> recentLog) {
    this.settings = settings;
    this.report = report;
    this.live = live;
    this.peers = peers;
    this.recentLog = recentLog;
  }

  /**
   * Returns the makers of the files, by path.
   *
   * @param withToken whether each visitor has shown the token
   */
  Map<String, Supplier<byte[]>> files(boolean withToken) {
    boolean all = withToken || settings.get(SettingTable.STATS_VISIBLE_TO) == StatsAudience.ALL;
    return Map.of(
        "/stats.json", recent(() -> FiguresJson.map(figures(all))),
        "/page.json", recent(() -> page(all)));
  }

  private static Supplier<byte[]> recent(Supplier<Object> content) {
    return new Recent(() -> DaemonFiles.json(content.get()), System::nanoTime);
  }

  private Figures figures(boolean all) {
    Figures figures = report.figures();
    return all ? figures : figures.forOthers();
  }

  private Map<String, Object> page(boolean all) {
    Map<String, Object> page = new LinkedHashMap<>();
    page.put("shows", all ? "all" : "sums");
    page.put("what_if", FiguresJson.maps(curves(figures(all))));
    List<NodeFigures> nodes = peers.get();
    page.put("peers", FiguresJson.maps(all ? nodes : DaemonFiles.forOthers(nodes)));
    page.put("settings", all ? live.settings() : SettingRow.forOthers(live.settings()));
    page.put("log", all ? FiguresJson.maps(recentLog.get()) : List.of());
    return page;
  }

  private static List<CurveFigures> curves(Figures figures) {
    return figures.jobs().jobs().stream()
        .limit(MOST_CURVES)
        .flatMap(job -> CapacityCurve.of(figures, job).stream())
        .map(CapacityCurve::figures)
        .toList();
  }
}
