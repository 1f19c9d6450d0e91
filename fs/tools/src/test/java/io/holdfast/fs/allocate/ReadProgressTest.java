package io.holdfast.fs.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.figures.JobsFigures.Epoch;
import io.holdfast.fs.figures.JobsFigures.Job;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

/** Speeds from looks at epochs that end meanwhile. */
class ReadProgressTest {
  private final ReadProgress progress = new ReadProgress(10);

  private static Job job(String name, long first, long... bytes) {
    List<Epoch> epochs = new ArrayList<>();
    for (int i = 0; i < bytes.length; i++) {
      OptionalDouble none = OptionalDouble.empty();
      epochs.add(
          new Epoch(
              first + i,
              1,
              0,
              none,
              0,
              1,
              bytes[i],
              0,
              0,
              0,
              0,
              none,
              none,
              none,
              none,
              none,
              none,
              none,
              1,
              Optional.empty()));
    }
    OptionalDouble unknown = OptionalDouble.empty();
    return new Job(
        name, 1, unknown, false, 1, 1, 0, unknown, 0, 0, Optional.empty(), "", "", first, epochs);
  }

  @Test
  void speed_ofOneLook_isNotKnown() {
    progress.add(5, job("a", 1, 1000));
    assertThat(progress.speed()).isZero();
  }

  @Test
  void speed_countsEpochsThatEndedMeanwhile() {
    progress.add(0, job("a", 1, 1000, 300));
    progress.add(5, job("a", 1, 1000, 1000, 1000, 50));
    assertThat(progress.speed()).isEqualTo(350);
  }

  /** A daemon knows the last epochs only. */
  @Test
  void speed_epochsThatWereForgotten_doNotMatter() {
    progress.add(0, job("a", 1, 1000, 300));
    progress.add(5, job("a", 2, 800, 100));
    assertThat(progress.speed()).isEqualTo(120);
  }

  @Test
  void speed_isOfTheWindow() {
    progress.add(0, job("a", 1, 0));
    progress.add(10, job("a", 1, 100));
    progress.add(20, job("a", 1, 1100));
    assertThat(progress.speed()).isEqualTo(100);
  }

  /** The daemon notices later where an epoch has begun, and counts its first files to it. */
  @Test
  void speed_bytesThatMoveToTheNextEpoch_countOnce() {
    progress.add(0, job("a", 1, 1000));
    progress.add(5, job("a", 1, 1100));
    progress.add(10, job("a", 1, 900, 300));
    assertThat(progress.speed()).isEqualTo(20);
  }

  @Test
  void daemonThatCountsFromZeroAgain_beginsAnew() {
    progress.add(0, job("a", 7, 1000));
    progress.add(5, job("a", 1, 500));
    assertThat(progress.speed()).isZero();
    progress.add(10, job("a", 1, 1000));
    assertThat(progress.speed()).isEqualTo(100);
  }

  /** The speed was 0 until as much had been read as before. */
  @Test
  void daemonThatCountsFromZeroAgain_withinTheSameEpoch_beginsAnew() {
    progress.add(0, job("a", 1, 1000));
    progress.add(5, job("a", 1, 500));
    assertThat(progress.speed()).isZero();
    progress.add(10, job("a", 1, 1000));
    assertThat(progress.speed()).isEqualTo(100);
  }

  @Test
  void anotherJob_beginsAnew() {
    progress.add(0, job("a", 1, 1000));
    progress.add(5, job("b", 1, 500));
    assertThat(progress.speed()).isZero();
    progress.add(10, job("b", 1, 1000));
    assertThat(progress.speed()).isEqualTo(100);
  }
}
