package io.holdfast.monitoring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.memory.CapacityRules;
import io.holdfast.fs.metrics.Metric;
import io.holdfast.fs.metrics.Metrics;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The form of the metrics, and that the dashboard and the alerts find what they ask for. The
 * figures are those of a node with peers and jobs; {@code MetricsIT} has those of a mount.
 */
class MonitoringFilesTest {
  private static final List<String> SEVERITIES = List.of("warning", "critical");

  @Test
  void scrape_ofAllFigures_isAsPromtoolWantsIt() throws IOException {
    assertThat(MetricsLint.problems(scrape())).isEmpty();
  }

  @Test
  void scrape_ofAllFigures_hasEveryMetric() throws IOException {
    assertThat(scrape().names())
        .containsExactlyInAnyOrderElementsOf(Metrics.all().stream().map(Metric::name).toList());
  }

  @Test
  void scrape_labels_areThoseDeclared() throws IOException {
    for (Metric metric : Metrics.all()) {
      Set<String> declared = new HashSet<>(metric.labels());
      declared.add("mount");
      for (Scrape.Sample sample : scrape().samples(metric.name())) {
        assertThat(sample.labels().keySet()).as(metric.name()).isEqualTo(declared);
      }
    }
  }

  @Test
  void queries_ofDashboardAndAlerts_resolve() throws IOException {
    assertThat(Queries.unresolved(Queries.labels(scrape()))).isEmpty();
    assertThat(Queries.all()).hasSizeGreaterThan(40);
  }

  /** Files of many items have more misses than opens: the ratio was -18 for 19 items. */
  @Test
  void queries_ofHitRatios_divideMissesByItems() throws IOException {
    assertThat(Queries.all().values())
        .filteredOn(query -> query.contains("holdfast_job_misses_total"))
        .hasSize(3)
        .allSatisfy(
            query ->
                assertThat(query)
                    .contains("holdfast_job_items_total")
                    .doesNotContain("holdfast_job_opens_total"));
  }

  /**
   * Residents and the daemon were compared with 98 % of {@code --memory}. A full cache of the Helm
   * chart takes that for ever, and with small files the ceiling evicts long before.
   */
  @Test
  void alert_ofLimitedResidents_asksOnlyWhetherTheyAre() throws IOException {
    assertThat(Queries.all())
        .hasEntrySatisfying(
            "alert HoldfastResidentsLimited",
            query -> {
              assertThat(PromQl.of(query).metrics()).containsExactly("holdfast_memory_state");
              assertThat(query).contains("{state!=\"" + CapacityRules.Phase.OK.text() + "\"}");
            });
  }

  @Test
  void dashboard_panels_haveTitlesUnitsAndDoNotOverlap() throws IOException {
    Map<String, Object> dashboard = JSON.std.mapFrom(Files.readString(Queries.DASHBOARD));
    Set<Object> ids = new HashSet<>();
    Set<String> cells = new HashSet<>();
    for (Object each : (List<?>) dashboard.get("panels")) {
      Map<?, ?> panel = (Map<?, ?>) each;
      assertThat((String) panel.get("title")).isNotBlank();
      assertThat(ids.add(panel.get("id"))).as("%s", panel.get("title")).isTrue();
      assertThat(cellsOf((Map<?, ?>) panel.get("gridPos")))
          .as("%s", panel.get("title"))
          .allSatisfy(cell -> assertThat(cells.add(cell)).as(cell).isTrue());
      if (!"row".equals(panel.get("type"))) {
        assertThat((String) panel.get("description")).isNotBlank();
      }
    }
  }

  private static List<String> cellsOf(Map<?, ?> position) {
    List<String> cells = new ArrayList<>();
    int x = (Integer) position.get("x");
    int y = (Integer) position.get("y");
    for (int i = x; i < x + (Integer) position.get("w"); i++) {
      for (int j = y; j < y + (Integer) position.get("h"); j++) {
        assertThat(i).isLessThan(24);
        cells.add(i + "," + j);
      }
    }
    return cells;
  }

  @Test
  void alerts_sayHowBadItIsAndWhatIsWrong() throws IOException {
    for (Map<?, ?> rule : Queries.rules()) {
      Map<?, ?> notes = (Map<?, ?>) rule.get("annotations");
      assertThat((String) notes.get("summary")).isNotBlank();
      assertThat((String) notes.get("description")).isNotBlank();
      assertThat(((Map<?, ?>) rule.get("labels")).get("severity")).isIn(SEVERITIES);
    }
  }

  @Test
  void tokenizer_tellsMetricsFromFunctionsKeywordsAndLabels() {
    PromQl query =
        PromQl.of(
            "1 - sum by (mount, le) (rate(a_total{x=~\"b|c\", y!=\"}\"}[5m])) / on (mount)"
                + " group_left clamp_min(d, 1e-3) > bool 0.5 and e offset 5m unless f_sum");
    assertThat(query.metrics()).containsExactly("a_total", "d", "e", "f_sum");
    assertThat(query.labels()).containsExactly("le", "mount", "x", "y");
    assertThatThrownBy(() -> PromQl.of("sum(a")).isInstanceOf(AssertionError.class);
    assertThatThrownBy(() -> PromQl.of("a{b=\"c\"")).isInstanceOf(AssertionError.class);
    assertThatThrownBy(() -> PromQl.of("rat(a[5m])")).isInstanceOf(AssertionError.class);
  }

  @Test
  void lint_ofBadMetrics_findsThem() {
    assertThat(problems("# TYPE holdfast_a counter\nholdfast_a{mount=\"m\"} 1\n"))
        .contains("holdfast_a: no HELP", "holdfast_a: _total is for counters, all of them");
    String gauge = "# HELP holdfast_x_ms A.\n# TYPE holdfast_x_ms gauge\n";
    assertThat(problems(gauge + "holdfast_x_ms{mount=\"m\"} 1\n"))
        .containsExactly("holdfast_x_ms: not a base unit, or a type");
    String bytes = "# HELP holdfast_bytes_in A.\n# TYPE holdfast_bytes_in gauge\n";
    assertThat(problems(bytes + "holdfast_bytes_in{job=\"m\"} -1\n")).hasSize(4);
    assertThatThrownBy(() -> Scrape.parse(gauge + "holdfast_y 1\n"))
        .isInstanceOf(AssertionError.class);
    assertThatThrownBy(() -> Scrape.parse(gauge + "holdfast_x_ms 1\nholdfast_x_ms 2\n"))
        .isInstanceOf(AssertionError.class);
  }

  private static List<String> problems(String scrape) {
    return MetricsLint.problems(Scrape.parse(scrape));
  }

  private static Scrape scrape() throws IOException {
    return FiguresFile.read().scrape();
  }
}
