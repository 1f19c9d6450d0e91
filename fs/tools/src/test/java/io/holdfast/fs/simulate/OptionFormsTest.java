package io.holdfast.fs.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.holdfast.policy.simulator.AccessOrder;
import io.holdfast.policy.simulator.Dataset;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sizes, orders, capacities and names of policies as users write them. */
class OptionFormsTest {
  private static final long ITEM = 1 << 20;

  @ParameterizedTest
  @CsvSource({
    "105000, 105000, 0",
    "110K, 112640, 0",
    "lognormal:105000, 105000, 0.5",
    "lognormal:64K:0.7, 65536, 0.7",
    "lognormal:64K:0, 65536, 0"
  })
  void size_inEachForm_isRead(String text, long mean, double sigma) {
    assertThat(FileSizes.parse(text)).isEqualTo(new FileSizes(mean, sigma));
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = " => ",
      quoteCharacter = '`',
      value = {
        "0 => '0' is too small",
        "-1 => '-1' is not a size",
        "9223372036854775808 => more than any machine can hold",
        "lognormal => 'lognormal' is not a size",
        "lognormal: => '' is not a size",
        "lognormal:0 => 'lognormal:0' is too small",
        "lognormal:5:x => 'x' does not do as sigma",
        "lognormal:5:-1 => '-1' does not do as sigma: give a number from 0 to 5",
        "lognormal:5:NaN => 'NaN' does not do",
        "lognormal:5:1:1 => is not known: write a size, such as 110K, or lognormal:MEAN[:SIGMA]",
        "normal:5 => 'normal:5' is not known"
      })
  void size_thatIsNone_isToldInOneLine(String text, String message) {
    assertThatThrownBy(() -> FileSizes.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void files_ofOneSize_areItems() {
    FileList files = FileSizes.parse("105000").files(2000, ITEM, 1);
    assertThat(files.files()).isEqualTo(2000);
    assertThat(files.dataset().items()).isEqualTo(2000);
    assertThat(files.dataset().bytes()).isEqualTo(210_000_000);
    assertThat(files.dataset().capacity(0.35)).isEqualTo(700 * 106_496);
  }

  @Test
  void files_lognormal_haveTheMean() {
    Dataset dataset = FileSizes.parse("lognormal:105000").files(20_000, ITEM << 6, 1).dataset();
    assertThat((double) dataset.bytes() / dataset.items()).isCloseTo(105_000, within(2_000.0));
    assertThat(IntStream.range(0, 100).mapToLong(dataset::size).distinct().count())
        .isGreaterThan(90);
  }

  @Test
  void files_largerThanAnItem_areCut() {
    for (String size : List.of("2621440", "lognormal:2621440:0", "2560K")) {
      FileList files = FileSizes.parse(size).files(3, ITEM, 1);
      assertThat(files.files()).isEqualTo(3);
      assertThat(files.dataset().items()).isEqualTo(9);
      assertThat(files.dataset().size(1)).isEqualTo(ITEM);
      assertThat(files.dataset().size(2)).isEqualTo(ITEM / 2);
      assertThat(files.items(new int[] {2, 0})).containsExactly(6, 7, 8, 0, 1, 2);
    }
    Dataset mixed = FileSizes.parse("lognormal:2M").files(50, ITEM, 1).dataset();
    assertThat(mixed.items()).isGreaterThan(50);
    assertThat(IntStream.range(0, mixed.items()).mapToLong(mixed::size).max()).hasValue(ITEM);
  }

  @Test
  void files_beyondWhatArraysHold_areRefused() {
    assertThatThrownBy(() -> FileSizes.parse("7E").files(3, ITEM, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("more than 2,147,483,639 items");
  }

  @Test
  void order_ofCutFiles_readsThemWhole() {
    FileList files = FileSizes.parse("2560K").files(100, ITEM, 1);
    AccessOrder order = files.whole(Orders.parse("shuffle").of(100, 1, 1));
    int[] items = order.epoch(1, new SplittableRandom(1));
    assertThat(order.name()).isEqualTo("shuffle");
    assertThat(items).hasSize(300).doesNotHaveDuplicates();
    for (int i = 0; i < items.length; i += 3) {
      assertThat(items[i] % 3).isZero();
      assertThat(items[i + 2]).isEqualTo(items[i] + 2);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "shuffle, shuffle, 500",
    "sequential, sequential, 500",
    "window, window, 500",
    "window:10, window, 500",
    "skewed, skewed, 500",
    "skewed:1.2, skewed, 500",
    "one-pass, one-pass, 250",
    "known, known, 500"
  })
  void order_inEachForm_isRead(String text, String name, int accesses) {
    AccessOrder order = Orders.parse(text).of(500, 2, 1);
    assertThat(order.name()).isEqualTo(name);
    assertThat(order.epoch(1, new SplittableRandom(1))).hasSize(accesses);
  }

  @Test
  void order_window_isAsWideAsSaid() {
    int[] order = Orders.parse("window:10").of(500, 1, 1).epoch(1, new SplittableRandom(1));
    for (int i = 0; i < order.length; i++) {
      assertThat(order[i]).isLessThan(i + 10);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = " => ",
      quoteCharacter = '`',
      value = {
        "random => 'random' is not known: choose one of shuffle, sequential, window[:FILES], ",
        "shuffle:3 => 'shuffle:3' is not known",
        "sequential: => 'sequential:' is not known",
        "one-pass:2 => 'one-pass:2' is not known",
        "window: => '' does not do: give a whole number from 1",
        "window:0 => '0' does not do",
        "window:x => 'x' does not do",
        "skewed:-1 => '-1' does not do as exponent: give a number from 0 to 10",
        "skewed:x => 'x' does not do as exponent"
      })
  void order_thatIsNone_isToldInOneLine(String text, String message) {
    assertThatThrownBy(() -> Orders.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource({"35%, 35840", "0.5%, 512", "100%, 102400", "8K, 8192", "1G, 1073741824"})
  void capacity_inEachForm_isRead(String text, long bytes) {
    long[] sizes = new long[25];
    Arrays.fill(sizes, 4096);
    Dataset dataset = Dataset.of(sizes, new long[25]);
    assertThat(Capacity.parse(text).of(dataset)).isEqualTo(bytes);
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = " => ",
      quoteCharacter = '`',
      value = {
        "0 => '0' is no capacity",
        "0% => '0%' is no capacity",
        "101% => '101%' is more than the whole",
        "3x% => '3x%' is not a percentage",
        "% => '%' is not a percentage",
        "x => 'x' is not a size",
        "35 => '35' bytes are less than a page of memory: give 35% for a share"
      })
  void capacity_thatIsNone_isToldInOneLine(String text, String message) {
    assertThatThrownBy(() -> Capacity.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void capacity_ofASmallDataset_mayBeNothing() {
    Dataset dataset = Dataset.ofEqualSizes(10, 1000);
    assertThatThrownBy(() -> Capacity.parse("1%").of(dataset))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'1%' of so small a dataset is nothing");
  }

  @Test
  void policies_twice_areOne() {
    assertThat(Experiment.policies(List.of("lru", "minio", "lru"))).containsExactly("lru", "minio");
  }

  @Test
  void policy_unknown_isToldWithAllThatAreKnown() {
    assertThatThrownBy(() -> Experiment.policies(List.of("minio", "lur")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("'lur' is not known: choose of minio, ")
        .hasMessageContaining("linux")
        .hasMessageEndingWith("belady, cooperative");
  }
}
