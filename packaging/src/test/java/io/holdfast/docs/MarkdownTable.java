package io.holdfast.docs;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** A table as Markdown has it. Not thread-safe. */
final class MarkdownTable {
  private final List<String> columns;
  private final List<List<String>> rows = new ArrayList<>();

  MarkdownTable(String... columns) {
    this.columns = new ArrayList<>(List.of(columns));
  }

  /** Adds a column at the right, of a word that users type. */
  void column(String name) {
    columns.add("`" + name + "`");
  }

  /** Begins a row. */
  void row(String... cells) {
    rows.add(new ArrayList<>(List.of(cells)));
  }

  /** Adds to the last row. */
  void cell(String text) {
    rows.get(rows.size() - 1).add(text);
  }

  @Override
  public String toString() {
    return line(columns)
        + "|---".repeat(columns.size())
        + "|\n"
        + rows.stream().map(MarkdownTable::line).collect(Collectors.joining());
  }

  private static String line(List<String> cells) {
    return "| " + String.join(" | ", cells) + " |\n";
  }
}
