package io.holdfast.it;

import static io.holdfast.it.Content.content;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.posix.Posix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Checkpoints while the store or the front fails: nothing is lost, and it is told why. */
@Tag(Sandbox.ANY_BINDING)
@Order(1)
class CheckpointFaultsIT {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final int MEBIBYTE = 1 << 20;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private String name = "";
  private String capacity = "64M";
  private Path directory = Path.of("/");
  private @Nullable FailingDisk disk;

  @BeforeEach
  void folders() {
    name = sandbox.id() + "-faults";
    directory = sandbox.folder("checkpoints");
  }

  @AfterEach
  void thaw() throws IOException {
    if (disk != null) {
      disk.thaw(); // also if the test failed: else nothing here could end
    }
    Files.deleteIfExists(Path.of("/var/log/holdfast", name + ".log"));
  }

  private void mount(Path front, Path store, String... options) {
    tryMount(front, store, options).mustSucceed();
  }

  private Child.Result tryMount(Path front, Path store, String... options) {
    return sandbox.holdfast(words(front, store, options).toArray(String[]::new));
  }

  private List<String> words(Path front, Path store, String... options) {
    List<String> words = new ArrayList<>(List.of("checkpoint", "--name", name));
    words.addAll(List.of("--front", front.toString(), "--front-capacity", capacity));
    words.addAll(List.of(options));
    words.addAll(List.of(store.toString(), directory.toString()));
    return words;
  }

  private long daemon() {
    try {
      Path file = Path.of("/run/holdfast", name + ".pid");
      return Long.parseLong(Files.readAllLines(file).get(0).strip());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Path state() {
    return Path.of("/run/holdfast", name + ".state");
  }

  /** Waits until the daemon has ended, and its supervisor, which removes the directory last. */
  private void awaitEnd(long daemon) {
    Await.until(DEADLINE, "the daemon has ended", () -> ProcessTable.state(daemon) == 'X');
    Await.until(DEADLINE, "the supervisor has ended", () -> Files.notExists(state()));
  }

  /** As if the machine had stopped: nobody starts another daemon. */
  private void killAll() throws IOException {
    long daemon = daemon();
    String supervisor = Files.readString(state().resolve("supervisor")).strip();
    Posix.kill(Long.parseLong(supervisor), Posix.SIGKILL);
    Posix.kill(daemon, Posix.SIGKILL);
    Await.until(DEADLINE, "the daemon has ended", () -> ProcessTable.state(daemon) == 'X');
  }

  private byte[] save(String checkpoint, int mebibytes) {
    byte[] bytes = new byte[mebibytes * MEBIBYTE];
    new Random(checkpoint.hashCode()).nextBytes(bytes);
    try {
      Path writing = Files.write(directory.resolve(checkpoint + ".tmp"), bytes);
      Files.move(writing, directory.resolve(checkpoint), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes;
  }

  private Stats stats() {
    return ControlSocket.stats(name);
  }

  private Child.Result await(String timeout) {
    return sandbox.holdfast("checkpoint", "wait", "--timeout", timeout, directory.toString());
  }

  private void sync(String checkpoint) throws IOException {
    try (FileChannel file =
        FileChannel.open(directory.resolve(checkpoint), StandardOpenOption.WRITE)) {
      file.force(true);
    }
  }

  /** The same as {@code checkpoint wait}, without the command's process. */
  private void awaitStore() {
    ControlSocket.awaitDurable(name, DEADLINE);
  }

  /**
   * Has the daemon bring the rest to the store and end, without the process of our command. A
   * process that another test starts has copies of all files that are open here until it executes
   * its program, also of one that this test has closed: the mount is busy for that moment.
   */
  private void umount() {
    long daemon = daemon();
    Await.until(
        DEADLINE,
        "nothing is open on the mount",
        () -> sandbox.command("umount", "-i", directory.toString()).exit() == 0);
    awaitEnd(daemon);
  }

  @Test
  void storeThatHasNoRoom_isRefused_andThenFailsEachFsyncAndWait_untilItHasSome()
      throws IOException {
    Path store = sandbox.tmpfs("store", "8m");
    Path front = sandbox.tmpfs("front");
    assertStoreWithoutRoomForItsWritersNameIsRefused(front, store);
    mount(front, store);
    byte[] first = save("step-1", 4);
    awaitStore();

    byte[] second = save("step-2", 8);

    for (int i = 0; i < 2; i++) {
      Child.Result result = await("60s");
      assertThat(result.exit()).isEqualTo(1);
      assertThat(result.err())
          .contains("the store fails: step-2.tmp: No space left on device")
          .contains("(make room in the store itself: what is removed in the mount comes later)")
          .hasLineCount(1);
      assertThatThrownBy(() -> sync("step-2")).isInstanceOf(IOException.class);
    }
    assertThat(stats().at("checkpoint.state")).isEqualTo("the store fails");
    assertThat(String.valueOf(stats().at("checkpoint.last_error"))).contains("step-2.tmp");
    assertThat(directory.resolve("step-2")).has(content(second));
    assertThat(store.resolve("step-2")).as("its bytes are not there yet").doesNotExist();
    byte[] third = save("step-3", 1);
    sandbox.command("mount", "-o", "remount,size=64m", store.toString()).mustSucceed();

    Await.until(
        DEADLINE,
        "an attempt that finds room",
        () -> "all is in the store".equals(stats().at("checkpoint.state")));
    assertThat(await("60s").exit()).isZero();
    sync("step-3");
    assertThat(stats().number("checkpoint.errors")).isPositive();
    sandbox.holdfast("umount", directory.toString()).mustSucceed();
    assertThat(store.resolve("step-1")).has(content(first));
    assertThat(store.resolve("step-2")).has(content(second));
    assertThat(store.resolve("step-3")).has(content(third));
  }

  /** The file that names the writer stayed behind, without a name: nobody could have the store. */
  private void assertStoreWithoutRoomForItsWritersNameIsRefused(Path front, Path store)
      throws IOException {
    sandbox.command("sh", "-c", "cat /dev/zero >$0/filler 2>/dev/null", store.toString());

    Child.Result full = tryMount(front, store);

    assertThat(full.exit()).isEqualTo(1);
    assertThat(full.err()).contains("No space left on device").hasLineCount(1);
    Files.delete(store.resolve("filler"));
  }

  /** The capacity is more than the disk has: other files may have filled that. */
  @Test
  void storeThatHangs_keepsWritersWaiting_onceTheFrontsDiskIsFull() throws Exception {
    capacity = "8G";
    Path store = sandbox.folder("store");
    disk = new FailingDisk(sandbox, store, "128M");
    mount(sandbox.tmpfs("front", "16m"), store);
    byte[] first = save("step-0", 2);
    awaitStore();
    disk.freeze();

    CompletableFuture<Void> writer =
        CompletableFuture.runAsync(
            () -> {
              for (int i = 1; i <= 8; i++) {
                save("step-" + i, 4);
              }
            });

    Stats full =
        Await.value(
            DEADLINE,
            "a writer that waits",
            this::stats,
            stats -> stats.number("checkpoint.waiting_writers") == 1);
    assertThat(full.at("checkpoint.state"))
        .isEqualTo("the front is full: writers wait for the store");
    assertThat(await("100ms").exit()).isEqualTo(124);
    assertThat(directory.resolve("step-1")).as("can be read meanwhile").hasSize(4 * MEBIBYTE);
    assertThat(writer).isNotDone();
    disk.thaw();

    writer.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    assertThat(directory.resolve("step-0")).as("from the store").has(content(first));
    umount();
    for (int i = 1; i <= 8; i++) {
      byte[] bytes = new byte[4 * MEBIBYTE];
      new Random(("step-" + i).hashCode()).nextBytes(bytes);
      assertThat(store.resolve("step-" + i)).has(content(bytes));
    }
  }

  /**
   * The first node wrote its old files over those that the second one had written meanwhile. A
   * marker of the same size stayed old in its mount.
   */
  @Test
  void frontThatComesBack_afterAnotherMount_leavesTheStoreAsItIs() throws IOException {
    Path store = sandbox.folder("store");
    Path one = sandbox.tmpfs("one");
    Path two = sandbox.tmpfs("two");
    Path marker = directory.resolve("latest");
    mount(one, store);
    save("step-1", 1);
    save("last", 2);
    Files.writeString(marker, "900");
    umount();
    mount(two, store);
    Files.delete(directory.resolve("step-1"));
    byte[] second = save("step-2", 1);
    Files.write(directory.resolve("last"), second);
    Files.writeString(marker, "901");
    umount();

    mount(one, store);

    assertThat(directory.resolve("step-1")).doesNotExist();
    assertThat(directory.resolve("step-2")).has(content(second));
    assertThat(directory.resolve("last")).has(content(second));
    assertThat(marker).hasContent("901");
    assertThat(directory.resolve(".holdfast-checkpoint.last")).doesNotExist();
    assertThatThrownBy(() -> Files.createFile(directory.resolve(".holdfast-checkpoint.last")))
        .hasMessageContaining("not permitted");
    byte[] third = save("step-3", 1);
    umount();
    assertThat(store.resolve("step-1")).doesNotExist();
    assertThat(store.resolve("step-2")).has(content(second));
    assertThat(store.resolve("last")).has(content(second));
    assertThat(store.resolve("latest")).hasContent("901");

    FileTime before = Files.getLastModifiedTime(store.resolve("step-3"));
    mount(one, store);
    assertThat(one.resolve("tree/step-3")).as("still in the front").has(content(third));
    umount();
    assertThat(Files.getLastModifiedTime(store.resolve("step-3"))).isEqualTo(before);
  }

  /** Its files would be taken for those of the store, and be written to it. */
  @Test
  void frontOfAnotherStore_beginsAnew_andIsRefusedWhileItHasChanges() throws IOException {
    Path front = sandbox.tmpfs("front");
    Path one = sandbox.folder("one");
    Path other = sandbox.folder("other");
    mount(front, one);
    byte[] first = save("step-1", 1);
    byte[] second = save("step-2", 1);
    umount();
    Files.write(other.resolve("step-1"), second);
    mount(front, other);
    assertThat(directory.resolve("step-1")).has(content(second));
    assertThat(directory.resolve("step-2")).doesNotExist();
    umount();
    mount(front, other, "--persist-rate", "100K");
    byte[] large = save("large", 4);
    sandbox.holdfast("umount", "--force", directory.toString()).mustSucceed();

    Child.Result refused = tryMount(front, one);

    assertThat(refused.exit()).isEqualTo(1);
    assertThat(refused.err())
        .contains(
            one + "/.holdfast-checkpoint is missing, and the front has changes that are not in the")
        .hasLineCount(1);
    mount(front, other);
    umount();
    assertThat(other.resolve("large")).has(content(large));
    mount(front, one);
    assertThat(directory.resolve("step-1")).has(content(first));
    assertThat(directory.resolve("large")).doesNotExist();
    assertFrontWithChangesIsNotTakenForThatOfAStoreWhichAnEarlierMountHasLeft(
        front, one, first, other);
  }

  /** The first store still named the front, and got the operations that were for the other one. */
  private void assertFrontWithChangesIsNotTakenForThatOfAStoreWhichAnEarlierMountHasLeft(
      Path front, Path one, byte[] first, Path other) throws IOException {
    awaitStore();
    killAll();
    String mark = Files.readString(one.resolve(".holdfast-checkpoint"));
    mount(front, other, "--persist-rate", "100K");
    byte[] second = save("step-1", 4);
    killAll();

    Child.Result refused = tryMount(front, one);

    assertThat(refused.exit()).isEqualTo(1);
    assertThat(refused.err())
        .startsWith("holdfast: took away a stale mount")
        .contains("is of an earlier mount with this front, which has changes for another store")
        .hasLineCount(2);
    assertThat(one.resolve("step-1")).has(content(first));
    assertThat(one.resolve(".holdfast-checkpoint")).hasContent(mark);
    mount(front, other);
    umount();
    assertThat(other.resolve("step-1")).has(content(second));
    mount(front, one);
    assertThat(directory.resolve("step-1")).has(content(first));
    sandbox.holdfast("umount", directory.toString()).mustSucceed();
    assertThat(one.resolve(".holdfast-checkpoint")).doesNotExist();
  }

  /** The next mount had the store get what was logged by then, and compared no more. */
  @Test
  void comparisonThatWasInterrupted_isDoneByTheNextMount_andAnEmptyStoreIsRefused()
      throws IOException {
    Path front = sandbox.tmpfs("front");
    Path store = sandbox.folder("store");
    mount(front, store);
    List<String> names = List.of("a", "b", "c");
    List<byte[]> saved = names.stream().map(each -> save(each, 1)).toList();
    umount();
    for (String each : names) {
      Files.delete(store.resolve(each));
    }
    Files.createDirectory(store.resolve("b"));
    Child.Result refused = tryMount(front, store);
    assertThat(refused.exit()).isEqualTo(1);
    assertThat(refused.err()).contains("b: is of another type in the store").hasLineCount(1);
    Files.delete(store.resolve("b"));

    mount(front, store, "--keep", "1");

    umount();
    for (int i = 0; i < names.size(); i++) {
      assertThat(store.resolve(names.get(i))).has(content(saved.get(i)));
    }
    assertEmptyStoreOfWhichTheFrontHasFilesIsRefused(front, store);
    mount(front, store);
    for (int i = 0; i < names.size(); i++) {
      assertThat(directory.resolve(names.get(i))).has(content(saved.get(i)));
    }
    umount();
  }

  /** Stubs were taken for lost, and what the front had went to the directory below the mount. */
  private void assertEmptyStoreOfWhichTheFrontHasFilesIsRefused(Path front, Path store)
      throws IOException {
    Path elsewhere = Files.move(store, store.resolveSibling("elsewhere"));
    Files.createDirectory(store);

    Child.Result refused = tryMount(front, store);

    assertThat(refused.exit()).isEqualTo(1);
    assertThat(refused.err())
        .contains("the store '%s' is empty, and the front '%s' has files".formatted(store, front))
        .hasLineCount(1);
    assertThat(store).isEmptyDirectory();
    Files.delete(store);
    Files.move(elsewhere, store);
  }

  /** It was taken for a crash of the machine: the front was emptied below the mount. */
  @Test
  void noteOfTheBoot_thatIsDamaged_isNoCrash_toADaemonThatGoesOn() throws IOException {
    Path front = sandbox.tmpfs("front");
    Path store = sandbox.folder("store");
    mount(front, store);
    byte[] bytes = save("step-1", 1);
    awaitStore();
    try (FileChannel open = FileChannel.open(directory.resolve("step-1"))) {
      Files.writeString(front.resolve("boot"), "");
      long daemon = daemon();
      Posix.kill(daemon, Posix.SIGKILL);
      Await.until(DEADLINE, "the next daemon", () -> daemon() != daemon);

      ByteBuffer read = ByteBuffer.allocate(MEBIBYTE);
      assertThat(open.read(read, 0)).isPositive();
      assertThat(read.get(0)).isEqualTo(bytes[0]);
    }

    assertThat(directory.resolve("step-1")).has(content(bytes));
    assertThat(front.resolve("boot")).isNotEmptyFile();
    assertThat(front.resolve("tree/step-1")).as("still in the front").has(content(bytes));
    umount();
  }

  @Test
  void mount_overTheMount_staysWhenTheDaemonIsEnded() throws IOException {
    mount(sandbox.tmpfs("front"), sandbox.folder("store"));
    long daemon = daemon();
    int minor = MountTable.holdfastAt(directory).get(0).minor();
    sandbox.command("mount", "-t", "tmpfs", "none", directory.toString()).mustSucceed();
    sandbox.atEnd(() -> sandbox.command("umount", "-l", directory.toString()));
    Path other = Files.createFile(directory.resolve("other"));

    Posix.kill(daemon, Posix.SIGTERM);
    awaitEnd(daemon);

    assertThat(other).exists();
    assertThat(MountTable.holdfastAt(directory)).extracting(MountTable.Row::minor).contains(minor);
    sandbox.command("umount", "-i", directory.toString()).mustSucceed();
    sandbox.command("umount", "-i", directory.toString()).mustSucceed();
  }

  /** A file could not be moved there, and two files of the same inode number became one. */
  @Test
  void storeWithAnotherFileSystemInside_isRefused_andWithoutItAlsoAnUnknownHostCanMount()
      throws IOException {
    Path front = sandbox.tmpfs("front");
    Path store = sandbox.folder("store");
    Path inside = Files.createDirectories(store.resolve("run/inside"));
    sandbox.command("mount", "-t", "tmpfs", "none", inside.toString()).mustSucceed();

    Child.Result refused = tryMount(front, store);
    sandbox.command("umount", inside.toString()).mustSucceed();

    assertThat(refused.exit()).isEqualTo(1);
    assertThat(refused.err())
        .contains("run/inside: is on another file system than the store's root")
        .hasLineCount(1);
    assertThat(store.resolve(".holdfast-checkpoint")).doesNotExist();
    assertHostWhoseNameNoNameServiceKnowsCanMount(sandbox.tmpfs("new-front"), store);
  }

  private void assertHostWhoseNameNoNameServiceKnowsCanMount(Path front, Path store)
      throws IOException {
    String renamed = "echo unknown-to-all >/proc/sys/kernel/hostname && exec \"$0\" \"$@\"";
    List<String> command = new ArrayList<>(List.of("unshare", "--uts", "sh", "-c", renamed));
    command.add(Sandbox.launcher());
    command.addAll(words(front, store));

    sandbox.command(command.toArray(String[]::new)).mustSucceed();

    assertThat(Files.readString(store.resolve(".holdfast-checkpoint")))
        .startsWith("node unknown-to-all (");
    umount();
  }

  @Test
  void storeWhoseDiskDies_hasEverything_onceItIsRepairedAndTheMountIsThereAgain()
      throws IOException {
    Path store = sandbox.folder("store");
    Path front = sandbox.tmpfs("front");
    disk = new FailingDisk(sandbox, store, "64M");
    mount(front, store);
    byte[] first = save("step-1", 4);
    awaitStore();
    disk.fail();

    byte[] second = save("step-2", 4);

    for (int i = 0; i < 2; i++) {
      Child.Result result = await("60s");
      assertThat(result.exit()).isEqualTo(1);
      assertThat(result.err()).contains("the store fails: ").contains("Input/output error");
    }
    assertThatThrownBy(() -> sync("step-2")).hasMessageContaining("Input/output error");
    long daemon = daemon();
    Posix.kill(daemon, Posix.SIGKILL);
    awaitEnd(daemon); // no daemon can start again, which needs the store
    disk.repair();
    mount(front, store);

    awaitStore();
    umount();
    assertThat(store.resolve("step-1")).has(content(first));
    assertThat(store.resolve("step-2")).has(content(second));
  }

  /**
   * After a crash of the machine the log counts up to the first write that is damaged. So what
   * fsync has promised was lost with an earlier file that nobody had synced, and with a later write
   * over the same bytes.
   */
  @Test
  void fileThatWasSyncedToTheFront_survivesACrashOfTheMachine() throws IOException {
    Path store = sandbox.folder("store");
    Path front = sandbox.folder("front");
    disk = new FailingDisk(sandbox, front, "128M");
    mount(front, store, "--fsync", "node", "--persist-rate", "1K");
    byte[] first = save("step-1", 4);
    byte[] second = save("step-2", 1);
    sync("step-2");
    try (FileChannel file =
        FileChannel.open(directory.resolve("step-2"), StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(new byte[4096]), 0);
    }
    try (FileChannel file =
        FileChannel.open(front.resolve("tree/step-2"), StandardOpenOption.WRITE)) {
      file.force(true); // the kernel may write a file before others
    }
    save("step-3", 1);

    disk.crash();
    killAll();
    disk.repair();
    Files.writeString(front.resolve("boot"), "another");
    mount(front, store);

    assertThat(directory.resolve("step-1")).has(content(first));
    assertThat(Files.readAllBytes(directory.resolve("step-2")))
        .hasSize(MEBIBYTE)
        .endsWith(Arrays.copyOfRange(second, 4096, MEBIBYTE));
    umount();
    assertThat(store.resolve("step-1")).has(content(first));
  }

  /** Its name is durable, too, and that of the directory that it is in. */
  @Test
  void newFileThatWasSynced_survivesACrashOfTheStoresMachine() throws IOException {
    Path store = sandbox.folder("store");
    disk = new FailingDisk(sandbox, store, "64M");
    mount(sandbox.tmpfs("front"), store);
    Files.createDirectory(directory.resolve("run"));
    byte[] bytes = save("run/step-1", 1);
    sync("run/step-1");
    Files.writeString(store.resolve("not-synced"), "lost");

    disk.crash();
    killAll();
    disk.repair();

    assertThat(store.resolve("run/step-1")).has(content(bytes));
    assertThat(store.resolve("run/step-1.tmp")).doesNotExist();
    assertThat(store.resolve("not-synced")).as("the crash was one").doesNotExist();
    Child.Result dead = sandbox.holdfast("umount", directory.toString());
    assertThat(dead.exit()).as("nobody knows whether the store has everything").isEqualTo(1);
    assertThat(dead.err()).contains("took away the checkpoint mount at " + directory);
    assertThat(MountTable.holdfastAt(directory)).isEmpty();
  }

  /** The number of the system call is 74 on x86_64, and 82 on aarch64. */
  private static boolean isInFsync(Path process) {
    try {
      String call = Files.readString(process.resolve("syscall"));
      return call.startsWith("74 ") || call.startsWith("82 ");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isInFsync(long program) {
    return isInFsync(Path.of("/proc", Long.toString(program)));
  }

  private static long threadsInFsync(long program) {
    try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(program), "task"))) {
      return threads.filter(CheckpointFaultsIT::isInFsync).count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static final int MORE_THAN_THREADS = 600;

  /** Each fsync on a file of its own: the kernel lets a file have one at a time. */
  private static final String SYNCS =
      """
      import os, sys, threading

      def sync(number):
          file = os.open(f"{sys.argv[1]}/{number}", os.O_CREAT | os.O_WRONLY)
          os.write(file, b"x")
          os.fsync(file)

      for number in range(int(sys.argv[2])):
          threading.Thread(target=sync, args=(number,)).start()
      """;

  /** Each kept a thread of the daemon, and when all waited no signal could end one. */
  @Test
  void programsThatWaitForTheStore_keepNoOtherWaiting_howeverManyTheyAre_andCanBeKilled()
      throws Exception {
    mount(sandbox.tmpfs("front"), sandbox.folder("store"), "--persist-rate", "1K");
    byte[] bytes = save("step-1", 4);
    Child many =
        sandbox.start(
            "python3", "-c", SYNCS, directory.toString(), Integer.toString(MORE_THAN_THREADS));
    Await.until(
        DEADLINE, "all wait for the store", () -> threadsInFsync(many.pid()) == MORE_THAN_THREADS);

    CompletableFuture<Boolean> asked =
        CompletableFuture.supplyAsync(() -> Files.exists(directory.resolve("unknown")));
    assertThat(asked.get(DEADLINE.toSeconds(), TimeUnit.SECONDS)).isFalse();
    assertThat(directory.resolve("step-1")).has(content(bytes));

    many.signal(Posix.SIGKILL);
    assertThat(many.endsWithin(DEADLINE)).isTrue();
    sandbox.holdfast("umount", "--force", directory.toString()).mustSucceed();
  }

  /** A program that waited in fsync held a lock for ever then, and the daemon did not end. */
  @Test
  void daemonThatIsStopped_whileAProgramWaitsForTheStore_ends_asDoesOneWhoseConnectionIsAborted()
      throws Exception {
    Path store = sandbox.folder("store");
    Path front = sandbox.tmpfs("front");
    mount(front, store, "--persist-rate", "1K");
    byte[] bytes = save("step-1", 4);
    Child syncing = sandbox.start("sync", directory.resolve("step-1").toString());
    Await.until(DEADLINE, "sync waits for the store", () -> isInFsync(syncing.pid()));

    long daemon = daemon();
    Posix.kill(daemon, Posix.SIGTERM);

    awaitEnd(daemon);
    mount(front, store, "--persist-rate", "4M");
    assertMountWhoseConnectionIsAbortedIsTakenAway(store);
    assertThat(store.resolve("step-1")).has(content(bytes));
  }

  /**
   * An aborted connection has ended for the daemon, and its mount would be at its place for ever.
   */
  private void assertMountWhoseConnectionIsAbortedIsTakenAway(Path store) throws IOException {
    byte[] bytes = save("step-2", 4);
    long daemon = daemon();
    int minor = MountTable.holdfastAt(directory).get(0).minor();

    Files.writeString(sandbox.fuseConnection(minor).resolve("abort"), "1");
    awaitEnd(daemon);

    assertThat(MountTable.holdfastAt(directory)).isEmpty();
    assertThat(store.resolve("step-2")).has(content(bytes));
  }

  /** It took away what an admin had mounted there while it brought the rest to the store. */
  @Test
  void daemonThatEndsLongAfterItsUnmount_leavesAnotherMountAtItsPlace() throws IOException {
    Path store = sandbox.folder("store");
    mount(sandbox.tmpfs("front"), store, "--persist-rate", "1M");
    byte[] bytes = save("step-1", 4);
    long daemon = daemon();
    sandbox.command("umount", "-i", directory.toString()).mustSucceed();
    sandbox.command("mount", "-t", "tmpfs", "none", directory.toString()).mustSucceed();
    sandbox.atEnd(() -> sandbox.command("umount", "-l", directory.toString()));
    Path other = Files.createFile(directory.resolve("other"));

    awaitEnd(daemon);

    assertThat(store.resolve("step-1")).has(content(bytes));
    assertThat(other).exists();
  }

  /** ext4 has room for some 4 KB a file; what it cannot keep is left out, as without attributes. */
  @Test
  void whatIsTooLargeForTheFrontOrTheStore_isRefusedOrLeftOut_andKeepsNobodyWaiting()
      throws IOException {
    Path store = sandbox.folder("store");
    disk = new FailingDisk(sandbox, store, "64M");
    mount(sandbox.tmpfs("front", "8m"), store);
    byte[] bytes = save("step-1", 1);

    assertThatThrownBy(() -> save("too-large", 12)).hasRootCauseMessage("No space left on device");
    Files.delete(directory.resolve("too-large.tmp"));
    sandbox
        .command(
            "python3",
            "-c",
            "import os, sys; os.setxattr(sys.argv[1], 'trusted.large', b'x' * 20000)",
            directory.resolve("step-1").toString())
        .mustSucceed();
    byte[] second = save("step-2", 4);
    assertFilesOfHundredTerabytesAreRefused(directory.resolve("large").toString());

    awaitStore();
    umount();
    assertThat(store.resolve("step-1")).has(content(bytes));
    assertThat(store.resolve("step-2")).has(content(second));
    assertThat(store.resolve("too-large.tmp")).doesNotExist();
    assertThat(store.resolve("large")).hasSize(0);
  }

  private void assertFilesOfHundredTerabytesAreRefused(String large) {
    for (List<String> command :
        List.of(
            List.of("truncate", "-s", "100T", large),
            List.of("fallocate", "-n", "-o", "100T", "-l", "1", large),
            // without notrunc it would only truncate
            List.of(
                "dd",
                "if=/dev/zero",
                "of=" + large,
                "bs=1M",
                "count=1",
                "seek=100M",
                "conv=notrunc"))) {
      Child.Result refused = sandbox.run(Map.of(), command);
      assertThat(refused.exit()).as("%s", refused).isNotZero();
      assertThat(refused.err()).contains("File too large");
    }
  }
}
