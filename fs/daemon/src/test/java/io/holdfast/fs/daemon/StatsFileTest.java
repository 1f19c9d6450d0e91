package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.control.ControlFiles.Content;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.JobsFigures.Split;
import io.holdfast.fs.figures.NodeFigures;
import io.holdfast.fs.settings.StatsAudience;
import io.holdfast.fs.stats.Activity.JobReport;
import io.holdfast.fs.stats.Activity.ProcessReport;
import io.holdfast.fs.stats.Epoch;
import io.holdfast.fs.stats.JobCounts;
import io.holdfast.fs.stats.ProcessCounts;
import io.holdfast.fs.stats.ReaderTimes;
import io.holdfast.fs.stats.Tiers;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The form of {@code stats.json} and {@code peers.json}, to the byte: others read them, too. */
final class StatsFileTest {
  /** The largest rows of {@code stats.json} that SECURITY.md allows, with room for the rest. */
  private static final int MOST_BYTES = 4_700_000;

  /** Every number of the first file is there once, so that no two can be confused. */
  @ParameterizedTest
  @ValueSource(strings = {"stats.json", "stats-least.json", "stats-for-others.json"})
  void stats_readAndWritten_areTheSameToTheByte(String name) throws IOException {
    assertThat(written(figures(name))).isEqualTo(file(name));
  }

  @Test
  void peers_readAndWritten_areTheSameToTheByte() throws IOException {
    assertThat(text(FiguresJson.maps(nodes()))).isEqualTo(file("peers.json"));
  }

  /**
   * Any user of the machine could read a path in a closed directory here, where a peer had other
   * files.
   */
  @Test
  void peers_forOthers_nameNoFileAndNoSource() throws IOException {
    List<NodeFigures> nodes = nodes();
    Map<String, Content> files = DaemonFiles.peers(StatsAudience.OWNER, () -> nodes);
    assertThat(told(files.get("peers.json").forOthers()))
        .isEqualTo(file("peers-for-others.json"))
        .doesNotContain("secret");
    assertThat(told(files.get("peers").forOthers()))
        .contains("node1:7070  other dataset", "root and the user who mounted are told why")
        .doesNotContain("secret");
    assertThat(told(files.get("peers.json").forOwner())).isEqualTo(file("peers.json"));
    assertThat(told(files.get("peers").forOwner())).contains("'secret/b'");
  }

  @Test
  void peers_visibleToAll_areTheSameForEverybody() throws IOException {
    List<NodeFigures> nodes = nodes();
    Map<String, Content> files = DaemonFiles.peers(StatsAudience.ALL, () -> nodes);
    assertThat(told(files.get("peers.json").forOthers())).isEqualTo(file("peers.json"));
    assertThat(told(files.get("peers").forOthers())).contains("'secret/b'");
  }

  private static String told(Supplier<byte[]> content) {
    return new String(content.get(), StandardCharsets.UTF_8);
  }

  private static List<NodeFigures> nodes() throws IOException {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (Object row : JSON.std.listFrom(file("peers.json"))) {
      rows.add(JSON.std.mapFrom(JSON.std.asString(row)));
    }
    return FiguresJson.nodes(rows);
  }

  @Test
  void figures_forOthers_haveTheSameKeysAndNoRows() throws IOException {
    assertThat(written(figures("stats.json").forOthers()))
        .isEqualTo(file("stats-for-others.json"))
        .doesNotContain("secret", "python");
  }

  /** An older daemon says less, and a newer one more. */
  @Test
  void stats_ofAnotherVersion_areReadAsFarAsTheyAreKnown() {
    Map<String, Object> stats = new LinkedHashMap<>();
    stats.put("name", "a");
    stats.put("invented", Map.of("later", 1));
    stats.put("opens", Map.of("total", 7, "of_the_future", List.of(1)));
    stats.put("reads", "no longer a group");
    stats.put("jobs", Map.of("jobs", List.of(Map.of("job", "j"), "not a row")));
    Figures figures = FiguresJson.figures(stats);
    assertThat(figures.name()).isEqualTo("a");
    assertThat(figures.opens().total()).isEqualTo(7);
    assertThat(figures.opens().counted()).isFalse();
    assertThat(figures.reads().requests()).isZero();
    assertThat(figures.cluster()).isEmpty();
    assertThat(figures.mountpoint()).isEmpty();
    assertThat(figures.jobs().jobs()).hasSize(1);
    assertThat(figures.jobs().jobs().get(0).hitRatio()).isEmpty();
    assertThat(figures.process().threads()).isEmpty();
  }

  /** As many rows as there can be, with the longest names of letters of three bytes. */
  @Test
  void rows_asManyAndAsLongAsTheyCanBe_takeLessThanTheDocumentsSay() throws IOException {
    String name = "\u56fe".repeat(128);
    Tiers most = new Tiers(1L << 59, 1L << 59);
    JobCounts counts =
        new JobCounts(
            1L << 40,
            1L << 40,
            1L << 60,
            1L << 40,
            most,
            new Tiers(0, 0),
            most,
            1L << 60,
            new ReaderTimes(1L << 60, 1L << 60, 1L << 60, 1L << 60, 1L << 60, 1L << 60, 0),
            1L << 60);
    ProcessCounts ofProcess = new ProcessCounts(1L << 40, 1L << 40, 1L << 40, 1L << 60, 1L << 60);
    JobReport job =
        new JobReport(
            name,
            4096,
            OptionalDouble.of(123_456_789.123),
            false,
            counts,
            Optional.of(new Split(1e9 / 7, 1e9 / 7, 1e9 / 7, 1e9 / 7)),
            Collections.nCopies(16, new Epoch(99, counts, 4096)));
    ProcessReport process =
        new ProcessReport(4_194_304, name, "\u001b".repeat(15), false, ofProcess);
    Map<String, Object> rows =
        Map.of(
            "jobs",
            FiguresJson.maps(Collections.nCopies(257, job.figures(true))),
            "processes",
            FiguresJson.maps(Collections.nCopies(961, process.figures())));
    assertThat(text(rows).getBytes(StandardCharsets.UTF_8).length).isLessThan(MOST_BYTES);
  }

  private static Figures figures(String name) throws IOException {
    return FiguresJson.figures(JSON.std.mapFrom(file(name)));
  }

  private static String written(Figures figures) {
    return text(FiguresJson.map(figures));
  }

  private static String text(Object value) {
    return new String(DaemonFiles.json(value), StandardCharsets.UTF_8);
  }

  private static String file(String name) throws IOException {
    try (InputStream file = StatsFileTest.class.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
