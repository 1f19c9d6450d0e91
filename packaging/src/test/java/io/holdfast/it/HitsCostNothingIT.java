package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Programs read residents from the page cache alone, and residents stay there; items that were not
 * admitted do not stay.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
class HitsCostNothingIT {
  private static final int FILES = 400;
  private static final int FILE_BYTES = 80_000;
  private static final Duration EPOCH_DEADLINE = Duration.ofMinutes(2);

  /** The kernel adds the figures of groups up every two seconds. */
  private static final Duration CHARGE_DEADLINE = Duration.ofSeconds(60);

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  /**
   * And with the daemon stopped, which therefore is asked nothing at all, they are read too. The
   * first reader is not charged for them.
   */
  @ParameterizedTest(name = "opens counted by {0}")
  @ValueSource(strings = {"off", "watch"})
  void residentEpoch_readFirstInASmallMemoryGroup_isNotChargedToItAndThenSendsNoReadAndNoOpen(
      String counting) {
    Dataset dataset = dataset();
    Mount mount = sandbox.mount(dataset.root(), "--capacity", "64M", "--count-opens", counting);
    MemoryCgroup readers = MemoryCgroup.create(sandbox, "reader");
    readers.limit(24 << 20);
    readers.readAll(mount.mountpoint());
    assertNotCharged(readers, mount, dataset);
    Stats before = mount.settledStats();

    read(mount, dataset);
    read(mount, dataset);

    assertNothingAsked(before, mount.settledStats());
    mount.freeze();
    try {
      read(mount, dataset);
    } finally {
      mount.thaw();
    }
    assertQuestionWhetherItIsATerminalCostsAMessageAtMost(mount, dataset);
  }

  private static void assertNotCharged(MemoryCgroup readers, Mount mount, Dataset dataset) {
    assertThat(mount.settledStats().residentItems()).isEqualTo(FILES);
    assertThat(mount.cachedBytes(dataset.files())).isEqualTo(dataset.pageBytes());
    Await.value(
        CHARGE_DEADLINE,
        "no pinned pages charged to the reader's group",
        readers::unevictableBytes,
        bytes -> bytes == 0);
    assertThat(readers.fileBytes())
        .as("page cache of the reader's group")
        .isLessThan(dataset.pageBytes() / 20);
  }

  /**
   * The one thing that is asked of a resident, unless the kernel answers that itself: Python before
   * 3.14 puts this question per open.
   */
  private void assertQuestionWhetherItIsATerminalCostsAMessageAtMost(Mount mount, Dataset dataset) {
    Stats before = mount.settledStats();
    boolean messages = "message".equals(before.at("kernel.ioctl"));
    int questions = 50;

    String ask =
        "exec 3< \"$0\"; for n in $(seq %d); do [ ! -t 3 ] || exit 1; done".formatted(questions);
    Child.Result asked =
        sandbox.command("sh", "-c", ask, mount.path(dataset.files().get(0)).toString());

    assertThat(asked.exit()).as("%s", asked).isZero();
    Stats after = mount.settledStats();
    assertThat(after.requests("IOCTL") - before.requests("IOCTL"))
        .isEqualTo(messages ? questions : 0);
    assertThat(after.requests("READ")).isEqualTo(before.requests("READ"));
  }

  @Test
  @Tag(Sandbox.ANY_BINDING)
  void notAdmitted_duringAnEpoch_neverTakesMoreThanTheWindow_andAfterTheWindowsAgeIsGone() {
    Dataset dataset = dataset();
    long capacity = dataset.pageBytes() / 4;
    long window = 2 << 20;
    Mount mount =
        sandbox.mount(
            dataset.root(),
            "--capacity",
            Long.toString(capacity),
            "--window",
            Long.toString(window),
            "--window-age",
            "500ms");

    long most = 0;
    int samples = 0;
    for (int epoch = 0; epoch < 2; epoch++) {
      Child reader = startReader(mount, dataset);
      while (!Await.holdsWithin(Duration.ofMillis(10), () -> !reader.isAlive())) {
        most = Math.max(most, cachedWhileStopped(reader, mount, dataset));
        samples++;
      }
      assertThat(reader.await(EPOCH_DEADLINE).exit()).as("%s", reader).isZero();
    }

    assertThat(samples).isGreaterThan(5);
    System.out.printf(
        "kernel pages: at most %d of %d in %d samples%n", most, capacity + window, samples);
    assertThat(most).as("seed %d", seed).isLessThanOrEqualTo(capacity + window);
    mount.awaitStats("an empty window", stats -> stats.number("transit.window_bytes") == 0);
    long resident = mount.settledStats().residentBytes();
    assertThat(resident).isLessThanOrEqualTo(capacity);
    assertThat(mount.cachedBytes(dataset.files())).isEqualTo(resident);
  }

  /**
   * Returns the pages in the page cache at one moment. The reader has stopped, so the count cannot
   * grow meanwhile. While a call of the reader went on, a file was counted before its pages were
   * dropped, and then the one that came in its place.
   */
  private static long cachedWhileStopped(Child reader, Mount mount, Dataset dataset) {
    reader.freeze();
    try {
      return mount.cachedBytes(dataset.files());
    } finally {
      reader.signal(Posix.SIGCONT);
    }
  }

  @Test
  @Tag(Sandbox.ANY_BINDING)
  void notAdmitted_mappedByAProgram_staysUntilItIsUnmapped() {
    Dataset dataset = dataset();
    Mount mount =
        sandbox.mount(dataset.root(), "--policy", "none", "--window", "0", "--count-opens", "off");
    List<String> held = List.of(dataset.files().get(7));
    Child holder = sandbox.startJava(Holder.class, mount.path(held.get(0)), 7);
    holder.awaitLine(1, EPOCH_DEADLINE);
    holder.tell("touch 0 " + FILE_BYTES);
    assertThat(holder.awaitLine(2, EPOCH_DEADLINE)).isEqualTo("version 1 length " + FILE_BYTES);
    read(mount, dataset);
    assertThat(mount.cachedBytes(held)).isEqualTo(Dataset.pageBytes(FILE_BYTES));

    holder.kill();

    Await.value(
        EPOCH_DEADLINE,
        "nothing in the page cache",
        () -> mount.cachedBytes(dataset.files()),
        bytes -> bytes == 0);
  }

  private Dataset dataset() {
    return Dataset.create(sandbox.folder("origin"), FILES, i -> FILE_BYTES);
  }

  static void assertNothingAsked(Stats before, Stats after) {
    assertThat(after.requests("READ")).as("READs").isEqualTo(before.requests("READ"));
    assertThat(after.requests("OPEN")).as("OPENs").isEqualTo(before.requests("OPEN"));
    assertThat(after.requests("IOCTL")).as("IOCTLs").isEqualTo(before.requests("IOCTL"));
    assertThat(after.originItems()).as("fetches").isEqualTo(before.originItems());
    assertThat(after.number("reads.requests")).isEqualTo(before.number("reads.requests"));
  }

  private Child startReader(Mount mount, Dataset dataset) {
    return sandbox.startJava(
        Reader.class, mount.mountpoint(), dataset.permutation(sandbox, random), 2, "share");
  }

  private void read(Mount mount, Dataset dataset) {
    Child.Result result = startReader(mount, dataset).await(EPOCH_DEADLINE);
    assertThat(result.exit()).as("%s", result).isZero();
    assertThat(result.out()).startsWith("files=" + FILES + " ");
  }
}
