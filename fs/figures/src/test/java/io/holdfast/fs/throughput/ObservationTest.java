package io.holdfast.fs.throughput;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Epochs whose figures tell something, and epochs whose figures do not. */
class ObservationTest {
  private static final long GB = 1_000_000_000L;

  /** Each of eight workers opens all shards and reads its part of them. */
  @Test
  void bytes_ofFilesThatAreOpenedAgainAndAgain_areDoubted() {
    Observation seen = Epochs.of(2).bytes(8 * GB).origin(GB, 70).by(8, 1).seen();
    assertThat(seen.doubt(GB).orElseThrow())
        .startsWith("it opens files again and again in a pass, 8.0 times the bytes of the dataset");
    assertThat(seen.doubt(0)).as("nobody knows the dataset").isEmpty();
    assertThat(seen.doubt(8 * GB)).isEmpty();
    assertThat(seen.doubt(8 * GB / 14 * 10)).as("drawn with replacement").isEmpty();
  }

  /** A database that stays open over passes. */
  @Test
  void bytes_ofFilesThatStayOpen_areDoubted() {
    Observation seen = Epochs.of(1).bytes(GB).origin(4 * GB, 70).peer(GB, 10).by(8, 1).seen();
    assertThat(seen.doubt(0).orElseThrow())
        .startsWith("it keeps files open")
        .contains("5.0 times the bytes of those that it opened");
    assertThat(Epochs.of(1).bytes(GB).origin(GB, 70).by(8, 1).seen().doubt(GB)).isEmpty();
  }

  /** A record of an older daemon does not tell, and then the mean does not either. */
  @Test
  void mean_ofEpochs_hasTheMeanTimeOfFetches() {
    Observation three = Epochs.of(2).by(4, 20).fetching(3).seen();
    Observation five = Epochs.of(3).by(4, 20).fetching(5).seen();
    Observation older = Epochs.of(4).by(4, 20).seen();
    assertThat(Observation.mean(List.of(three, five)).epoch().fetchingSeconds()).hasValue(4);
    assertThat(Observation.mean(List.of(three, older)).epoch().fetchingSeconds()).isEmpty();
  }

  /** The validation's eight readers live beside the training's eight, which rest meanwhile. */
  @Test
  void readers_thatWereNeverAllThereForLong_areNotAllCounted() {
    Observation two = Epochs.of(2).in(10).by(16, 60).living(80).seen();
    assertThat(two.readers()).isEqualTo(8);
    Observation one = Epochs.of(3).in(10).by(16, 60).living(150).seen();
    assertThat(one.readers()).as("the end of each was not seen").isEqualTo(16);
    assertThat(Observation.mean(List.of(two, two)).epoch().readers()).isEqualTo(8);
    assertThat(Epochs.of(2).withoutCpu().seen().readers()).isEqualTo(1);
  }
}
