package io.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table of trainings in README.md is what packaging/bench/training measured and recorded. */
class TrainingTableTest {
  private static final String SCRIPT = "packaging/bench/training";
  private static final List<String> WAYS = List.of("Holdfast", "page cache", "all in memory");

  @Test
  void table_isThatOfTheRecordedRuns() throws IOException {
    List<Object> experiments = JSON.std.listFrom(Files.readString(Path.of("bench/training.json")));
    assertThat(experiments).isNotEmpty();
    assertThat(shown())
        .containsExactlyElementsOf(
            Stream.concat(
                    Stream.of(
                        "| | AU, epoch 1 | its time | AU from epoch 2 on | time of an epoch"
                            + " | read from the origin in it |",
                        "|---|---|---|---|---|---|"),
                    experiments.stream().flatMap(each -> rows((Map<?, ?>) each)))
                .toList());
  }

  private static List<String> shown() throws IOException {
    List<String> lines = Files.readAllLines(Path.of("../README.md"));
    return lines.subList(
        lines.indexOf("<!-- " + SCRIPT + " -->") + 1, lines.indexOf("<!-- /" + SCRIPT + " -->"));
  }

  private static Stream<String> rows(Map<?, ?> experiment) {
    String title =
        String.format(
            Locale.ROOT,
            "| **%,d files of %,.0f kB** | | | | | |",
            number(experiment, "files").longValue(),
            number(experiment, "size").doubleValue() / 1000);
    List<Map<?, ?>> runs = maps(experiment, "runs").toList();
    return Stream.concat(
        Stream.of(title),
        WAYS.stream()
            .map(
                way ->
                    row(
                        way.equals("all in memory")
                            ? way
                            : way + ", room for " + experiment.get("share") + " %",
                        runs.stream().filter(run -> way.equals(run.get("name"))).toList())));
  }

  private static String row(String name, List<Map<?, ?>> rounds) {
    ToDoubleFunction<String> first =
        key -> median(rounds.stream().flatMap(run -> maps(run, "epochs").limit(1)), key);
    ToDoubleFunction<String> later =
        key -> median(rounds.stream().flatMap(run -> maps(run, "epochs").skip(1)), key);
    return String.format(
        Locale.ROOT,
        "| %s | %.0f %% | %.1f s | %.0f %% | %.1f s | %,.0f MB |",
        name,
        100 * first.applyAsDouble("au"),
        first.applyAsDouble("seconds"),
        100 * later.applyAsDouble("au"),
        later.applyAsDouble("seconds"),
        later.applyAsDouble("origin_mb"));
  }

  private static double median(Stream<Map<?, ?>> epochs, String key) {
    double[] values =
        epochs.mapToDouble(epoch -> number(epoch, key).doubleValue()).sorted().toArray();
    assertThat(values).isNotEmpty();
    return Arrays.stream(values, (values.length - 1) / 2, values.length / 2 + 1)
        .average()
        .orElseThrow();
  }

  private static Stream<Map<?, ?>> maps(Map<?, ?> holder, String key) {
    return ((List<?>) holder.get(key)).stream().map(each -> (Map<?, ?>) each);
  }

  private static Number number(Map<?, ?> holder, String key) {
    return (Number) holder.get(key);
  }
}
