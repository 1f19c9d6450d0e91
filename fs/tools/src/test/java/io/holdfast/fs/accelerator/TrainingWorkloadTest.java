package io.holdfast.fs.accelerator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class TrainingWorkloadTest {
  private static final Path DOCUMENT = Path.of("../../packaging/docs/ACCELERATORS.md");

  /** The bandwidth that MLPerf Storage's own tables have for an accelerator, in MB/s. */
  @ParameterizedTest
  @CsvSource({
    "UNET3D, B200, 6335",
    "UNET3D, H100, 3177",
    "UNET3D, A100, 1614",
    "RESNET50, H100, 205",
    "RESNET50, A100, 105",
    "COSMOFLOW, H100, 808",
    "COSMOFLOW, A100, 513",
    "RETINANET, B200, 163",
  })
  void demand_isThatOfTheRules(TrainingWorkload workload, AcceleratorType type, double megabytes) {
    double demand = Training.of(workload, type).demand((double) workload.sampleBytes());
    assertThat(demand / 1e6).isCloseTo(megabytes, within(0.6));
  }

  @Test
  void newestType_hasAValue() {
    assertThat(
            Arrays.stream(TrainingWorkload.values())
                .map(workload -> workload.newestType().word())
                .toList())
        .containsExactly("b200", "h100", "h100", "b200");
    assertThat(TrainingWorkload.RETINANET.computeNanos(AcceleratorType.H100)).isEmpty();
    assertThat(TrainingWorkload.RESNET50.computeNanos(AcceleratorType.B200)).isEmpty();
  }

  /** The document's table has the values that the command uses. */
  @ParameterizedTest
  @EnumSource(TrainingWorkload.class)
  void document_hasTheSameValues(TrainingWorkload workload) throws IOException {
    Map<String, List<String>> rows =
        Files.readAllLines(DOCUMENT).stream()
            .filter(line -> line.startsWith("| `"))
            .map(line -> Arrays.stream(line.split("\\|")).map(String::trim).toList())
            .collect(Collectors.toMap(row -> row.get(1), Function.identity(), (a, b) -> a));
    List<String> row = rows.get("`" + workload.word() + "`");
    assertThat(row).as("the row of %s in %s", workload.word(), DOCUMENT).isNotNull();
    assertThat(row.get(2).replace(",", "")).startsWith(Long.toString(workload.sampleBytes()));
    assertThat(row.get(3)).isEqualTo(Integer.toString(workload.batch()));
    List<AcceleratorType> types = List.of(AcceleratorType.values());
    for (int i = 0; i < types.size(); i++) {
      AcceleratorType type = types.get(i);
      String cell = row.get(4 + i);
      long micros = cell.equals("-") ? 0 : Math.round(1000 * Double.parseDouble(cell));
      assertThat(workload.computeNanos(type).orElse(0)).isEqualTo(micros * 1000);
    }
    assertThat(row.get(7)).isEqualTo(Integer.toString(workload.workers()));
    assertThat(row.get(8)).isEqualTo(Math.round(100 * workload.targetUtilization()) + " %");
  }
}
