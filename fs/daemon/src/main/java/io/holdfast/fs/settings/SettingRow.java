package io.holdfast.fs.settings;

import io.holdfast.fs.units.Sizes;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes the rows of {@code holdfast config}. A row has the setting's name ({@code setting}), its
 * value as an option or a file would give it ({@code value}, absent if there is none), the value as
 * text for people ({@code text}), and its source ({@code source}). Stateless.
 */
public final class SettingRow {
  /** The source of a capacity that a user has set since the mount. */
  public static final String BY_COMMAND = "holdfast capacity";

  /** The text that replaces a value that only the owner may see. */
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

  /**
   * Returns the row of a capacity that has changed since the mount.
   *
   * @param source {@link #BY_COMMAND}, or the one that it had before
   */
  public static Map<String, Object> changedCapacity(long bytes, String source) {
    return of(SettingTable.CAPACITY, bytes, source);
  }

  /**
   * Returns rows as users other than the owner see them: without names of files, except the dataset
   * and the mountpoint.
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
