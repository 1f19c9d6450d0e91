package io.holdfast.fs.analyze;

import io.holdfast.fs.figures.JobsFigures.Split;
import io.holdfast.fs.plot.ChartStyle;
import io.holdfast.fs.plot.Picture;
import io.holdfast.fs.throughput.Observation;
import io.holdfast.fs.throughput.WhatIf;
import io.holdfast.fs.units.Visible;
import java.awt.BasicStroke;
import java.awt.Color;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Pictures of a report: where the time of each epoch went, and what memory brings. Immutable. */
public final class AnalysisPlot {
  private static final double MEGA = 1e6;

  private final Analysis analysis;

  /** Creates the pictures of a report. */
  public AnalysisPlot(Analysis analysis) {
    this.analysis = analysis;
  }

  /** Returns both in one, or the first one if the other cannot be told. */
  public Picture picture() {
    String title = Visible.of(AnalysisText.title(analysis));
    return hasCurve()
        ? new Picture(
            title,
            epochsInWords() + " " + curveInWords(),
            List.of(epochsChart(title), curveChart("Speed over memory")))
        : new Picture(title, epochsInWords(), List.of(epochsChart(title)));
  }

  /** Returns where the time of each epoch went. */
  Picture epochs() {
    String title = "Time of each epoch";
    return new Picture(title, epochsInWords(), List.of(epochsChart(title)));
  }

  /** Returns what memory brings; call it only if {@link #hasCurve}. */
  Picture curve() {
    String title = "Speed over memory";
    return new Picture(title, curveInWords(), List.of(curveChart(title)));
  }

  boolean hasCurve() {
    return capacities().size() > 1;
  }

  private List<WhatIf> capacities() {
    return analysis.whatIf().stream()
        .filter(row -> row.change() == WhatIf.Change.CAPACITY)
        .toList();
  }

  private CategoryChart epochsChart(String title) {
    CategoryChart chart =
        new CategoryChartBuilder()
            .width(ChartStyle.WIDTH)
            .height(ChartStyle.HEIGHT)
            .title(title)
            .xAxisTitle("epoch")
            .yAxisTitle("seconds")
            .build();
    chart.getStyler().setStacked(true).setPlotGridVerticalLinesVisible(false);
    ChartStyle.apply(chart.getStyler());
    List<Observation> epochs = analysis.runs().epochs();
    if (epochs.isEmpty()) {
      chart.addSeries("nothing was seen", List.of("-"), List.of(0.0));
      return chart;
    }
    addPart(chart, "origin", Split::fetchOrigin);
    addPart(chart, "peers", Split::fetchPeer);
    addPart(chart, "preparation", Split::preparation);
    addPart(chart, "back-pressure", Split::backPressure);
    if (epochs.stream().anyMatch(seen -> seen.shares().isEmpty())) {
      chart.addSeries(
          "not known",
          names(),
          epochs.stream()
              .map(seen -> seen.shares().isEmpty() ? seen.epoch().seconds() : 0.0)
              .toList());
    }
    return chart;
  }

  private void addPart(CategoryChart chart, String name, ToDoubleFunction<Split> part) {
    chart.addSeries(
        name,
        names(),
        analysis.runs().epochs().stream()
            .map(
                seen -> seen.epoch().seconds() * seen.shares().map(part::applyAsDouble).orElse(0.0))
            .toList());
  }

  private List<String> names() {
    return analysis.runs().epochs().stream()
        .map(seen -> Long.toString(seen.epoch().epoch()))
        .toList();
  }

  private XYChart curveChart(String title) {
    XYChart chart = ChartStyle.overCapacity(title, "MB/s");
    chart.getStyler().setYAxisDecimalPattern("0.#");
    List<WhatIf> rows = capacities();
    chart
        .addSeries(
            rows.stream().anyMatch(WhatIf::isAtLeast) ? "predicted, at least" : "predicted",
            rows.stream().mapToDouble(row -> 100 * row.value()).toArray(),
            rows.stream().mapToDouble(row -> row.speed() / MEGA).toArray())
        .setMarker(SeriesMarkers.NONE);
    analysis
        .model()
        .ifPresent(
            model -> addPoint(chart, "now", model.setup().capacityShare(), model.now().speed(), 1));
    if (analysis.knee().isPresent()) {
      double knee = analysis.knee().getAsDouble();
      double speed =
          analysis
              .model()
              .flatMap(
                  model ->
                      model.speed(model.setup().withCapacityShare(knee)).stream().boxed().findAny())
              .orElse(0.0);
      addPoint(chart, "enough", knee, speed, 2);
    }
    return chart;
  }

  private static void addPoint(XYChart chart, String name, double share, double speed, int color) {
    XYSeries series =
        chart.addSeries(name, new double[] {100 * share}, new double[] {speed / MEGA});
    Color paint = ChartStyle.COLORS.get(color);
    series.setMarker(color == 1 ? SeriesMarkers.CIRCLE : SeriesMarkers.DIAMOND);
    series.setMarkerColor(paint).setLineColor(paint).setLineStyle(new BasicStroke(0));
  }

  private String epochsInWords() {
    return "Time of each epoch. "
        + analysis.runs().epochs().stream()
            .map(AnalysisPlot::inWords)
            .collect(Collectors.joining("; "))
        + ".";
  }

  private static String inWords(Observation seen) {
    return "epoch "
        + seen.epoch().epoch()
        + ": "
        + AnalysisText.time(seen.epoch().seconds())
        + seen.shares()
            .map(
                shares ->
                    String.format(
                        Locale.ROOT,
                        ", origin %s, peers %s, preparation %s, back-pressure %s",
                        AnalysisText.percent(shares.fetchOrigin()),
                        AnalysisText.percent(shares.fetchPeer()),
                        AnalysisText.percent(shares.preparation()),
                        AnalysisText.percent(shares.backPressure())))
            .orElse("");
  }

  private String curveInWords() {
    return "Predicted speed over the share of the dataset in memory. "
        + capacities().stream()
            .map(row -> AnalysisText.percent(row.value()) + " " + AnalysisText.rate(row.speed()))
            .collect(Collectors.joining(", "))
        + ".";
  }
}
