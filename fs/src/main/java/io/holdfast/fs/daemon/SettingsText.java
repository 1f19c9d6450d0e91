package io.holdfast.fs.daemon;

import io.holdfast.fs.units.Columns;
import java.util.ArrayList;
import java.util.List;

/** Settings as lines of aligned columns, for {@code /.holdfast/config}. Stateless. */
final class SettingsText {
  private SettingsText() {}

  static String of(Settings settings) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("setting", "value", "from"));
    for (Settings.Key key : Settings.Key.values()) {
      rows.add(List.of(key.text(), settings.text(key), settings.source(key)));
    }
    rows.add(List.of("heap", settings.heapText(), "java -Xmx"));
    return Columns.aligned(rows);
  }
}
