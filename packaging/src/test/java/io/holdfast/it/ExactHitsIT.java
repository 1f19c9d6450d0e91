package io.holdfast.it;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The MinIO policy's arithmetic, to the item: from the second epoch on exactly D - floor(cD) items
 * are fetched.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
@Order(1)
class ExactHitsIT {
  private static final int ITEMS = 1000;
  private static final int ITEM_BYTES = 16 << 10;
  private static final int EPOCHS = 4;
  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(5);
  private static final Duration EPOCH_DEADLINE = Duration.ofMinutes(2);

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  /** The kind of the origin's file system. */
  enum Store {
    MEMORY,
    DISK
  }

  /** The next epochs begin with nothing resident, as those of a new mount. */
  @Tag(Sandbox.ANY_BINDING)
  @Test
  void laterEpochs_ofFreshPermutations_fetchExactlyWhatDoesNotFit() {
    Dataset dataset = equalItems(Store.MEMORY);
    Mount mount = mount(dataset, 250L * ITEM_BYTES, "--window", "0");
    Epochs epochs = new Epochs(mount, dataset, 4 * EPOCHS, 1);
    assertFetchesExactlyWhatDoesNotFit(mount, epochs, 250);
    for (int fitting : List.of(350, 500, 650)) {
      drop(mount);
      mount.setCapacity((long) fitting * ITEM_BYTES);
      assertFetchesExactlyWhatDoesNotFit(mount, epochs, fitting);
    }
    epochs.assertReadAll();
  }

  private static void drop(Mount mount) {
    mount.drop();
    assertThat(mount.settledStats().residentItems()).isZero();
  }

  @Test
  void laterEpochs_ofADiskByEachBindingAndNoWholeNumberOfItems_fetchExactlyWhatDoesNotFit() {
    Dataset dataset = equalItems(Store.DISK);
    Mount mount = mount(dataset, 350L * ITEM_BYTES + ITEM_BYTES - 1, "--window", "0");
    Epochs epochs = new Epochs(mount, dataset, EPOCHS, 1);
    assertFetchesExactlyWhatDoesNotFit(mount, epochs, 350);
    epochs.assertReadAll();
  }

  private void assertFetchesExactlyWhatDoesNotFit(Mount mount, Epochs epochs, int fitting) {
    List<Long> fetched = new ArrayList<>();
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
      long before = mount.settledStats().originItems();
      epochs.readNext();
      fetched.add(mount.settledStats().originItems() - before);
    }

    long later = (long) ITEMS - fitting;
    assertThat(fetched)
        .as("items fetched in each epoch, seed %d", seed)
        .containsExactly((long) ITEMS, later, later, later);
    Stats stats = mount.stats();
    assertThat(stats.residentItems()).isEqualTo(fitting);
    assertThat(stats.residentBytes()).isEqualTo((long) fitting * ITEM_BYTES);
    assertThat(mount.lockedBytes()).isEqualTo((long) fitting * ITEM_BYTES);
  }

  @Test
  @Tag(Sandbox.ANY_BINDING)
  void mixedSizes_whileItFillsAndAfter_staysBelowCapacityAndFillsIt() {
    Random sizes = new Random(seed);
    Dataset dataset =
        Dataset.create(
            sandbox.folder("origin"),
            600,
            i -> i % 50 == 0 ? 0 : 1 + (int) Math.pow(300_000, sizes.nextDouble()));
    long capacity = dataset.pageBytes() / 2;
    Mount mount = mount(dataset, capacity);

    long largest = 0;
    for (int epoch = 0; epoch < 2; epoch++) {
      Child reader =
          sandbox.startJava(
              Reader.class, mount.mountpoint(), dataset.permutation(sandbox, random), 2, "share");
      do {
        largest = Math.max(largest, mount.stats().residentBytes());
        largest = Math.max(largest, mount.lockedBytes());
      } while (!Await.holdsWithin(BETWEEN_LOOKS, () -> !reader.isAlive()));
      assertReadAll(reader, dataset.count());
    }

    long resident = mount.settledStats().residentBytes();
    assertThat(Math.max(largest, resident))
        .as("most resident bytes ever, seed %d", seed)
        .isLessThanOrEqualTo(capacity);
    assertThat(resident).as("seed %d", seed).isGreaterThanOrEqualTo((long) (0.98 * capacity));
    assertThat(mount.lockedBytes()).isEqualTo(resident);
  }

  /** Files that a job has warmed are there for the next job, though it reads in another order. */
  @Test
  @Tag(Sandbox.ANY_BINDING)
  void policyByHash_mountedAgainAndReadInAnotherOrder_sameResidents() {
    Dataset dataset = equalItems(Store.MEMORY);
    String capacity = Long.toString((long) ITEMS / 2 * ITEM_BYTES);
    List<Set<String>> residents = new ArrayList<>();
    for (int start = 0; start < 2; start++) {
      Mount mount = sandbox.mount(dataset.root(), "--capacity", capacity, "--policy", "minio-hash");
      mount.awaitStats(
          "the dataset's size", stats -> Boolean.TRUE.equals(stats.at("dataset.scanned")));
      Epochs epochs = new Epochs(mount, dataset, 2, 2);
      epochs.readNext();
      epochs.readNext();
      epochs.assertReadAll();
      assertThat(mount.settledStats().residentItems()).isBetween(ITEMS * 49L / 100, ITEMS / 2L);
      residents.add(
          dataset.files().stream()
              .filter(file -> mount.xattr(file, "resident").equals(Integer.toString(ITEM_BYTES)))
              .collect(toSet()));
      mount.terminate();
    }
    assertThat(residents.get(1)).as("seed %d", seed).isEqualTo(residents.get(0));
  }

  @Test
  @Tag(Sandbox.ANY_BINDING)
  void policyNone_everyEpoch_fetchesEverything() {
    Dataset dataset = equalItems(Store.MEMORY);
    Mount mount = mount(dataset, 64 << 20, "--policy", "none", "--window", "0");
    Epochs epochs = new Epochs(mount, dataset, 2, 1);

    epochs.readNext();
    epochs.readNext();

    epochs.assertReadAll();
    Stats stats = mount.settledStats();
    assertThat(stats.originItems()).isEqualTo(2 * ITEMS);
    assertThat(stats.residentBytes()).isZero();
  }

  private Dataset equalItems(Store store) {
    Path root = store == Store.MEMORY ? sandbox.tmpfs("origin") : onDisk();
    return Dataset.create(root, ITEMS, i -> ITEM_BYTES);
  }

  /**
   * A folder that is not in memory; an error where there is none, so that the difference is never
   * left untested.
   */
  private Path onDisk() {
    Path folder = sandbox.folder("origin");
    String type = sandbox.command("stat", "-f", "-c", "%T", folder.toString()).out().strip();
    assertThat(type)
        .as("type of %s: run with -Djava.io.tmpdir on a disk", folder)
        .isNotIn("tmpfs", "ramfs");
    return folder;
  }

  private Mount mount(Dataset dataset, long capacity, String... options) {
    List<String> all = new ArrayList<>(List.of("--capacity", Long.toString(capacity)));
    all.addAll(List.of(options));
    return sandbox.mount(dataset.root(), all.toArray(String[]::new));
  }

  /** One program that reads all files in some epochs, each of them when it is told to. */
  private final class Epochs {
    private final int files;
    private final Child reader;
    private int begun;

    Epochs(Mount mount, Dataset dataset, int count, int threads) {
      files = count * dataset.count();
      reader =
          sandbox.startJava(
              Reader.class,
              mount.mountpoint(),
              dataset.permutations(sandbox, random, count),
              threads,
              "share",
              "wait",
              dataset.count());
      reader.awaitLine(1, EPOCH_DEADLINE);
    }

    /** Has it read an epoch, and returns when it has. */
    void readNext() {
      reader.tell("next");
      begun++;
      reader.awaitLine(begun + 1, EPOCH_DEADLINE);
    }

    void assertReadAll() {
      ExactHitsIT.assertReadAll(reader, files);
    }
  }

  private static void assertReadAll(Child reader, int files) {
    Child.Result result = reader.await(EPOCH_DEADLINE);
    assertThat(result.out() + result.err()).contains("files=" + files + " ");
    assertThat(result.exit()).as("%s", result).isZero();
  }
}
