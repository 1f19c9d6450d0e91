package io.holdfast.fs.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of {@link BoundedRows}. */
final class BoundedRowsTest {
  private final BoundedRows<Row> rows =
      new BoundedRows<>(
          2,
          Row::job,
          row -> new Row("other", row.opens()),
          (a, b) -> new Row("other", a.opens() + b.opens()));

  private record Row(String job, int opens) {}

  @Test
  void rows_withinTheBound_areAsTheyWere() {
    assertThat(of("a", 1, "b", 2)).isEqualTo(List.of(row("a", 1), row("b", 2)));
  }

  @Test
  void rows_beyondTheBound_areAddedUp() {
    assertThat(of("a", 1, "b", 2, "c", 3, "d", 4))
        .isEqualTo(List.of(row("a", 1), row("b", 2), row("other", 7)));
  }

  /** If it were otherwise, the counter of the others would go back whenever the order changed. */
  @Test
  void rows_withAPlace_keepItWhateverTheOrder() {
    of("a", 1, "b", 2, "c", 3);
    assertThat(of("c", 30, "b", 2, "a", 1))
        .isEqualTo(List.of(row("b", 2), row("a", 1), row("other", 30)));
  }

  @Test
  void places_ofRowsThatLeft_goToTheFirstThatHaveNone() {
    of("a", 1, "b", 2, "c", 3);
    assertThat(of("d", 4, "b", 2, "c", 3))
        .isEqualTo(List.of(row("d", 4), row("b", 2), row("other", 3)));
  }

  /** The counter of the others went back by what this row had added to it. */
  @Test
  void row_thatWasAmongTheOthers_staysThere() {
    of("a", 1, "b", 2, "c", 3);
    assertThat(of("c", 30, "b", 2)).isEqualTo(List.of(row("b", 2), row("other", 30)));
    assertThat(of("c", 31, "d", 4)).isEqualTo(List.of(row("d", 4), row("other", 31)));
  }

  @Test
  void rows_thatAreCalledOther_areOfTheOthers() {
    assertThat(of("other", 5, "a", 1, "other", 2)).isEqualTo(List.of(row("a", 1), row("other", 7)));
  }

  private List<Row> of(Object... namesAndOpens) {
    List<Row> all = new ArrayList<>();
    for (List<Object> each : pairs(namesAndOpens)) {
      all.add(row((String) each.get(0), (Integer) each.get(1)));
    }
    return rows.of(all);
  }

  private static List<List<Object>> pairs(Object... all) {
    List<List<Object>> pairs = new ArrayList<>();
    for (int i = 0; i < all.length; i += 2) {
      pairs.add(Arrays.asList(all[i], all[i + 1]));
    }
    return pairs;
  }

  private static Row row(String job, int opens) {
    return new Row(job, opens);
  }
}
