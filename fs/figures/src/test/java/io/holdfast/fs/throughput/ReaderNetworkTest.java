package io.holdfast.fs.throughput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Readers that fetch and prepare in turn. Megabytes and seconds. */
class ReaderNetworkTest {
  @Test
  void oneReader_takesTheSumOfAllTimes() {
    ReaderNetwork network = new ReaderNetwork(0.65, 50, 0.001, 1 / 75.0, 2);
    assertThat(network.throughput(1)).isCloseTo(1 / (0.65 / 50 + 0.001 + 1 / 75.0), within(1e-9));
  }

  @Test
  void manyReaders_areAsFastAsTheSlowestPart() {
    assertThat(new ReaderNetwork(0.65, 50, 0, 1 / 75.0, 2).throughput(64))
        .isCloseTo(50 / 0.65, within(0.01));
    assertThat(new ReaderNetwork(0.1, 50, 0, 1 / 75.0, 2).throughput(64))
        .isCloseTo(150, within(0.01));
  }

  /** Readers with a processor each wait for nobody. */
  @Test
  void readersThatOnlyCompute_areIndependentUpToTheProcessors() {
    ReaderNetwork network = new ReaderNetwork(0, 50, 0, 1 / 75.0, 4);
    assertThat(network.throughput(3)).isCloseTo(225, within(1e-6));
    assertThat(network.throughput(8)).isCloseTo(300, within(0.5));
  }

  @Test
  void waits_thatNobodyElseLengthens_areHiddenByReaders() {
    ReaderNetwork network = new ReaderNetwork(0, 50, 0.1, 0, 1);
    assertThat(network.throughput(1)).isCloseTo(10, within(1e-9));
    assertThat(network.throughput(16)).isCloseTo(160, within(1e-6));
    assertThat(network.throughput(100_000)).isCloseTo(1e6, within(1e-3));
  }

  @Test
  void nothingToDo_isInfinitelyFast() {
    assertThat(new ReaderNetwork(0, 50, 0, 0, 1).throughput(4)).isInfinite();
  }

  @Property(tries = 300)
  void speed_neverFallsWithReadersNorExceedsAnyBound(
      @ForAll @DoubleRange(min = 0, max = 1) double share,
      @ForAll @DoubleRange(min = 1, max = 1e6) double rate,
      @ForAll @DoubleRange(min = 0, max = 10) double delay,
      @ForAll @DoubleRange(min = 0.01, max = 1) double processing,
      @ForAll @IntRange(min = 1, max = 64) int processors,
      @ForAll @IntRange(min = 1, max = 40) int readers) {
    ReaderNetwork network = new ReaderNetwork(share, rate, delay, processing, processors);
    double speed = network.throughput(readers);
    double alone = share / rate + delay + processing;
    assertThat(speed).isPositive().isFinite();
    assertThat(speed).isLessThanOrEqualTo(readers / alone * (1 + 1e-9));
    assertThat(speed).isLessThanOrEqualTo(processors / processing * (1 + 1e-9));
    assertThat(speed * share).isLessThanOrEqualTo(rate * (1 + 1e-9));
    assertThat(network.throughput(readers + 1)).isGreaterThanOrEqualTo(speed * (1 - 1e-3));
  }
}
