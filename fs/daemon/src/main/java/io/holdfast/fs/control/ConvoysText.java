package io.holdfast.fs.control;

import io.holdfast.fs.figures.ConvoyFigures;
import io.holdfast.fs.units.Columns;
import io.holdfast.fs.units.Human;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The convoys of jobs as an aligned table for people. Stateless. */
final class ConvoysText {
  private static final List<String> HEADING = List.of("job", "jobs", "gap", "budget", "delayed");

  private ConvoysText() {}

  /** Shows each convoy in a line below a heading. */
  static String of(List<ConvoyFigures> convoys) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(HEADING);
    for (ConvoyFigures convoy : convoys) {
      rows.add(
          List.of(
              convoy.job(),
              Human.grouped(convoy.jobs()),
              Human.bytes(convoy.gapBytes()),
              Human.bytes(convoy.budgetBytes()),
              String.format(Locale.ROOT, "%.1f s", convoy.delayedSeconds())));
    }
    return Columns.aligned(rows);
  }
}
