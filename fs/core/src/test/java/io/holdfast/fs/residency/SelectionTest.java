package io.holdfast.fs.residency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.holdfast.fs.residency.Selection.Verdict;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class SelectionTest {

  @ParameterizedTest
  @CsvSource({
    "*.idx, a.idx, true",
    "*.idx, train/deep/a.idx, true",
    "*.idx, a.idx.bak, false",
    "val/, val/a, true",
    "val/, val/deep/a, true",
    "val/, train/val/a, false",
    "val/, val, false",
    "val/*.tar, val/a.tar, true",
    "val/*.tar, val/deep/a.tar, false",
    "**/val/*, train/val/a, true",
    "'{train,val}/?', val/a, true",
    "'[ab]', c/b, true"
  })
  void pattern_path_isMatchedAsAGlob(String pattern, String path, boolean matches) {
    Selection excluding = Selection.of(List.of(), List.of(pattern));
    assertThat(excluding.of(path)).isEqualTo(matches ? Verdict.EXCLUDED : Verdict.ORDINARY);
    Selection keeping = Selection.of(List.of(pattern), List.of());
    assertThat(keeping.of(path)).isEqualTo(matches ? Verdict.KEPT : Verdict.ORDINARY);
  }

  @Test
  void bothLists_keepWins() {
    Selection selection = Selection.of(List.of("train.idx"), List.of("*.idx"));
    assertThat(selection.of("train.idx")).isEqualTo(Verdict.KEPT);
    assertThat(selection.of("val.idx")).isEqualTo(Verdict.EXCLUDED);
    assertThat(selection.isEmpty()).isFalse();
    assertThat(Selection.NONE.isEmpty()).isTrue();
    assertThat(Selection.NONE.of("x")).isEqualTo(Verdict.ORDINARY);
  }

  @Test
  void path_thatIsNone_isOrdinary() {
    assertThat(Selection.of(List.of("*"), List.of()).of("a\0b")).isEqualTo(Verdict.ORDINARY);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "/val/*"})
  void pattern_ofNoPath_isRefused(String pattern) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Selection.of(List.of(pattern), List.of()))
        .withMessage("pattern '" + pattern + "': write a name, or a path from the dataset's root");
  }

  @Test
  void pattern_noGlob_isNamed() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Selection.of(List.of(), List.of("[a")))
        .withMessageStartingWith("pattern '[a' is not a glob: ");
  }
}
