package io.holdfast.fs.allocate.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.JobsFigures.Job;
import io.holdfast.fs.throughput.Observation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Rates of consumers, of trainings that begin and end under one name. */
class ConsumerBoundsTest {
  private static final String MOUNT = "mount";
  private static final long GB = 1_000_000_000;

  private final ConsumerBounds bounds = new ConsumerBounds();
  private final List<Object> epochs = new ArrayList<>();
  private final Map<String, Object> job = new HashMap<>(Map.of("job", "train"));
  private String mountedAt = "2026-11-21T10:00:00Z";

  /** Adds an epoch of 1 GB. Its eight readers wait for their consumer, or else for the origin. */
  private ConsumerBoundsTest epoch(long number, double seconds, boolean waitsForConsumer) {
    Map<String, Object> epoch = new HashMap<>();
    epoch.put("epoch", number);
    epoch.put("opens", 1000);
    epoch.put("bytes", GB);
    epoch.put("seconds", seconds);
    epoch.put("readers", 8);
    epoch.put("reader_seconds", 8 * seconds);
    epoch.put("cpu_seconds", 0.5);
    epoch.put("origin_stall_seconds", waitsForConsumer ? 0 : 0.98 * 8 * seconds);
    epochs.add(epoch);
    return this;
  }

  /** Returns the seconds of the epoch that a look finds to tell the consumer's rate. */
  private Optional<Double> look() {
    job.put("epochs", epochs);
    Figures figures =
        FiguresJson.figures(Map.of("mounted_at", mountedAt, "jobs", Map.of("jobs", List.of(job))));
    bounds.look(MOUNT, figures);
    Job looked = figures.jobs().jobs().get(0);
    List<Observation> seen = looked.epochs().stream().map(Observation::of).toList();
    return bounds.of(MOUNT, looked, seen).map(each -> each.epoch().seconds());
  }

  @Test
  void bound_isTheMedianOfTheEpochsThatWaited_andStays() {
    assertThat(epoch(1, 10, true).epoch(2, 11, true).epoch(3, 9, true).epoch(4, 1, true).look())
        .as("without the one under way")
        .contains(10.0);
    epochs.clear();
    assertThat(epoch(20, 15, false).epoch(21, 15, false).look())
        .as("the daemon does not know these epochs any more")
        .contains(10.0);
    bounds.retain(Set.of(MOUNT));
    assertThat(look()).contains(10.0);
    bounds.retain(Set.of());
    assertThat(look()).isEmpty();
  }

  /** The next training of the name was held to take no more than the one before it. */
  @Test
  void bound_ofATrainingThatHasEnded_isNotThatOfTheNextOfItsName() {
    assertThat(epoch(1, 5, true).epoch(2, 5, true).epoch(3, 5, true).look()).contains(5.0);
    job.put("ended_seconds", 1000.0);
    look();
    job.remove("ended_seconds");
    assertThat(epoch(4, 7, true).look()).isEmpty();
    assertThat(epoch(5, 7, true).look()).contains(7.0);
  }

  /** Between two epochs a job may have no process. */
  @Test
  void bound_ofAJobThatHasNoProcessForAMoment_stays() {
    assertThat(epoch(1, 5, true).epoch(2, 9, false).look()).contains(5.0);
    job.put("ended_seconds", 20.0);
    assertThat(look()).contains(5.0);
    job.remove("ended_seconds");
    assertThat(epoch(3, 9, false).look()).contains(5.0);
  }

  @Test
  void bound_whereTheFiguresBeginAnew_isForgotten() {
    assertThat(epoch(1, 5, true).epoch(2, 9, false).look()).contains(5.0);
    epochs.clear();
    assertThat(epoch(1, 9, false).look()).as("the job had lost its row").isEmpty();
    epochs.clear();
    assertThat(epoch(1, 5, true).epoch(2, 9, false).look()).contains(5.0);
    mountedAt = "2026-11-21T11:00:00Z";
    epochs.clear();
    assertThat(epoch(2, 9, false).look()).as("another daemon").isEmpty();
  }

  @Test
  void bound_thatAnEpochIsClearlyFasterThan_isForgotten() {
    assertThat(epoch(1, 10, true).epoch(2, 9, false).epoch(3, 9, false).look()).contains(10.0);
    assertThat(epoch(4, 5, false).look()).as("under way").contains(10.0);
    assertThat(epoch(5, 5, false).look()).isEmpty();
  }
}
