package io.holdfast.fs.watch;

import io.holdfast.fs.figures.CacheFigures;
import io.holdfast.fs.units.Human;
import java.util.Locale;

/** Formats changes as rows of a table: {@code holdfast stats --watch}. Stateless. */
public final class WatchRows {
  private static final String FORMAT = "%9s %9s %9s %11s %11s %7s %8s %19s %6s%n";

  private WatchRows() {}

  /** Returns the line of headings above the rows. */
  public static String heading() {
    return String.format(
        Locale.ROOT,
        FORMAT,
        "hit ratio",
        "opens/s",
        "fetches/s",
        "from peers",
        "from origin",
        "stall %",
        "stalled",
        "resident/capacity",
        "errors");
  }

  /** Returns the row of a change. */
  public static String row(Change change) {
    CacheFigures cache = change.now().cache();
    return String.format(
        Locale.ROOT,
        FORMAT,
        FigureFormat.ratio(change.hitRatio()),
        change.countsOpens() ? FigureFormat.rate(change.rate(change.opens())) : "-",
        FigureFormat.rate(change.rate(change.peerItems() + change.originItems())),
        FigureFormat.bytes(change.rate(change.peerBytes())) + "/s",
        FigureFormat.bytes(change.rate(change.originBytes())) + "/s",
        FigureFormat.percent(change.stallShare()),
        String.format(Locale.ROOT, "%.1f", change.stalledReaders()),
        Human.bytes(cache.residentBytes()) + "/" + Human.bytes(cache.capacityBytes()),
        Human.count(change.errors()));
  }
}
