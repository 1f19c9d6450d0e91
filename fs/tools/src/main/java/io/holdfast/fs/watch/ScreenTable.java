package io.holdfast.fs.watch;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/**
 * A table that fits a screen's width. If there is too little room, columns are left out by rank,
 * and then the first column, a name, loses its beginning. Widths are those of a terminal, where
 * some letters take two columns and some none. Not thread-safe.
 */
final class ScreenTable {
  /** The least width of the column of names before other columns are left out. */
  private static final int NARROWEST_NAME = 16;

  private static final int GAP = 2;
  private static final AttributedStyle HEADING = AttributedStyle.DEFAULT.bold();

  private final List<String> headings;
  private final List<Integer> ranks;
  private final List<List<AttributedString>> rows = new ArrayList<>();

  /**
   * Creates an empty table.
   *
   * @param headings the headings of the columns; the first column is of names
   * @param ranks the ranks of the columns: the largest is left out first
   */
  ScreenTable(List<String> headings, List<Integer> ranks) {
    this.headings = headings;
    this.ranks = ranks;
  }

  void add(List<AttributedString> row) {
    rows.add(row);
  }

  /** Returns the headings and as many rows as there is room for. */
  List<AttributedString> lines(int width, int height) {
    List<List<AttributedString>> shown =
        new ArrayList<>(rows.subList(0, Math.max(0, Math.min(rows.size(), height - 1))));
    shown.add(0, headings.stream().map(h -> new AttributedString(h, HEADING)).toList());
    int[] widths = new int[headings.size()];
    for (List<AttributedString> row : shown) {
      for (int column = 0; column < widths.length; column++) {
        widths[column] = Math.max(widths[column], row.get(column).columnLength());
      }
    }
    List<Integer> columns = fitting(widths, width);
    int others = columns.stream().skip(1).mapToInt(column -> widths[column] + GAP).sum();
    widths[0] = Math.min(widths[0], Math.max(1, width - others));
    return shown.stream().map(row -> line(row, columns, widths)).toList();
  }

  private List<Integer> fitting(int[] widths, int width) {
    List<Integer> columns = new ArrayList<>();
    int sum = Math.min(widths[0], NARROWEST_NAME);
    for (int column = 0; column < widths.length; column++) {
      columns.add(column);
      sum += column == 0 ? 0 : widths[column] + GAP;
    }
    while (sum > width && columns.size() > 1) {
      Integer last = columns.stream().skip(1).max(Comparator.comparing(ranks::get)).orElseThrow();
      sum -= widths[last] + GAP;
      columns.remove(last);
    }
    return columns;
  }

  private static AttributedString line(
      List<AttributedString> row, List<Integer> columns, int[] widths) {
    AttributedStringBuilder line = new AttributedStringBuilder();
    for (int column : columns) {
      AttributedString cell = row.get(column);
      if (column == 0) {
        AttributedString name = lastOf(cell, widths[0]);
        line.append(name).append(" ".repeat(widths[0] - name.columnLength()));
      } else {
        line.append(" ".repeat(GAP + widths[column] - cell.columnLength())).append(cell);
      }
    }
    return line.toAttributedString();
  }

  /** Returns the end of a text that is too long, because paths differ there. */
  static AttributedString lastOf(AttributedString text, int width) {
    int length = text.columnLength();
    if (length <= width) {
      return text;
    }
    int from = length - width + 1;
    AttributedString end = text.columnSubSequence(from, length);
    // the cut may go through a letter of two columns
    while (end.columnLength() > length - from) {
      end = text.columnSubSequence(++from, length);
    }
    return new AttributedStringBuilder().append("<").append(end).toAttributedString();
  }

  /** Returns the beginning of a text that is too long. */
  static AttributedString firstOf(AttributedString text, int width) {
    return text.columnLength() <= width ? text : text.columnSubSequence(0, Math.max(0, width));
  }
}
