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
import java.util.stream.Stream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** However the daemon ends, nobody waits for it and nothing of it stays. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
@Order(1)
class DiesWellIT {
  /** The promise is one second; machines that run tests are slow, so the figure is printed. */
  private static final Duration ERROR = Duration.ofSeconds(3);

  /** How long the end of a mount may take. */
  private static final Duration END = Duration.ofSeconds(5);

  private static final Duration READ_DEADLINE = Duration.ofSeconds(20);
  private static final int FILES = 1500;
  private static final int FILE_BYTES = 100_000;
  private static final int READERS = 8;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  /** Each mount but the first one begins over what the one before has left. */
  @Test
  void killed_whileItFetchesForEightReadersAndWhilePinning_endsAtOnceAndCanBeMountedAgain() {
    Dataset dataset = Dataset.create(sandbox.tmpfs("origin"), 2 * FILES, i -> FILE_BYTES);
    HangingOrigin store = HangingOrigin.of(sandbox, dataset.root());
    Path mountpoint = sandbox.folder("mnt");
    Mount hanging = sandbox.mountAt(store.root(), mountpoint, "--capacity", "64M");
    store.freeze();
    killAndExpectErrors("eight readers", hanging, startWaiting(hanging, dataset));
    store.thaw();

    for (int round = 0; round < 3; round++) {
      Mount mount = sandbox.mountAt(dataset.root(), mountpoint, "--capacity", "1G");
      Child reader = startReader(mount, dataset);
      Await.moment(READ_DEADLINE, "the first pin", () -> mount.lockedBytes() > 0);
      int after = random.nextInt(150);
      Await.holdsWithin(Duration.ofMillis(after), () -> !reader.isAlive());

      killAndExpectErrors(
          "pinning, after %d ms, seed %d".formatted(after, seed), mount, List.of(reader));
    }
    assertMountsAgain(dataset, mountpoint);
  }

  @Test
  void killed_overItsOrigin_showsTheOriginAfterUmount() throws IOException {
    Dataset dataset = smallDataset();
    Mount mount = sandbox.mountAt(dataset.root(), dataset.root(), "--capacity", "64M");
    assertReadsAll(mount, dataset);

    mount.kill();
    Await.until(Sandbox.END_DEADLINE, "the daemon ended", () -> !mount.daemonIsAlive());
    assertThat(mount.umount().mustSucceed().took()).isLessThan(Await.stretched(END));

    assertThat(mount.isMounted()).isFalse();
    Child.Result again = mount.umount();
    assertThat(again.exit()).as("nothing is mounted there").isEqualTo(1);
    assertThat(again.err().strip()).startsWith("holdfast: ").doesNotContain("\n");
    assertThat(Files.readAllBytes(dataset.file(3)))
        .isEqualTo(Stamps.bytes(3, 1, 0, dataset.size(3)));
  }

  /** The ways to end a mount. */
  enum Ending {
    SIGTERM {
      @Override
      void end(Mount mount) {
        mount.signal(Posix.SIGTERM);
      }
    },
    UMOUNT {
      @Override
      void end(Mount mount) {
        mount.umount().mustSucceed();
      }
    };

    abstract void end(Mount mount);
  }

  @ParameterizedTest
  @EnumSource(Ending.class)
  void ended_filesOpenAndMapped_isGoneWithinFiveSecondsAndTheOriginBelowIsShown(Ending ending)
      throws IOException {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), FILES, i -> FILE_BYTES);
    Mount mount = sandbox.mountAt(dataset.root(), dataset.root(), "--capacity", "100M");
    assertReadsAll(mount, dataset);
    List<Child> holders = List.of(hold(mount, dataset, 0), hold(mount, dataset, FILES - 1));
    Child busy = startReader(mount, dataset);

    assertEndsInTime(ending, mount);

    for (Child holder : holders) {
      assertThat(holder.isAlive()).isTrue();
      holder.tell("read 0 " + FILE_BYTES);
      assertThat(holder.awaitLine(3, Sandbox.END_DEADLINE))
          .matches("error .*|version 1 length " + FILE_BYTES);
    }
    assertThat(busy.endsWithin(Sandbox.END_DEADLINE)).as("%s", busy).isTrue();
    assertThat(Files.readAllBytes(dataset.file(3)))
        .isEqualTo(Stamps.bytes(3, 1, 0, dataset.size(3)));
    try (Stream<Path> entries = Files.list(dataset.root())) {
      assertThat(entries).hasSize(dataset.folders());
    }
  }

  @ParameterizedTest
  @EnumSource(Ending.class)
  void ended_originHangs_isGoneWithinFiveSecondsToo(Ending ending) {
    Dataset dataset = smallDataset();
    HangingOrigin store = HangingOrigin.of(sandbox, dataset.root());
    Mount mount = sandbox.mount(store.root(), "--capacity", "64M");
    store.freeze();
    List<Child> readers = startWaiting(mount, dataset);
    assertThat(mount.stats().number("fetches.in_flight")).isPositive();
    assertThat(sandbox.holdfast("stats", mount.name()).mustSucceed().took())
        .isLessThan(Await.stretched(END));

    assertEndsInTime(ending, mount);

    for (Child reader : readers) {
      assertThat(reader.await(Sandbox.END_DEADLINE).exit()).as("%s", reader).isNotZero();
    }
    store.thaw();
  }

  /** The daemon used to detach its mountpoint once more, and with that the mount below. */
  @Test
  void unmountedLazily_overItsOriginWhichIsAMount_leavesThat() throws IOException {
    Dataset dataset = Dataset.create(sandbox.tmpfs("origin"), 50, i -> FILE_BYTES);
    Mount mount = sandbox.mountAt(dataset.root(), dataset.root(), "--capacity", "64M");
    assertReadsAll(mount, dataset);

    sandbox.command("umount", "-i", "-l", dataset.root().toString()).mustSucceed();
    awaitDaemonGone(mount);

    assertThat(Files.readAllBytes(dataset.file(3)))
        .isEqualTo(Stamps.bytes(3, 1, 0, dataset.size(3)));
  }

  @Test
  void ended_anotherMountOverIt_leavesThat() throws IOException {
    Dataset dataset = smallDataset();
    Mount mount = sandbox.mount(dataset.root(), "--capacity", "64M");
    Path mountpoint = mount.mountpoint();
    sandbox.command("mount", "-t", "tmpfs", "none", mountpoint.toString()).mustSucceed();
    Path other = Files.createFile(mountpoint.resolve("other"));

    mount.signal(Posix.SIGTERM);
    awaitDaemonGone(mount);

    assertThat(other).exists();
    sandbox.command("umount", "-i", mountpoint.toString()).mustSucceed();
    sandbox.command("umount", "-i", "-l", mountpoint.toString()).mustSucceed();
  }

  private static void awaitDaemonGone(Mount mount) {
    Await.until(
        Sandbox.END_DEADLINE,
        "the daemon gone",
        () -> !mount.daemonIsAlive() && !Files.exists(mount.state()));
  }

  private void assertEndsInTime(Ending ending, Mount mount) {
    long start = System.nanoTime();
    ending.end(mount);
    Await.until(
        Sandbox.END_DEADLINE,
        "mount and daemon gone",
        () -> !mount.isMounted() && !mount.daemonIsAlive());
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    System.out.printf("%s: gone after %d ms%n", ending, took.toMillis());
    assertThat(took).isLessThan(Await.stretched(END));
    assertThat(ControlSocket.of(mount.name())).doesNotExist();
  }

  private void killAndExpectErrors(String when, Mount mount, List<Child> readers) {
    long start = System.nanoTime();
    mount.kill();
    for (Child reader : readers) {
      assertThat(reader.endsWithin(Sandbox.END_DEADLINE))
          .as("killed while %s: %s, state %s", when, reader, ProcessTable.state(reader.pid()))
          .isTrue();
    }
    long readersMillis = Duration.ofNanos(System.nanoTime() - start).toMillis();
    Await.until(Sandbox.END_DEADLINE, "the daemon ended", () -> !mount.daemonIsAlive());
    System.out.printf(
        "killed while %s: readers ended after %d ms, daemon after %d ms%n",
        when, readersMillis, Duration.ofNanos(System.nanoTime() - start).toMillis());
    assertThat(readersMillis).isLessThan(Await.stretched(ERROR).toMillis());
    for (Child reader : readers) {
      assertThat(reader.await(Sandbox.END_DEADLINE).exit()).as("%s", reader).isNotZero();
    }
    assertThat(ProcessTable.marked(sandbox.id()))
        .allSatisfy(row -> assertThat(row.state()).as("%s", row).isNotEqualTo('D'));
    assertThat(sandbox.command("ls", mount.mountpoint().toString()).err())
        .contains("Transport endpoint is not connected");
  }

  /** Mounts over what the dead one left, reads everything, and ends it. */
  private void assertMountsAgain(Dataset dataset, Path mountpoint) {
    Mount again = sandbox.mountAt(dataset.root(), mountpoint, "--capacity", "1G");
    assertThat(MountTable.holdfastAt(mountpoint)).hasSize(1);
    assertReadsAll(again, dataset);
    again.terminate();
    assertThat(MountTable.holdfastAt(mountpoint)).isEmpty();
  }

  private Dataset smallDataset() {
    return Dataset.create(sandbox.folder("origin"), 50, i -> FILE_BYTES);
  }

  /** Starts readers of different files and waits until each waits for its bytes. */
  private List<Child> startWaiting(Mount mount, Dataset dataset) {
    List<Child> readers = new ArrayList<>();
    for (int i = 0; i < READERS; i++) {
      readers.add(sandbox.start("cat", mount.path(dataset.files().get(i)).toString()));
    }
    for (int i = 0; i < READERS; i++) {
      Child reader = readers.get(i);
      Path file = mount.path(dataset.files().get(i));
      Await.until(
          READ_DEADLINE,
          "a waiting reader: " + reader,
          () ->
              ProcessTable.hasOpen(reader.pid(), file)
                  && "DS".indexOf(ProcessTable.state(reader.pid())) >= 0);
    }
    mount.awaitStats("a fetch", stats -> stats.number("fetches.in_flight") > 0);
    return readers;
  }

  private Child hold(Mount mount, Dataset dataset, int index) {
    Child holder = sandbox.startJava(Holder.class, mount.path(dataset.files().get(index)), index);
    holder.awaitLine(1, READ_DEADLINE);
    holder.tell("touch 0 " + FILE_BYTES);
    assertThat(holder.awaitLine(2, READ_DEADLINE)).startsWith("version 1 ");
    return holder;
  }

  private Child startReader(Mount mount, Dataset dataset) {
    return sandbox.startJava(
        Reader.class, mount.mountpoint(), dataset.permutation(sandbox, random), 2, "share");
  }

  private void assertReadsAll(Mount mount, Dataset dataset) {
    Child.Result result = startReader(mount, dataset).await(READ_DEADLINE);
    assertThat(result.exit()).as("%s", result).isZero();
  }
}
