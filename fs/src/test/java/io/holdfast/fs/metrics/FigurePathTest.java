package io.holdfast.fs.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests of {@link FigurePath}. */
final class FigurePathTest {
  private static final String FIGURES =
      """
      { "opens": { "total": 7, "counted": true },
        "fetches": { "origin": { "items": 5, "p50_us": 1500 }, "peer": { "items": 2 }, "coalesced": 9 },
        "peers": [ { "node": "a:1", "state": "up", "resident_bytes": -1, "p50_us": 2000000 },
                   { "node": "b:1", "state": "suspect", "resident_bytes": 30 },
                   { "state": "nameless" } ] }
      """;

  @Test
  void numbers_ofPlainKeys_areFound() throws IOException {
    assertThat(numbers("opens.total")).isEqualTo(Map.of("{}", 7.0));
    assertThat(numbers("opens.counted")).isEqualTo(Map.of("{}", 1.0));
  }

  @Test
  void numbers_ofMicroseconds_areSeconds() throws IOException {
    assertThat(numbers("fetches.origin.p50_us")).isEqualTo(Map.of("{}", 0.0015));
    assertThat(numbers("peers.[node].p50_us")).isEqualTo(Map.of("{node=a:1}", 2.0));
  }

  @Test
  void numbers_ofEveryKey_areLabelledWithIt() throws IOException {
    assertThat(numbers("fetches.{source}.items"))
        .isEqualTo(Map.of("{source=origin}", 5.0, "{source=peer}", 2.0));
  }

  @Test
  void numbers_ofRows_areLabelledWithTheirField() throws IOException {
    assertThat(numbers("peers.[node=peer].resident_bytes")).isEqualTo(Map.of("{peer=b:1}", 30.0));
  }

  @Test
  void texts_asLabels_haveTheValueOne() throws IOException {
    assertThat(numbers("peers.[node].state.{state}"))
        .isEqualTo(Map.of("{node=a:1, state=up}", 1.0, "{node=b:1, state=suspect}", 1.0));
  }

  @Test
  void numbers_thatAreMissingOrUnknown_haveNoValue() throws IOException {
    assertThat(numbers("cluster.nodes")).isEmpty();
    assertThat(numbers("opens.total.more")).isEmpty();
    assertThat(numbers("opens")).isEmpty();
    assertThat(numbers("opens.[node].x")).isEmpty();
  }

  @Test
  void labels_areThoseOfThePath() {
    assertThat(FigurePath.parse("a.[job=job_name].b.{cause}").labels())
        .containsExactly("job_name", "cause");
  }

  private static Map<String, Double> numbers(String path) throws IOException {
    Map<String, Double> found = new LinkedHashMap<>();
    FigurePath.parse(path)
        .numbers(JSON.std.mapFrom(FIGURES), (labels, value) -> found.put(labels.toString(), value));
    return found;
  }
}
