package io.holdfast.fs.plot;

import java.awt.BasicStroke;
import java.awt.Color;
import java.util.List;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler;

/** The look that all charts share. Stateless. */
public final class ChartStyle {
  /** Pixels of a chart. */
  public static final int WIDTH = 800;

  /** Pixels of a chart. */
  public static final int HEIGHT = 500;

  /** Colours that people who do not see red and green can tell apart (Okabe and Ito, 2008). */
  public static final List<Color> COLORS =
      List.of(
          new Color(0x0072b2),
          new Color(0xd55e00),
          new Color(0x009e73),
          new Color(0xcc79a7),
          new Color(0xe69f00),
          new Color(0x56b4e9),
          new Color(0x000000),
          new Color(0x999999));

  private static final Color GRID = new Color(0xe5e5e5);

  private ChartStyle() {}

  /** Has a chart look like the others. */
  public static void apply(AxesChartStyler styler) {
    styler
        .setPlotGridLinesColor(GRID)
        .setPlotGridLinesStroke(new BasicStroke(1))
        .setChartBackgroundColor(Color.WHITE)
        .setSeriesColors(COLORS.toArray(Color[]::new));
    styler.setLegendPosition(Styler.LegendPosition.OutsideE).setPlotBorderVisible(false);
  }

  /** Creates a chart of a figure over the capacity; the y-axis begins at 0. */
  public static XYChart overCapacity(String title, String figure) {
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle("capacity, % of the dataset")
            .yAxisTitle(figure)
            .build();
    chart
        .getStyler()
        .setXAxisMin(0.0)
        .setXAxisMax(100.0)
        .setYAxisMin(0.0)
        .setXAxisDecimalPattern("0");
    apply(chart.getStyler());
    return chart;
  }
}
