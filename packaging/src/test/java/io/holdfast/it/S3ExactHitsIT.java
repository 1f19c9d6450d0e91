package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.s3server.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The MinIO policy's arithmetic, to the request: counted by a proxy in front of the store. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class S3ExactHitsIT {
  private static final int ITEMS = 200;
  private static final int ITEM_BYTES = 16 << 10;
  private static final Duration EPOCH_DEADLINE = Duration.ofSeconds(60);

  @Order(1)
  @RegisterExtension
  static final Bucket BUCKET = new Bucket();

  @Order(2)
  @RegisterExtension
  static final Sandbox SANDBOX = new Sandbox();

  @RegisterExtension
  static final SharedMount SHARED =
      new SharedMount(
          () -> BUCKET.mount(SANDBOX, "both", "--capacity=64M", "--item-size=2M", "--window=0"));

  private static Dataset small;
  private static Dataset large;

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  /** The requests that the store got. */
  private record Traffic(long gets, long bytes) {}

  @BeforeAll
  static void fill() {
    small = Dataset.create(SANDBOX.folder("small"), ITEMS, i -> ITEM_BYTES);
    large = Dataset.create(SANDBOX.folder("large"), 5, i -> (5 << 20) + 12_345 * i);
    BUCKET.putAll("both/small", small);
    BUCKET.putAll("both/large", large);
  }

  /** Returns the mount with nothing resident. */
  private static Mount mountOfCapacity(long bytes) {
    Mount mount = SHARED.get();
    mount.drop();
    assertThat(mount.settledStats().residentItems()).isZero();
    mount.setCapacity(bytes);
    return mount;
  }

  @Test
  void epochs_ofFreshPermutations_areOneGetForEachItemAndThenForEachThatDoesNotFit() {
    int fitting = ITEMS * 35 / 100;
    Mount mount = mountOfCapacity((long) fitting * ITEM_BYTES);
    long before = mount.stats().originItems();

    List<Traffic> epochs = new ArrayList<>();
    for (int epoch = 0; epoch < 3; epoch++) {
      epochs.add(epoch(mount, "small", small));
    }

    Traffic later = new Traffic(ITEMS - fitting, (long) (ITEMS - fitting) * ITEM_BYTES);
    assertThat(epochs)
        .as("seed %d", seed)
        .containsExactly(new Traffic(ITEMS, (long) ITEMS * ITEM_BYTES), later, later);
    Stats stats = mount.stats();
    assertThat(stats.originItems() - before)
        .isEqualTo(epochs.stream().mapToLong(Traffic::gets).sum());
    assertThat(stats.residentItems()).isEqualTo(fitting);
  }

  /** However the parts of large items are asked for, no byte is asked for twice. */
  @Test
  void largeFiles_severalItemsEach_moveEachByteOnce() {
    Mount mount = mountOfCapacity(64 << 20);

    List<Traffic> epochs = List.of(epoch(mount, "large", large), epoch(mount, "large", large));

    assertThat(epochs.get(0).bytes()).as("seed %d", seed).isEqualTo(large.bytes());
    assertThat(epochs.get(1)).isEqualTo(new Traffic(0, 0));
  }

  private Traffic epoch(Mount mount, String folder, Dataset dataset) {
    mount.settledStats();
    BUCKET.proxy().reset();
    Child.Result result =
        SANDBOX
            .startJava(
                Reader.class, mount.path(folder), dataset.permutation(SANDBOX, random), 4, "share")
            .await(EPOCH_DEADLINE);
    assertThat(result.exit()).as("%s, seed %d", result, seed).isZero();
    mount.settledStats();
    return new Traffic(BUCKET.proxy().count(Request::isGet), BUCKET.proxy().bytes());
  }
}
