package io.holdfast.fs.daemon;

import java.util.ArrayList;
import java.util.List;

/** Settings as lines of aligned columns, for {@code /.holdfast/config}. Stateless. */
final class SettingsText {
  private SettingsText() {}

  static String of(Settings settings) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("setting", "value", "from"));
    rows.add(List.of("origin", settings.origin().toString(), "argument"));
    rows.add(List.of("mountpoint", settings.mountpoint().toString(), "argument"));
    for (Settings.Key key : Settings.Key.values()) {
      rows.add(List.of(key.text(), settings.text(key), settings.source(key)));
    }
    rows.add(List.of("heap", settings.heapText(), "java -Xmx"));
    return aligned(rows);
  }

  private static String aligned(List<List<String>> rows) {
    int first = rows.stream().mapToInt(row -> row.get(0).length()).max().orElse(0);
    int second = rows.stream().mapToInt(row -> row.get(1).length()).max().orElse(0);
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      pad(text, row.get(0), first);
      pad(text, row.get(1), second);
      text.append(row.get(2)).append('\n');
    }
    return text.toString();
  }

  private static void pad(StringBuilder text, String cell, int width) {
    text.append(cell).append(" ".repeat(width - cell.length() + 2));
  }
}
