package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import io.holdfast.posix.RawPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that change the whole machine: no other test runs meanwhile. */
@Isolated("drops caches, changes a limit")
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WholeMachineIT {
  private static final int ITEMS = 1000;
  private static final int ITEM_BYTES = 16 << 10;
  private static final int FILES = 400;
  private static final int FILE_BYTES = 80_000;
  private static final Duration EPOCH_DEADLINE = Duration.ofMinutes(2);

  /** The kernel adds the figures of groups up every two seconds. */
  private static final Duration CHARGE_DEADLINE = Duration.ofSeconds(60);

  /** Asks for more than its group may have, and is the first to be killed for it. */
  private static final String TAKE_ALL_MEMORY =
      "echo 1000 > /proc/self/oom_score_adj; { head -c 1G /dev/zero | tail -c 1G; } > /dev/null;"
          + " true";

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  /**
   * The names are looked up before. While several threads look a new name up at once, Linux 6.18
   * lets one of them find its entry before the entry's time is set, and throw it away as outdated;
   * the inode then goes with its last open file, and its pages too.
   *
   * <p>An item that is no resident is not pinned, and a kernel may take its pages back before the
   * second process has read them, also without pressure (DAMON does). The readers' group counts
   * pages that were read again after that.
   */
  @ParameterizedTest(name = "c = {0} %")
  @ValueSource(ints = {50, 100})
  void eightThreadsInTwoProcesses_sameOrder_fetchNoItemTwice(int percent) {
    Dataset dataset = Dataset.create(sandbox.tmpfs("origin"), ITEMS, i -> ITEM_BYTES);
    int fitting = ITEMS * percent / 100;
    Mount mount =
        sandbox.mount(
            dataset.root(),
            "--capacity",
            Long.toString((long) fitting * ITEM_BYTES),
            "--window",
            "64M",
            "--window-age",
            "1h");
    sandbox.command("find", mount.mountpoint().toString(), "-size", "0");
    MemoryCgroup group = MemoryCgroup.create(sandbox, "readers");

    for (int epoch = 0; epoch < 2; epoch++) {
      Machine.dropCaches(1);
      Stats before = mount.settledStats();
      long refaulted = group.refaultedFilePages();
      Path order = dataset.permutation(sandbox, random);
      List<Child> readers =
          List.of(
              startReader(group.enter(), mount, order, 4, "each"),
              startReader(group.enter(), mount, order, 4, "each"));
      readers.forEach(reader -> assertRead(reader, 4 * ITEMS));

      long misses = epoch == 0 ? ITEMS : ITEMS - fitting;
      long fetched = mount.settledStats().originItems() - before.originItems();
      long takenBack = group.refaultedFilePages() - refaulted;
      assertThat(fetched)
          .as("items fetched, %d pages taken back, epoch %d, seed %d", takenBack, epoch, seed)
          .isBetween(misses, misses + takenBack);
    }
  }

  @Test
  void residents_afterDropCaches_areStillThere() {
    Dataset dataset = files();
    Mount mount = sandbox.mount(dataset.root(), "--capacity", "64M");
    read(mount, dataset);
    Stats before = mount.settledStats();

    Machine.dropCaches(3);

    assertThat(mount.cachedBytes(dataset.files())).isEqualTo(dataset.pageBytes());
    read(mount, dataset);
    HitsCostNothingIT.assertNothingAsked(before, mount.settledStats());
  }

  /**
   * The daemon shares a group with a process that needs more than the group may have. Residents are
   * mapped and locked, whichever the binding.
   */
  @Test
  @Tag(Sandbox.ANY_BINDING)
  void residents_underMemoryPressureOfAnotherProcess_areStillThere() throws IOException {
    Dataset dataset = files();
    Path evicted = sandbox.folder("other").resolve("evicted");
    Files.write(evicted, new byte[8 << 20]);
    sandbox.command("sync", "-f", evicted.toString()).mustSucceed();
    MemoryCgroup all = MemoryCgroup.create(sandbox, "pressed");
    MemoryCgroup daemons = all.child("daemon");
    MemoryCgroup others = all.child("other");
    all.limit(600 << 20);
    Mount mount =
        sandbox.mountWith(
            daemons.enter(),
            Map.of("HOLDFAST_HEAP", "128m"),
            dataset.root().toString(),
            sandbox.folder("mnt"),
            "--capacity",
            "64M",
            "--memory-min",
            "64M",
            "--transit",
            "32M");
    read(mount, dataset);
    Stats before = mount.settledStats();
    Machine.dropCaches(1);
    daemons.run("cat", evicted.toString());
    assertThat(Posix.cachedPages(RawPath.of(evicted))).isPositive();

    others.run("sh", "-c", TAKE_ALL_MEMORY);

    assertThat(Posix.cachedPages(RawPath.of(evicted)))
        .as("pages of an ordinary file under the same pressure")
        .isZero();
    assertThat(mount.cachedBytes(dataset.files())).isEqualTo(dataset.pageBytes());
    read(mount, dataset);
    HitsCostNothingIT.assertNothingAsked(before, mount.settledStats());
    Await.value(
        CHARGE_DEADLINE,
        "pinned pages charged to the daemon's group",
        daemons::unevictableBytes,
        bytes -> bytes >= dataset.pageBytes());
  }

  /**
   * A mount that failed once detached the file system at its mountpoint: the dataset's own, if
   * Holdfast was to be mounted over it.
   */
  @Test
  void mountThatFails_overAMountedDataset_leavesItThere() throws IOException {
    Path data = sandbox.tmpfs("data");
    Files.writeString(data.resolve("file"), "there");
    Child.Result result =
        Machine.withoutMoreMounts(
            () ->
                sandbox.holdfast(
                    "mount",
                    "--binding",
                    System.getProperty("holdfast.binding"),
                    "--state-dir",
                    "none",
                    data.toString()));
    assertThat(result.exit()).as(result.toString()).isEqualTo(1);
    assertThat(data.resolve("file")).hasContent("there");
  }

  private Dataset files() {
    return Dataset.create(sandbox.folder("origin"), FILES, i -> FILE_BYTES);
  }

  private void read(Mount mount, Dataset dataset) {
    Path order = dataset.permutation(sandbox, random);
    assertRead(startReader(List.of(), mount, order, 2, "share"), FILES);
  }

  private Child startReader(List<String> prefix, Mount mount, Path order, int threads, String how) {
    List<String> command = new ArrayList<>(prefix);
    command.addAll(Sandbox.java(Reader.class, mount.mountpoint(), order, threads, how));
    return sandbox.start(Map.of(), command);
  }

  private static void assertRead(Child reader, int files) {
    Child.Result result = reader.await(EPOCH_DEADLINE);
    assertThat(result.out() + result.err()).startsWith("files=" + files + " ");
    assertThat(result.exit()).as("%s", result).isZero();
  }
}
