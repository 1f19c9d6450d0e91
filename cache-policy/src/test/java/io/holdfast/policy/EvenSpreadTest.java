package io.holdfast.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.holdfast.policy.SpreadModel.Pass;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Residents that are spread over an order, and the hits that they keep. */
final class EvenSpreadTest {
  private static final int FILES = 8000;
  private static final double C = 0.65;
  private static final int ROOM = (int) (C * FILES);

  // --- evenness

  @Test
  void fixedOrder_fromTheThirdPassOn_hasItsShareInEveryTenth() {
    SpreadModel model = SpreadModel.of("minio", FILES, ROOM, true);
    int[] order = shuffled(FILES, new Random(3));
    assertThat(model.read(0, order)).containsOnly(0);
    assertThat(model.read(0, order)).startsWith(800, 800, 800, 800, 800, 800, 400, 0);
    for (int pass = 3; pass <= 6; pass++) {
      int[] tenths = model.read(0, order);
      assertThat(IntStream.of(tenths).sum()).isEqualTo(ROOM);
      assertThat(tenths).as("pass %d", pass).containsOnly(520);
    }
    assertThat(model.swaps()).as("a share c (1 - c) makes way, once").isBetween(1810L, 1830L);
    model.policy().check();
  }

  /** The claim of the documents: an origin of 50 MB/s, memory of 2 GB/s, in every tenth. */
  @Test
  void fixedOrder_speed_isThatOfMinioHashInEveryTenth() {
    double even = 1 / speed(ROOM / (double) FILES);
    assertThat(slowest("minio", false)).isGreaterThan(2.7 * even);
    assertThat(slowest("minio-hash", false)).isBetween(1.04 * even, 1.20 * even);
    assertThat(slowest("minio", true)).isLessThan(1.01 * even);
  }

  /** Returns the longest time of a tenth of the third pass. */
  private static double slowest(String policy, boolean spreads) {
    SpreadModel model = SpreadModel.of(policy, FILES, ROOM, spreads);
    model.policy().datasetSize(FILES);
    int[] order = shuffled(FILES, new Random(3));
    model.read(0, order);
    model.read(0, order);
    return IntStream.of(model.read(0, order))
        .mapToDouble(hits -> 1 / speed(hits / 800.0))
        .max()
        .orElseThrow();
  }

  private static double speed(double hits) {
    return 1 / (hits / 2000 + (1 - hits) / 50);
  }

  @ParameterizedTest
  @CsvSource({"100,35", "64,1", "64,63", "1000,350", "999,500", "5000,4900", "20000,200"})
  void fixedOrder_ofAnyLength_isEvenInTheEnd(int files, int room) {
    SpreadModel model = SpreadModel.of("minio", files, room, true);
    int[] order = shuffled(files, new Random(files));
    for (int pass = 1; pass <= 6; pass++) {
      model.read(0, order);
    }
    int expected = room / 10;
    assertThat(IntStream.of(model.read(0, order)).boxed())
        .allSatisfy(hits -> assertThat(hits).isBetween(expected - 2, expected + 3));
    long swaps = model.swaps();
    model.read(0, order);
    assertThat(model.swaps()).as("it has ended").isEqualTo(swaps);
  }

  /** A shuffle whose readers come out of order, as the workers of a loader do. */
  @Test
  void fixedOrder_readersOutOfOrder_isSpreadOverTheOrder() {
    SpreadModel model = SpreadModel.of("minio", FILES, ROOM, true);
    Random random = new Random(5);
    int[] order = shuffled(FILES, random);
    for (int pass = 1; pass <= 4; pass++) {
      model.read(0, order, nearly(FILES, SpreadModel.reach(FILES), random));
    }
    assertThat(model.read(0, order)).containsOnly(520);
  }

  /**
   * An order over which the residents lie by chance: residents move to later places only, and
   * further than readers may be, so little changes, and no tenth is worse off.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void anotherOrder_isNotLessEven_andSwapsEnd(long seed) {
    SpreadModel model = SpreadModel.of("minio", FILES, ROOM, true);
    Random random = new Random(seed);
    int[] one = shuffled(FILES, random);
    int[] two = shuffled(FILES, random);
    for (int pass = 1; pass <= 4; pass++) {
      model.read(0, one);
    }
    int before = unevenness(model.read(0, two));
    for (int pass = 2; pass <= 8; pass++) {
      model.read(0, two);
    }
    long swaps = model.swaps();
    int[] tenths = model.read(0, two);
    assertThat(unevenness(tenths)).isLessThanOrEqualTo(before + 3);
    assertThat(IntStream.of(tenths).sum()).isEqualTo(ROOM);
    assertThat(model.swaps()).isEqualTo(swaps);
  }

  private static int unevenness(int[] tenths) {
    return IntStream.of(tenths).map(hits -> Math.abs(hits - ROOM / 10)).max().orElseThrow();
  }

  /** To move residents forward would cost hits. */
  @Test
  void reversedOrder_leavesTheResidentsAtTheEnd() {
    SpreadModel model = SpreadModel.of("minio", FILES, ROOM, true);
    int[] order = SpreadModel.inOrder(FILES);
    model.read(0, order);
    int[] reversed = IntStream.of(order).map(file -> FILES - 1 - file).toArray();
    for (int pass = 1; pass <= 4; pass++) {
      assertThat(model.read(0, reversed))
          .containsExactly(0, 0, 0, 400, 800, 800, 800, 800, 800, 800);
    }
    assertThat(model.swaps()).isZero();
  }

  @Test
  void shuffledOrder_swapsNothing() {
    SpreadModel model = SpreadModel.of("minio", 1000, 650, true);
    Random random = new Random(9);
    for (int pass = 1; pass <= 5; pass++) {
      model.read(0, shuffled(1000, random));
    }
    assertThat(model.swaps()).isZero();
  }

  // --- hits

  /**
   * Jobs that read all of the dataset, in fixed, shuffled and nearly fixed orders, one after the
   * other or at the same time, whole passes or such that rest in the middle: each pass has exactly
   * the hits that it has with MinIO.
   */
  @Property(tries = 300)
  void wholeDataset_anyMixOfOrdersAndJobs_hitsAsManyAsMinio(
      @ForAll @IntRange(min = 64, max = 400) int files,
      @ForAll @DoubleRange(min = 0.02, max = 0.98) double c,
      @ForAll long seed) {
    Random random = new Random(seed);
    int room = Math.max(1, (int) (c * files));
    SpreadModel spread = SpreadModel.of("minio", files, room, true);
    SpreadModel minio = SpreadModel.of("minio", files, room, false);
    int[] fixed = shuffled(files, random);
    List<Pass[]> resting = new ArrayList<>();
    for (int pass = 1; pass <= 12; pass++) {
      int[] order = random.nextInt(3) == 0 ? shuffled(files, random) : fixed;
      int[] readers =
          random.nextInt(3) == 0
              ? nearly(files, SpreadModel.reach(files), random)
              : SpreadModel.inOrder(files);
      int job = pass == 1 ? 0 : random.nextInt(5) / 3;
      Pass[] both = {spread.begin(job, order, readers), minio.begin(job, order, readers)};
      int items = pass > 1 && random.nextInt(4) == 0 ? random.nextInt(files) : files;
      for (int i = 0; i < items; i++) {
        both[0].read(1);
        both[1].read(1);
        goOn(resting, random);
      }
      resting.add(both);
      resting.removeIf(each -> hitsAlike(each, room));
    }
    for (Pass[] both : resting) {
      both[0].read(files);
      both[1].read(files);
      hitsAlike(both, room);
    }
    spread.policy().check();
    assertThat(spread.policy().residentItems()).isEqualTo(room);
  }

  private static void goOn(List<Pass[]> resting, Random random) {
    for (Pass[] each : resting) {
      int items = random.nextInt(3);
      each[0].read(items);
      each[1].read(items);
    }
  }

  private static boolean hitsAlike(Pass[] both, int room) {
    if (!both[0].isOver()) {
      return false;
    }
    assertThat(both[0].hits()).isGreaterThanOrEqualTo(both[1].hits());
    assertThat(both[0].hits()).isIn(0, room);
    return true;
  }

  /**
   * Jobs that read a part: from the residents that are there when it begins, no pass has fewer hits
   * than with MinIO.
   */
  @Property(tries = 300)
  void part_fromTheSameResidents_neverHitsFewerThanMinio(
      @ForAll @IntRange(min = 64, max = 400) int files,
      @ForAll @DoubleRange(min = 0.02, max = 0.98) double c,
      @ForAll long seed) {
    Random random = new Random(seed);
    SpreadModel spread = SpreadModel.of("minio", files, Math.max(1, (int) (c * files)), true);
    int[] first = random.nextBoolean() ? shuffled(files, random) : part(files, random);
    int passes = random.nextInt(4);
    for (int pass = 0; pass < passes; pass++) {
      spread.read(0, first);
    }
    for (int phase = 0; phase < 4; phase++) {
      SpreadModel minio = spread.plain();
      int[] part = part(files, random);
      for (int pass = 0; pass < 4; pass++) {
        int[] order = random.nextInt(4) == 0 ? shuffle(part.clone(), random) : part;
        int now = IntStream.of(spread.read(phase % 2, order)).sum();
        assertThat(now).isGreaterThanOrEqualTo(IntStream.of(minio.read(phase % 2, order)).sum());
      }
    }
  }

  /**
   * No policy has hits for every part that MinIO has hits for. A job that reads just what came
   * first had nothing but hits; another, that reads just the rest, had none.
   */
  @Test
  void part_thatIsWhatCameFirst_hasItsShareOfHits() {
    SpreadModel model = SpreadModel.of("minio", FILES, ROOM, true);
    int[] order = SpreadModel.inOrder(FILES);
    for (int pass = 1; pass <= 3; pass++) {
      model.read(0, order);
    }
    int[] head = Arrays.copyOf(order, ROOM);
    int[] tail = Arrays.copyOfRange(order, ROOM, FILES);
    assertThat(IntStream.of(model.plain().read(1, head)).sum()).isEqualTo((int) (C * ROOM));
    assertThat(IntStream.of(model.plain().read(1, tail)).sum()).isEqualTo(ROOM - (int) (C * ROOM));
  }

  /** Parts that are chosen without regard to the order have as many hits as before, on average. */
  @Test
  void part_anyChoice_hasAsManyHitsOnAverage() {
    SpreadModel model = SpreadModel.of("minio", FILES, ROOM, true);
    Random random = new Random(11);
    int[] order = shuffled(FILES, random);
    for (int pass = 1; pass <= 3; pass++) {
      model.read(0, order);
    }
    int parts = 200;
    long hits = 0;
    for (int i = 0; i < parts; i++) {
      int[] part = Arrays.copyOf(shuffled(FILES, random), 1000);
      hits += IntStream.of(model.plain().read(1, part)).sum();
    }
    // 650 each, standard deviation 14 for one, 1 for the mean: five of them
    assertThat(hits / (double) parts).isBetween(645.0, 655.0);
  }

  /**
   * Mixed sizes: as many residents as before, never much room that is not used, and in the end
   * tenths of 200 files as even as by chance, whose standard deviation is .04. Few residents fit
   * into the place of a file, so that takes more passes than for files of one size.
   */
  @Property(tries = 100)
  void mixedWeights_fixedOrder_fillTheCapacityAndAreEven(@ForAll long seed) {
    Random random = new Random(seed);
    int files = 2000;
    int[] weights = new int[files];
    Arrays.setAll(weights, i -> 1 + (int) (25 * Math.exp(0.5 * random.nextGaussian())));
    long total = IntStream.of(weights).asLongStream().sum();
    CachePolicy policy = Policies.create("minio", (long) (C * total), 1);
    SpreadModel model = new SpreadModel(policy, weights, true);
    int[] order = shuffled(files, random);
    long items = 0;
    for (int pass = 1; pass <= 12; pass++) {
      model.read(0, order);
      assertThat(policy.residentItems()).isGreaterThanOrEqualTo(items);
      items = policy.residentItems();
      int smallestMissing =
          IntStream.range(0, files)
              .filter(i -> !policy.contains(i))
              .map(i -> weights[i])
              .min()
              .orElseThrow();
      assertThat(policy.capacity() - policy.residentBytes())
          .isLessThanOrEqualTo(Math.max(model.slack(), smallestMissing));
      policy.check();
    }
    for (int tenth = 0; tenth < 10; tenth++) {
      IntStream part = IntStream.range(tenth * 200, tenth * 200 + 200).map(i -> order[i]);
      IntUnaryOperator weight = item -> policy.contains(item) ? weights[item] : 0;
      int there = part.map(weight).sum();
      int all = IntStream.range(tenth * 200, tenth * 200 + 200).map(i -> weights[order[i]]).sum();
      assertThat(there / (double) all).isBetween(C - 0.16, C + 0.16);
    }
  }

  // --- the machine

  @Test
  void victim_isReadAndPassedAndUnwantedAndTheOnlyOne() {
    EvenSpread spread = EvenSpread.over(new FirstOf(20, 10, place -> 2), true);
    assertThat(spread).isNotNull();
    // due at every second place, from the first on
    assertThat(IntStream.range(-1, 20).filter(spread::wants)).containsExactly(10, 12, 14, 16, 18);
    spread.read(0);
    spread.read(1);
    spread.passed(3);
    assertThat(spread.victim(11, 0, 0)).as("it is not to be resident").isEqualTo(EvenSpread.NONE);
    assertThat(spread.victim(10, 0, 0)).as("0 and 2 are to stay").isEqualTo(1);
    assertThat(spread.victim(10, 0, 0)).as("3 is not passed").isEqualTo(EvenSpread.NONE);
    assertThat(spread.wants(10)).as("3 stays in its stead").isFalse();
    spread.read(3);
    spread.read(7);
    spread.read(9);
    spread.passed(10);
    assertThat(spread.victim(12, 0, 0)).as("3 stays, 5 was not read").isEqualTo(7);
    spread.swapped(12);
    assertThat(spread.wants(12)).isFalse();
    spread.read(5);
    assertThat(spread.victim(14, 0, 0)).isEqualTo(9);
    assertThat(spread.victim(16, 0, 0)).as("5 was looked at before").isEqualTo(EvenSpread.NONE);
    assertThat(spread.lacking()).as("14 and 18").isEqualTo(2);
  }

  @Test
  void victim_mixedWeights_fitsAndLeavesLittleFree() {
    // 10 residents weigh 32 to 35, the 10 items that are missing weigh 34 each; every second place
    // is
    // to be resident, so those that are to make way weigh 33 and 35
    assertThat(weightOfVictim(0, 0)).as("none of 34").isZero();
    assertThat(weightOfVictim(0, 1)).isEqualTo(35);
    assertThat(weightOfVictim(1, 1)).as("1 is free").isEqualTo(33);
    assertThat(weightOfVictim(40, 0)).as("all is free").isEqualTo(33);
  }

  private static int weightOfVictim(long free, long slack) {
    IntUnaryOperator weights = place -> place < 10 ? 32 + place % 4 : 34;
    EvenSpread spread = EvenSpread.over(new FirstOf(20, 10, weights), true);
    assertThat(spread).isNotNull();
    IntStream.range(0, 20).forEach(spread::read);
    spread.passed(20);
    int newcomer = IntStream.range(10, 20).filter(spread::wants).findFirst().orElseThrow();
    int victim = spread.victim(newcomer, free, slack);
    return victim == EvenSpread.NONE ? 0 : weights.applyAsInt(victim);
  }

  /** Items of very different weights have no common class, so that a small one never makes way. */
  @Property(tries = 200)
  void victim_ofAnyWeights_differsByAnEighthAtMost(@ForAll long seed) {
    Random random = new Random(seed);
    int[] weights = random.ints(200, 1, 1 << (1 + random.nextInt(29))).toArray();
    EvenSpread spread = EvenSpread.over(new FirstOf(200, 120, place -> weights[place]), true);
    if (spread == null) {
      return;
    }
    IntStream.range(0, 200).forEach(spread::read);
    spread.passed(200);
    for (int newcomer = 120; newcomer < 200; newcomer++) {
      int victim = spread.victim(newcomer, 0, Integer.MAX_VALUE);
      if (victim != EvenSpread.NONE) {
        assertThat(weights[victim])
            .isBetween(weights[newcomer], weights[newcomer] + weights[newcomer] / 8);
      }
    }
  }

  @Test
  void over_nothingToDo_isNull() {
    assertThat(EvenSpread.over(new FirstOf(100, 0, place -> 1), true)).as("no resident").isNull();
    assertThat(EvenSpread.over(new FirstOf(100, 100, place -> 1), true)).as("all").isNull();
    assertThat(EvenSpread.over(new FirstOf(0, 0, place -> 1), true)).as("no item").isNull();
    assertThat(EvenSpread.over(new FirstOf(100, 50, place -> 0), true))
        .as("all must stay")
        .isNull();
    assertThat(EvenSpread.over(new FirstOf(EvenSpread.MOST_PLACES + 1, 5, place -> 1), true))
        .as("too many")
        .isNull();
    assertThat(
            EvenSpread.over(
                new EvenSpread.Places() {
                  @Override
                  public int count() {
                    return 1000;
                  }

                  @Override
                  public int weight(int place) {
                    return 1;
                  }

                  @Override
                  public boolean isResident(int place) {
                    return place % 2 == 1;
                  }
                },
                true))
        .as("even")
        .isNull();
  }

  @Test
  void over_negativeWeight_isRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> EvenSpread.over(new FirstOf(3, 1, place -> -1), true))
        .withMessage("weight must not be negative: -1");
  }

  /** An order of which the first items are resident. */
  private record FirstOf(int count, int resident, IntUnaryOperator weights)
      implements EvenSpread.Places {
    @Override
    public int weight(int place) {
      return weights.applyAsInt(place);
    }

    @Override
    public boolean isResident(int place) {
      return place < resident;
    }
  }

  // --- orders

  private static int[] shuffled(int files, Random random) {
    return shuffle(SpreadModel.inOrder(files), random);
  }

  private static int[] shuffle(int[] order, Random random) {
    for (int i = order.length - 1; i > 0; i--) {
      swap(order, i, random.nextInt(i + 1));
    }
    return order;
  }

  private static void swap(int[] order, int i, int j) {
    int item = order[i];
    order[i] = order[j];
    order[j] = item;
  }

  /** Some of the files, 64 at least: a beginning, an end, every so many, or any, in their order. */
  private static int[] part(int files, Random random) {
    int count = 64 + random.nextInt(files - 63);
    int[] all = SpreadModel.inOrder(files);
    return switch (random.nextInt(3)) {
      case 0 -> Arrays.copyOf(all, count);
      case 1 -> Arrays.copyOfRange(all, files - count, files);
      default -> Arrays.copyOf(shuffle(all, random), count);
    };
  }

  /** Places in order, each less than so many from where it is in the order. */
  private static int[] nearly(int count, int reach, Random random) {
    int[] places = SpreadModel.inOrder(count);
    for (int from = 0; from < count; from += reach) {
      int to = Math.min(count, from + reach);
      for (int i = to - 1; i > from; i--) {
        swap(places, i, from + random.nextInt(i - from + 1));
      }
    }
    return places;
  }
}
