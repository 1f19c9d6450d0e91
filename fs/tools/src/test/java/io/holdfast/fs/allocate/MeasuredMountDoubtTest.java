package io.holdfast.fs.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.analyze.Analysis;
import io.holdfast.fs.analyze.Subject;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.throughput.Epochs;
import io.holdfast.fs.throughput.Observation;
import io.holdfast.fs.throughput.Runs;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A mount whose job's bytes do not tell what was in memory. */
class MeasuredMountDoubtTest {
  private static final long DATASET = 1_000_000_000;

  @Test
  void mount_whoseJobOpensFilesAgainAndAgain_isLeftAsItIs() {
    List<Observation> epochs =
        List.of(Epochs.of(2).in(20).bytes(8 * DATASET).origin(DATASET, 70).by(4, 1).seen());
    Analysis analysis =
        Analysis.of(
            new Subject("train", "/data", DATASET, Epochs.site(2)),
            Runs.of(epochs, false, false),
            List.of());
    FoundMount mount =
        MeasuredMount.of(
            FiguresJson.figures(
                Map.of("name", "one", "dataset", Map.of("bytes", DATASET, "scanned", true))),
            analysis,
            epochs,
            Bounds.NONE);
    assertThat(mount.state()).isEqualTo(FoundMount.State.LEFT);
    assertThat(mount.reason()).startsWith("it opens files again and again in a pass, 8.0 times");
  }
}
