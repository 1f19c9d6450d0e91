package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import io.holdfast.posix.RawPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The next daemon of a mount takes over the state of one that has ended, or is started on request;
 * and readers get errors if there is none. Only the kernel binding has a next daemon.
 */
@Execution(ExecutionMode.CONCURRENT)
@Order(1)
class NextDaemonIT {
  private static final Duration START = Duration.ofSeconds(60);
  private static final Duration ERROR = Duration.ofSeconds(60);

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private final Random random = new Random(1);

  /** Reads of residents need no daemon, nor does umount. */
  @Test
  void killed_residentsInThePageCache_areReadWithoutADaemonAndPinnedAgainWithoutAFetch() {
    Dataset dataset = Dataset.create(sandbox.tmpfs("origin"), 500, i -> 20_000 + i);
    Mount mount = sandbox.mount(dataset.root(), "--capacity", "1G");
    assertReadsAll(mount, dataset);
    Stats before =
        mount.awaitStats("all resident", stats -> stats.residentItems() == dataset.count());
    assertThat(mount.lockedBytes()).isEqualTo(dataset.pageBytes());
    mount.preventRestart();

    mount.whileHeld(
        dataset.files(),
        () -> {
          mount.signal(Posix.SIGKILL);
          Await.until(ERROR, "the daemon ended", () -> !mount.daemonIsAlive());
          assertReadsAll(mount, dataset);
          mount.allowRestart();
          mount.findAgain(START);

          Stats after = mount.settledStats();
          assertThat(after.residentItems()).isEqualTo(before.residentItems());
          assertThat(after.residentBytes()).isEqualTo(before.residentBytes());
          long all = dataset.pageBytes();
          Await.value(START, "all pinned", mount::lockedBytes, locked -> locked == all);
          assertThat(after.originItems()).isZero();
        });
    assertReadsAll(mount, dataset);
    assertThat(mount.stats().originItems()).isZero();
    assertThat(mount.stats().requests("READ")).isZero();
    mount.signal(Posix.SIGKILL);
    Await.until(ERROR, "the daemon ended", () -> !mount.daemonIsAlive());

    mount.umount().mustSucceed();

    assertThat(mount.isMounted()).isFalse();
    assertThat(mount.state()).doesNotExist();
  }

  /**
   * The next daemon told the kernel of every name that had ever led elsewhere, before it had pinned
   * anything: the kernel forgot all that was below, with its pages. An open file of before keeps
   * the old directory known.
   */
  @Test
  void killed_directoriesWereReplacedLongAgo_residentsArePinnedAgainWithoutAFetch_untilTheyChange()
      throws IOException {
    Dataset dataset = Dataset.create(sandbox.tmpfs("origin"), 500, i -> 10_000 + i);
    Mount mount = sandbox.mount(dataset.root(), "--capacity", "1G");
    assertReadsAll(mount, dataset);
    mount.whileHeld(
        List.of(dataset.files().get(0)),
        () -> {
          String replace = "cp -a $each next && mv -T $each was && mv next $each && rm -r was";
          String inEach = "cd '%s' && for each in class_*; do %s || exit 1; done";
          sandbox.command("sh", "-c", inEach.formatted(dataset.root(), replace)).mustSucceed();
          mount.refresh();
          assertReadsAll(mount, dataset);
          mount.awaitStats("all resident", stats -> stats.residentItems() == dataset.count());
          mount.whilePagesAreHeld(dataset.files(), () -> assertTakesAllOver(mount, dataset));
        });
    assertReadsAll(mount, dataset);
    assertThat(mount.stats().originItems()).isZero();
    assertAttributesChangedMeanwhileAreSeenAndResidentsFetchedAgain(mount, dataset);
  }

  private static void assertTakesAllOver(Mount mount, Dataset dataset) {
    mount.signal(Posix.SIGKILL);
    mount.findAgain(START);

    Stats after = mount.settledStats();
    assertThat(after.residentItems()).isEqualTo(dataset.count());
    long all = dataset.pageBytes();
    Await.value(START, "all pinned", mount::lockedBytes, locked -> locked == all);
    assertThat(after.originItems()).isZero();
  }

  /** Whether bytes have changed as well, the origin does not tell. */
  private void assertAttributesChangedMeanwhileAreSeenAndResidentsFetchedAgain(
      Mount mount, Dataset dataset) throws IOException {
    mount.awaitStats("the scan", NextDaemonIT::isScanned);
    sandbox.command("chmod", "-R", "u=rwX,go=", dataset.root().toString()).mustSucceed();
    mount.signal(Posix.SIGKILL);
    mount.findAgain(START);
    mount.awaitStats("the scan", NextDaemonIT::isScanned);

    assertReadsAll(mount, dataset);
    Stats after = mount.settledStats();
    assertThat(after.originItems()).isEqualTo(dataset.count());
    assertThat(after.residentItems()).isEqualTo(dataset.count());
    assertThat(mount.lockedBytes()).isEqualTo(dataset.pageBytes());
    for (String file : dataset.files()) {
      assertThat(Files.getPosixFilePermissions(mount.path(file)))
          .isEqualTo(PosixFilePermissions.fromString("rw-------"));
    }
  }

  private static boolean isScanned(Stats stats) {
    return Boolean.TRUE.equals(stats.at("dataset.scanned"));
  }

  /** The next daemon drops the pages that a killed daemon had in its window. */
  @Test
  void killed_pagesThatLinger_areDropped() {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), 100, i -> 50_000);
    Mount mount =
        sandbox.mount(dataset.root(), "--capacity", "1M", "--window", "1G", "--window-age", "1h");
    assertReadsAll(mount, dataset);
    Stats before = mount.settledStats();
    assertThat(mount.cachedBytes(dataset.files())).isGreaterThan(4 << 20);
    List<String> residents =
        dataset.files().stream()
            .filter(file -> !mount.xattr(file, "resident").equals("0"))
            .toList();

    mount.whileHeld(
        residents,
        () -> {
          mount.signal(Posix.SIGKILL);
          mount.findAgain(START);

          Await.until(
              START,
              "only what is resident left",
              () -> mount.cachedBytes(dataset.files()) == before.residentBytes());
          assertThat(mount.settledStats().residentBytes()).isEqualTo(before.residentBytes());
        });
  }

  @Test
  void supervisorKilled_readersWait_getAnErrorAndUmountWorks() {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), 50, i -> 100_000);
    HangingOrigin store = HangingOrigin.of(sandbox, dataset.root());
    Mount mount = sandbox.mount(store.root(), "--capacity", "64M", "--source-timeout", "10m");
    store.freeze();
    List<Child> readers = startWaiting(mount, dataset);

    Posix.kill(mount.supervisor(), Posix.SIGKILL);

    assertErrors(readers);
    store.thaw();
    Await.until(ERROR, "the daemon ended", () -> !mount.daemonIsAlive());
    assertThat(mount.isMounted()).isFalse();
    assertThat(mount.state()).doesNotExist();
    assertThat(mount.umount().exit()).as("nothing is mounted any more").isEqualTo(1);
  }

  /**
   * The kernel's list of mounts has the mountpoint's blank in octal, and the digit seemed to belong
   * to it.
   */
  @Test
  void daemonThatCannotStartAgain_readersWait_getAnErrorAndUmountWorks() throws IOException {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), 50, i -> 100_000);
    HangingOrigin store = HangingOrigin.of(sandbox, dataset.root());
    String[] options = {"--capacity", "64M", "--source-timeout", "10m"};
    Mount mount = sandbox.mountAt(store.root(), sandbox.folder("run 1"), options);
    store.freeze();
    List<Child> readers = startWaiting(mount, dataset);
    Path command = mount.state().resolve("command");
    Files.writeString(
        command, Files.readString(command).replaceFirst("set -- [^\n]*", "set -- false"));

    mount.signal(Posix.SIGKILL);

    assertErrors(readers);
    store.thaw();
    Await.until(ERROR, "the supervisor gone", () -> !Files.exists(mount.state()));
    assertThat(mount.isMounted()).isFalse();
    assertThat(Files.readString(mount.log()))
        .contains("the daemon cannot be started again: giving");
    assertThat(mount.umount().exit()).as("nothing is mounted any more").isEqualTo(1);
  }

  /** The next daemon can begin with the last one's knowledge, however old it is. */
  @Test
  void killed_whileTheOriginHangs_theMountStaysAndResidentsAreRead() {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), 50, i -> 100_000);
    Mount store = sandbox.mount(dataset.root(), "--policy", "none", "--count-opens", "off");
    Mount mount =
        sandbox.mount(
            store.mountpoint(), "--capacity", "64M", "--metadata-ttl", "100ms", "--pin", "hard");
    assertReadsAll(mount, dataset);
    long residents = mount.settledStats().residentItems();
    store.freeze();
    mount.whileHeld(
        dataset.files(),
        () -> {
          mount.signal(Posix.SIGKILL);

          mount.findAgain(ERROR);
          assertThat(mount.stats().residentItems()).isEqualTo(residents);
          assertReadsAll(mount, dataset);
        });
    store.thaw();
    assertReadsAll(mount, dataset);
  }

  /**
   * The next daemon drops pages of the last one's window while they are fetched. If the kernel were
   * told to drop them, it would wait for each page that is being read, and drop pages that are
   * locked by then.
   */
  @Test
  void killed_whileAllIsAskedFor_whatIsPinnedAfterwardsKeepsItsPages() throws IOException {
    Dataset dataset = Dataset.create(sandbox.tmpfs("origin"), 6, i -> 16 << 20);
    HangingOrigin store = HangingOrigin.of(sandbox, dataset.root());
    Mount mount =
        sandbox.mount(store.root(), "--capacity", "1G", "--item-size", "1M", "--pin", "hard");
    store.freeze();
    for (String file : dataset.files()) {
      Posix.willNeed(RawPath.of(mount.path(file)), 1 << 20);
    }
    mount.awaitStats("fetches", stats -> stats.number("fetches.in_flight") > 0);

    mount.signal(Posix.SIGKILL);

    mount.findAgain(START);
    store.thaw();
    Stats after = mount.settledStats();
    System.out.printf(
        "pinned after all was asked for: %d of %d bytes%n",
        after.residentBytes(), dataset.pageBytes());
    assertThat(mount.cachedBytes(dataset.files())).isGreaterThanOrEqualTo(after.residentBytes());
    assertReadsAll(mount, dataset);
    long residents = mount.settledStats().residentBytes();
    assertThat(mount.cachedBytes(dataset.files())).isGreaterThanOrEqualTo(residents);
    assertThat(mount.lockedBytes()).isEqualTo(residents);
  }

  /**
   * Only the daemon before knew that the kernel had been told so. And it had listed one of the
   * names as well: the next one took that for known.
   */
  @Test
  void killed_namesThatTheKernelWasToldAreMissing_areShownByARefreshAndTheNextOneTakesOver()
      throws IOException {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), 10, i -> 1000);
    Mount mount = sandbox.mount(dataset.root(), "--capacity", "64M");
    mount.awaitStats("the scan", NextDaemonIT::isScanned);
    for (String name : List.of("named", "other", "READY")) {
      assertThat(mount.path(name)).doesNotExist();
    }
    Files.writeString(dataset.root().resolve("READY"), "READY");
    assertThat(sandbox.command("ls", "-U", mount.mountpoint().toString()).mustSucceed().out())
        .contains("READY");
    assertThat(mount.path("READY")).as("what the kernel believes").doesNotExist();

    mount.signal(Posix.SIGKILL);
    mount.findAgain(START);
    for (String name : List.of("named", "other")) {
      Files.writeString(dataset.root().resolve(name), name);
    }

    mount.refresh("named");
    assertThat(mount.path("named")).hasContent("named");
    mount.refresh();
    for (String name : List.of("other", "READY")) {
      assertThat(mount.path(name)).hasContent(name);
    }
    assertNextTakesOverWhereDaemonsAreNotCounted(mount, dataset);
  }

  /**
   * The count of daemons could not be written, as on a full file system. The next daemon took
   * itself for the first: it loaded the tree's file over the tree that it had taken over.
   */
  private void assertNextTakesOverWhereDaemonsAreNotCounted(Mount mount, Dataset dataset)
      throws IOException {
    Files.delete(mount.state().resolve("restarts"));
    Files.createDirectory(mount.state().resolve("restarts"));

    mount.signal(Posix.SIGKILL);
    mount.findAgain(START);

    assertThat(Files.readAllLines(mount.log()))
        .filteredOn(line -> line.contains("took over " + mount.mountpoint()))
        .hasSize(2);
    assertReadsAll(mount, dataset);
  }

  /** The kernel gives the numbers of a mount that is gone to the next one. */
  @Test
  void umount_itsNumberIsAnothersByNow_leavesThatAlone_whichEndsWithDamagedSettings()
      throws IOException {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), 10, i -> 50_000);
    Mount mount = sandbox.mount(dataset.root(), "--capacity", "64M");
    Mount other = sandbox.mount(dataset.root(), "--capacity", "64M");
    Files.copy(
        other.state().resolve("session"),
        mount.state().resolve("session"),
        StandardCopyOption.REPLACE_EXISTING);

    mount.umount().mustSucceed();

    Await.until(ERROR, "the supervisor gone", () -> !Files.exists(mount.state()));
    assertReadsAll(other, dataset);
    assertThat(other.isMounted()).isTrue();
    assertKilledWithDamagedSettingsEndsAndTheLogSaysSo(other);
  }

  /** The daemon does not know its log then. */
  private static void assertKilledWithDamagedSettingsEndsAndTheLogSaysSo(Mount mount)
      throws IOException {
    Path settings = mount.state().resolve("settings.json");
    Files.writeString(settings, "{");

    mount.signal(Posix.SIGKILL);

    Await.until(ERROR, "the mount gone", () -> !mount.isMounted());
    assertThat(Files.readString(mount.log()))
        .contains("WARN  [supervise] holdfast: '" + settings + "' is damaged")
        .contains("the daemon cannot be started again: giving");
    assertThat(mount.umount().exit()).as("nothing is mounted any more").isEqualTo(1);
  }

  /**
   * The connection is held as by a killed thread that waits for a page, so the kernel does not end
   * the mount.
   */
  @Test
  void killedWithItsSupervisor_connectionIsHeld_umountGivesReadersTheirErrors() throws IOException {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), 50, i -> 100_000);
    HangingOrigin store = HangingOrigin.of(sandbox, dataset.root());
    Mount mount = sandbox.mount(store.root(), "--capacity", "64M", "--source-timeout", "10m");
    Path command = mount.state().resolve("command");
    Path holder = sandbox.root().resolve("holder");
    Files.writeString(command, "sleep 60 &\necho $! >" + holder + "\n", StandardOpenOption.APPEND);
    mount.signal(Posix.SIGKILL);
    mount.findAgain(START);
    // A request that the store has read already could not be killed, nor the thread that waits for
    // it.
    mount.awaitStats("the scan", NextDaemonIT::isScanned);
    mount.settledStats();
    store.freeze();
    List<Child> readers = startWaiting(mount, dataset);

    Posix.kill(mount.supervisor(), Posix.SIGKILL);
    mount.signal(Posix.SIGKILL);
    Await.until(ERROR, "the daemon ended", () -> !mount.daemonIsAlive());
    assertThat(readers).allMatch(Child::isAlive);

    assertThat(mount.umount().mustSucceed().err()).contains("took away a stale mount");
    assertErrors(readers);
    assertThat(mount.state()).doesNotExist();
    assertThat(Files.readString(Path.of("/run/mount/utab")))
        .doesNotContain(mount.mountpoint().toString());
    Posix.kill(Long.parseLong(Files.readString(holder).strip()), Posix.SIGKILL);
    store.thaw();
  }

  private List<Child> startWaiting(Mount mount, Dataset dataset) {
    List<Child> readers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      readers.add(sandbox.start("cat", mount.path(dataset.files().get(i)).toString()));
    }
    mount.awaitStats("fetches", stats -> stats.number("fetches.in_flight") > 0);
    return readers;
  }

  private void assertErrors(List<Child> readers) {
    long start = System.nanoTime();
    for (Child reader : readers) {
      assertThat(reader.endsWithin(ERROR)).as("%s", reader).isTrue();
      assertThat(reader.await(ERROR).exit()).as("%s", reader).isNotZero();
    }
    long millis = Duration.ofNanos(System.nanoTime() - start).toMillis();
    System.out.printf("readers had their errors after %d ms%n", millis);
    // A moment in D is nothing: a process that is being made or ends may be seen there.
    Await.until(
        ERROR,
        "nobody waits in D",
        () -> ProcessTable.marked(sandbox.id()).stream().noneMatch(row -> row.state() == 'D'));
  }

  /**
   * The heap of the mount stays, unless the caller names another: an upgrade restarts daemons with
   * the environment of apt.
   */
  @Test
  void restart_otherOptionsAndHeap_takesThemAndKeepsWhatIsResident() throws IOException {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), 100, i -> 50_000);
    Map<String, String> heap = Map.of("HOLDFAST_HEAP", "160m");
    String[] options = {"--capacity", "2M", "--window", "0"};
    Mount mount = sandbox.mountSource(dataset.root().toString(), heap, options);
    assertReadsAll(mount, dataset);
    long before = mount.settledStats().residentItems();
    List<String> residents =
        dataset.files().stream().filter(file -> mount.cachedBytes(List.of(file)) > 0).toList();
    assertThat(residents).hasSize((int) before);

    mount.whilePagesAreHeld(
        residents,
        () -> {
          sandbox.holdfast("restart", mount.name(), "--capacity", "3M").mustSucceed();

          mount.findAgain(START);
          Stats after = mount.settledStats();
          assertThat(after.number("cache.capacity_bytes")).isEqualTo(3 << 20);
          assertThat(after.residentItems()).isEqualTo(before);
          assertThat(after.originItems()).isZero();
        });
    assertThat(words(mount)).contains("-Xmx160m").doesNotContain("-Xmx512m");

    sandbox
        .run(
            Map.of("HOLDFAST_HEAP", "192m"),
            List.of(Sandbox.launcher(), "restart", mount.name(), "--capacity", "1M"))
        .mustSucceed();
    mount.findAgain(START);
    assertThat(words(mount)).contains("-Xmx192m").doesNotContain("-Xmx160m");
    assertThat(mount.settledStats().residentBytes()).isLessThanOrEqualTo(1 << 20);
    Await.until(
        START, "what lost its place dropped", () -> mount.cachedBytes(dataset.files()) <= 1 << 20);

    Child.Result result = sandbox.holdfast("restart", mount.name(), "--log-file", "/proc/none/log");

    assertThat(result.exit()).as("%s", result).isEqualTo(1);
    assertThat(result.err()).contains("does not start; the one before is back").hasLineCount(1);
    mount.findAgain(START);
    assertThat(mount.stats().number("cache.capacity_bytes")).isEqualTo(1 << 20);
    assertThat(mount.state().resolve("previous.json")).doesNotExist();
    assertReadsAll(mount, dataset);
  }

  private static List<String> words(Mount mount) throws IOException {
    Path file = Path.of("/proc/" + mount.pid() + "/cmdline");
    return List.of(Files.readString(file).split("\0", -1));
  }

  /** The kernel remembers the snapshots of the daemon before, which are not those of the next. */
  @Test
  void foreground_supervisor_isTheProcessThatWasStartedAndHasANextDaemon() throws IOException {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), 20, i -> 50_000);
    Mount mount = sandbox.declare(dataset.root());
    Child process = sandbox.start(mount.command("--foreground").toArray(String[]::new));
    Await.until(START, "the mount", mount::isMounted);
    mount.findAgain(START);
    assertThat(mount.supervisor()).isEqualTo(process.pid());
    Path stats = mount.path(".holdfast/stats.json");
    assertThat(Stats.parse(Files.readString(stats)).number("kernel.daemon_restarts")).isZero();
    mount.signal(Posix.SIGKILL);
    Await.until(ERROR, "the daemon ended", () -> !mount.daemonIsAlive());
    mount.findAgain(START);
    assertThat(Stats.parse(Files.readString(stats)).number("kernel.daemon_restarts")).isEqualTo(1);
    assertReadsAll(mount, dataset);

    Posix.kill(process.pid(), Posix.SIGTERM);

    assertThat(process.await(START).exit()).isZero();
    assertThat(mount.isMounted()).isFalse();
  }

  private void assertReadsAll(Mount mount, Dataset dataset) {
    Child.Result result =
        sandbox
            .startJava(
                Reader.class, mount.mountpoint(), dataset.permutation(sandbox, random), 2, "share")
            .await(START);
    assertThat(result.exit()).as("%s", result).isZero();
  }
}
