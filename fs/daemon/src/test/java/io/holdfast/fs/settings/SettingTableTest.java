package io.holdfast.fs.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class SettingTableTest {
  private static final long MEMORY = 100L << 30;

  static List<Setting<?>> rows() {
    return SettingTable.rows();
  }

  @Test
  void names_areOfOneRowEach() {
    assertThat(SettingTable.rows().stream().map(Setting::name)).doesNotHaveDuplicates();
    assertThat(SettingTable.find("item-size")).contains(SettingTable.ITEM_SIZE);
    assertThat(SettingTable.find("itemsize")).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("rows")
  void help_ofAnOption_isThere(Setting<?> row) {
    assertThat(row.help().isEmpty()).isEqualTo(!row.isOption());
    assertThat(row.variable()).matches("HOLDFAST_[A-Z0-9_]+");
  }

  /** The text that shows a value can be given as a value: a user may copy it into a file. */
  @ParameterizedTest
  @MethodSource("rows")
  <T> void exact_ofTheDefault_isReadAsTheSame(Setting<T> row) {
    @Nullable T otherwise = row.otherwise();
    Object exact = row.kind().exact(otherwise);
    if (exact != null && !List.of().equals(exact)) {
      Given given = Given.flag(row, List.of(String.valueOf(exact)));
      assertThat(row.kind().parser().parse(given.values(), MEMORY)).isEqualTo(otherwise);
    }
  }
}
