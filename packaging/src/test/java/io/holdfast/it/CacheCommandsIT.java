package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** An admin's commands on residents are right, to the item. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
@Order(1)
class CacheCommandsIT {
  private static final int FILES = 200;
  private static final int FILE_BYTES = 20_000;
  private static final long FILE_PAGES = Dataset.pageBytes(FILE_BYTES);
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  private Dataset dataset() {
    return Dataset.create(sandbox.tmpfs("origin"), FILES, i -> FILE_BYTES);
  }

  private Mount mount(Dataset dataset, int files) {
    return sandbox.mount(
        dataset.root(), "--capacity", Long.toString(files * FILE_PAGES), "--window", "0");
  }

  /** Runs a command on the mount's name. */
  private Child.Result run(Mount mount, String command, String... more) {
    String[] words =
        IntStream.range(0, more.length + 2)
            .mapToObj(i -> i == 0 ? command : i == 1 ? mount.name() : more[i - 2])
            .toArray(String[]::new);
    return sandbox.holdfast(words);
  }

  private long fetchedByReadingAll(Mount mount, Dataset dataset) {
    long before = mount.stats().originItems();
    Child.Result result =
        sandbox
            .startJava(
                Reader.class, mount.mountpoint(), dataset.permutation(sandbox, random), 2, "share")
            .await(DEADLINE);
    assertThat(result.exit()).as("%s", result).isZero();
    return mount.settledStats().originItems() - before;
  }

  @Test
  void warmAndCapacity_ofAPart_keepThePolicysArithmetic() {
    Dataset dataset = dataset();
    Mount mount = mount(dataset, 120);

    assertThat(run(mount, "warm", "--check").exit()).as("before").isEqualTo(1);
    run(mount, "warm").mustSucceed();

    Stats warm = mount.settledStats();
    assertThat(warm.originItems()).isEqualTo(120);
    assertThat(warm.residentItems()).isEqualTo(120);
    assertThat(warm.number("cache.evicted_items")).isZero();
    assertThat(mount.lockedBytes()).isEqualTo(120 * FILE_PAGES);
    assertThat(run(mount, "warm", "--check").exit()).as("all that fits").isZero();
    assertThat(fetchedByReadingAll(mount, dataset)).as("seed %d", seed).isEqualTo(80);

    run(mount, "capacity", Long.toString(FILES * FILE_PAGES)).mustSucceed();
    Child.Result check = run(mount, "warm", "--check", "--json");
    assertThat(check.exit()).as("room for more").isEqualTo(1);
    assertThat(Stats.parse(check.out()).number("missing.files")).isEqualTo(80);
    assertThat(Stats.parse(check.out()).at("missing_paths"))
        .asInstanceOf(InstanceOfAssertFactories.LIST)
        .hasSize(80);
    run(mount, "warm").mustSucceed();
    assertThat(mount.settledStats().originItems()).isEqualTo(120 + 80 + 80);
    assertThat(fetchedByReadingAll(mount, dataset)).as("seed %d", seed).isZero();

    run(mount, "capacity", Long.toString(50 * FILE_PAGES)).mustSucceed();
    assertThat(mount.stats().residentItems()).isEqualTo(50);
    Await.until(DEADLINE, "unlocked", () -> mount.lockedBytes() == 50 * FILE_PAGES);
    Await.until(DEADLINE, "dropped", () -> mount.cachedBytes(dataset.files()) == 50 * FILE_PAGES);
    assertThat(fetchedByReadingAll(mount, dataset)).as("seed %d", seed).isEqualTo(150);
    assertThat(fetchedByReadingAll(mount, dataset)).as("seed %d", seed).isEqualTo(150);
  }

  @Test
  void warm_killedInTheMiddle_fetchesNothingTwice() {
    int files = 3000;
    Dataset dataset = Dataset.create(sandbox.tmpfs("origin"), files, i -> 5_000);
    Mount mount = sandbox.mount(dataset.root(), "--capacity", "1G");

    Child killed = sandbox.start(Sandbox.launcher(), "warm", mount.name(), "--threads", "1");
    Await.moment(DEADLINE, "some fetched", () -> mount.stats().originItems() > 100);
    killed.kill();
    Child stopped = sandbox.start(Sandbox.launcher(), "warm", mount.name(), "--threads", "1");
    Await.moment(DEADLINE, "more fetched", () -> mount.stats().originItems() > 1000);
    stopped.signal(Posix.SIGTERM);
    assertThat(stopped.await(DEADLINE).exit()).isNotZero();
    run(mount, "warm").mustSucceed();

    Stats stats = mount.settledStats();
    assertThat(stats.originItems()).isEqualTo(files);
    assertThat(stats.residentItems()).isEqualTo(files);
  }

  @Test
  void pinUnpinDrop_ofFolders_areExactAndOutliveTheDaemon_andWhatIsImpossibleChangesNothing()
      throws IOException {
    Dataset dataset = dataset();
    Path odd = dataset.root().resolve("größe/ü n.bin");
    Files.createDirectories(odd.getParent());
    Files.write(odd, new byte[FILE_BYTES]);
    Mount mount = mount(dataset, 60);
    assertImpossibleRequestsFailInOneLineAndChangeNothing(mount);
    run(mount, "warm", "class_00", mount.path("class_01").toString(), "class_02").mustSucceed();
    assertThat(mount.settledStats().residentItems()).isEqualTo(60);

    run(mount, "pin", "class_03", "größe").mustSucceed();

    Stats pinned = mount.settledStats();
    assertThat(pinned.number("cache.kept_items")).isEqualTo(21);
    assertThat(pinned.number("cache.kept_bytes")).isEqualTo(21 * FILE_PAGES);
    assertThat(pinned.residentItems()).isEqualTo(60);
    assertThat(pinned.number("cache.evicted_items")).isEqualTo(21);
    assertThat(mount.xattr("größe/ü n.bin", "items")).isEqualTo("1/1");
    Child.Result dropped = run(mount, "drop", "--all", "--json").mustSucceed();
    assertThat(Stats.parse(dropped.out()).number("changed.items")).isEqualTo(39);
    assertThat(mount.settledStats().residentItems()).isEqualTo(21);
    run(mount, "capacity", Long.toString(40 * FILE_PAGES)).mustSucceed();
    if (mount.supervisor() != 0) {
      List<String> kept = new ArrayList<>(List.of("größe/ü n.bin"));
      dataset.files().stream().filter(file -> file.startsWith("class_03/")).forEach(kept::add);
      mount.whileHeld(kept, () -> assertNextDaemonsKnowWhatIsKept(mount));
    }
    Child.Result smaller = run(mount, "capacity", Long.toString(20 * FILE_PAGES)).mustSucceed();
    assertThat(smaller.out())
        .containsPattern("given up: .* in 1 item, of these .* that were to stay\n");
    run(mount, "unpin", "--all").mustSucceed();
    assertThat(mount.stats().number("cache.kept_items")).isZero();
    assertThat(mount.stats().residentItems()).isEqualTo(20);
    run(mount, "drop", "--all").mustSucceed();
    assertThat(mount.stats().residentItems()).isZero();
    Await.until(DEADLINE, "dropped", () -> mount.cachedBytes(dataset.files()) == 0);
  }

  private void assertImpossibleRequestsFailInOneLineAndChangeNothing(Mount mount)
      throws IOException {
    Path list = Files.writeString(sandbox.root().resolve("list"), "class_00/none.jpg\n\nnix\n");
    Leftovers before = Leftovers.of(sandbox);

    assertFails(run(mount, "warm", "nix"), "there is no 'nix' in the dataset");
    assertFails(run(mount, "warm", "--list", list.toString()), "2 of 2 names are not");
    assertFails(run(mount, "pin", "--glob", "*.tar"), "there are no such files");
    assertFails(run(mount, "unpin", "class_00"), "'class_00' is not pinned");
    assertFails(run(mount, "capacity", "900T"), "does not fit within --memory: give at most");

    assertThat(mount.settledStats().originItems()).isZero();
    assertThat(mount.stats().number("cache.capacity_bytes")).isEqualTo(60 * FILE_PAGES);
    before.assertNothingMore();
  }

  private void assertNextDaemonsKnowWhatIsKept(Mount mount) {
    mount.signal(Posix.SIGKILL);
    mount.findAgain(DEADLINE);
    Stats next = mount.awaitStats("pinned again", stats -> stats.residentItems() == 21);
    assertThat(next.number("cache.kept_items")).isEqualTo(21);
    assertThat(next.number("cache.capacity_bytes")).isEqualTo(40 * FILE_PAGES);
    assertThat(run(mount, "config").out())
        .containsPattern("capacity +" + 40 * FILE_PAGES / 1024 + "K .* holdfast capacity\n");
    sandbox.holdfast("restart", mount.name(), "--capacity", "64M").mustSucceed();
    mount.findAgain(DEADLINE);
    assertThat(mount.stats().number("cache.capacity_bytes")).isEqualTo(64 << 20);
    assertThat(run(mount, "config").out()).containsPattern("capacity +64M .* --capacity\n");
    assertThat(mount.stats().number("cache.kept_items")).isEqualTo(21);
  }

  private static void assertFails(Child.Result result, String mentioned) {
    assertThat(result.exit()).as("%s", result).isEqualTo(1);
    Leftovers.assertOneLine(result, mentioned);
  }
}
