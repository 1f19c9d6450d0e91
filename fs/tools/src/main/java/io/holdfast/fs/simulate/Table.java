package io.holdfast.fs.simulate;

import java.util.ArrayList;
import java.util.List;

/** Rows of cells, each column as wide as its widest cell, aligned to the right. Not thread-safe. */
final class Table {
  private static final String GAP = "  ";

  private final List<List<String>> rows = new ArrayList<>();

  /** Adds a row; all rows have the same number of cells. */
  void add(List<String> cells) {
    rows.add(List.copyOf(cells));
  }

  @Override
  public String toString() {
    int[] widths = new int[rows.get(0).size()];
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        text.append(i == 0 ? "" : GAP);
        text.append(" ".repeat(widths[i] - row.get(i).length())).append(row.get(i));
      }
      text.append('\n');
    }
    return text.toString();
  }
}
