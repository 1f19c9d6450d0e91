package io.holdfast.fs.control;

import io.holdfast.fs.units.Columns;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Settings as lines of aligned columns, for {@code /.holdfast/config} and {@code holdfast config}.
 * Stateless.
 */
public final class ConfigText {
  private ConfigText() {}

  /**
   * Shows settings.
   *
   * @param rows as from {@link ControlCommands#config()}
   */
  public static String of(List<Map<String, Object>> rows) {
    List<List<String>> lines = new ArrayList<>();
    lines.add(List.of("setting", "value", "from"));
    for (Map<String, Object> row : rows) {
      lines.add(List.of(cell(row, "setting"), cell(row, "text"), cell(row, "source")));
    }
    return Columns.aligned(lines);
  }

  private static String cell(Map<String, Object> row, String column) {
    return String.valueOf(row.get(column));
  }
}
