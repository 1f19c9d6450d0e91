package io.holdfast.fs.units;

import java.util.List;

/** Rows of text as lines of aligned columns. Stateless. */
public final class Columns {
  private Columns() {}

  /**
   * Aligns columns to the left, two spaces apart. Cells are made {@link Visible}.
   *
   * @param cells rows of equal length
   * @return a line for each row, with its end, without spaces before that
   */
  public static String aligned(List<List<String>> cells) {
    List<List<String>> rows =
        cells.stream().map(row -> row.stream().map(Visible::of).toList()).toList();
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int column = 0; column < row.size(); column++) {
        String cell = row.get(column);
        line.append(cell).append(" ".repeat(width(rows, column) - cell.length() + 2));
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }

  private static int width(List<List<String>> rows, int column) {
    return rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
  }
}
