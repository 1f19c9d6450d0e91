package io.holdfast.fs.control;

import io.holdfast.fs.figures.OrderFigures;
import io.holdfast.fs.units.Columns;
import io.holdfast.fs.units.Human;
import java.util.ArrayList;
import java.util.List;

/** The orders of jobs as an aligned table for people. Stateless. */
final class OrdersText {
  private static final List<String> HEADING =
      List.of(
          "job",
          "source",
          "position",
          "files",
          "window",
          "fetched ahead",
          "used",
          "wasted",
          "surprises");

  private OrdersText() {}

  /** Shows each order in a line below a heading. */
  static String of(List<OrderFigures> orders) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(HEADING);
    for (OrderFigures order : orders) {
      rows.add(
          List.of(
              order.job(),
              order.source(),
              Human.grouped(order.position()),
              Human.grouped(order.length()),
              Human.bytes(order.windowBytes()),
              Human.grouped(order.prefetchedItems()),
              Human.grouped(order.usedItems()),
              Human.bytes(order.wastedBytes()),
              Human.grouped(order.surprises())));
    }
    return Columns.aligned(rows);
  }
}
