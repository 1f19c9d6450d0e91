package io.holdfast.fs.settings;

import io.holdfast.fs.units.Sizes;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What {@code holdfast config} shows of a setting: its name ({@code setting}), its value as an
 * option or a file would give it ({@code value}, absent where there is none), as text for people
 * ({@code text}), and where it came from ({@code source}). Stateless.
 */
public final class SettingRow {
  /** The text of what is told to the owner alone. */
  private static final String WITHHELD = "(for the owner)";

  private SettingRow() {}

  static <T> Map<String, Object> of(Setting<T> setting, @Nullable T value, String source) {
    Object exact = setting.kind().exact(value);
    return row(setting.name(), exact, setting.kind().text(value), source);
  }

  static Map<String, Object> ofHeap(long bytes) {
    Kind<Long> size = Kind.size();
    return row("heap", Sizes.exact(bytes), size.text(bytes), "java -Xmx");
  }

  /** Returns the row for a capacity that somebody has set since the mount. */
  public static Map<String, Object> changedCapacity(long bytes) {
    return of(SettingTable.CAPACITY, bytes, "holdfast capacity");
  }

  /**
   * Returns rows as users other than the owner see them: without the names of files, but for the
   * dataset and where it appears.
   */
  public static List<Map<String, Object>> forOthers(List<Map<String, Object>> rows) {
    return rows.stream()
        .map(
            row ->
                isWithheld(row)
                    ? row(text(row, "setting"), null, WITHHELD, text(row, "source"))
                    : row)
        .toList();
  }

  private static boolean isWithheld(Map<String, Object> row) {
    return row.containsKey("value")
        && !List.of().equals(row.get("value"))
        && SettingTable.find(text(row, "setting"))
            .filter(setting -> setting.isOption() && setting.kind().namesFiles())
            .isPresent();
  }

  private static String text(Map<String, Object> row, String key) {
    return String.valueOf(row.get(key));
  }

  private static Map<String, Object> row(
      String setting, @Nullable Object value, String text, String source) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("setting", setting);
    if (value != null) {
      row.put("value", value);
    }
    row.put("text", text);
    row.put("source", source);
    return row;
  }
}
