package io.holdfast.it;

import static io.holdfast.it.Content.content;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.checkpoint.daemon.CheckpointMetrics;
import io.holdfast.monitoring.MetricsLint;
import io.holdfast.monitoring.Scrape;
import io.holdfast.posix.Posix;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A directory for checkpoints, {@code holdfast checkpoint}: on the node at once, and in the store
 * in order.
 */
@Tag(Sandbox.ANY_BINDING)
@Order(1)
class CheckpointIT {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final int SIZE = 4 << 20;
  private static final int RANKS = 60;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private String name = "";
  private Path store = Path.of("/");
  private Path front = Path.of("/");
  private Path directory = Path.of("/");

  @BeforeEach
  void folders() {
    name = sandbox.id() + "-checkpoint";
    store = sandbox.folder("store");
    front = sandbox.tmpfs("front");
    directory = sandbox.folder("checkpoints");
  }

  @AfterEach
  void log() throws IOException {
    for (String each : List.of(name, name + "-2")) {
      Files.deleteIfExists(Path.of("/var/log/holdfast", each + ".log"));
    }
  }

  private Child.Result mount(String... options) {
    List<String> words = new ArrayList<>(List.of("checkpoint", "--name", name));
    words.addAll(List.of("--front", front.toString()));
    words.addAll(List.of(options));
    words.addAll(List.of(store.toString(), directory.toString()));
    return sandbox.holdfast(words.toArray(String[]::new));
  }

  private String durable(String path) throws IOException {
    Object value = Files.getAttribute(directory.resolve(path), "user:holdfast.durable");
    return new String((byte[]) value, StandardCharsets.UTF_8);
  }

  private static Scrape scrape(int port) throws IOException {
    try (InputStream answer =
        URI.create("http://127.0.0.1:%d/metrics".formatted(port)).toURL().openStream()) {
      return Scrape.parse(new String(answer.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  /** Saves as frameworks do: under another name, which is changed when all is written. */
  private byte[] save(String checkpoint, int seed) throws IOException {
    byte[] bytes = new byte[SIZE];
    new Random(seed).nextBytes(bytes);
    Path writing = Files.write(directory.resolve(checkpoint + ".tmp"), bytes);
    Files.move(writing, directory.resolve(checkpoint), StandardCopyOption.ATOMIC_MOVE);
    return bytes;
  }

  private int waitForStore() {
    return sandbox.holdfast("checkpoint", "wait", "--timeout", "60s", directory.toString()).exit();
  }

  @Test
  void checkpoint_isOnTheNodeAtOnce_andThenInTheStore_inWhicheverWayProgramsSave_ofOneWriter()
      throws IOException {
    int port = Sandbox.freePort();
    mount("--persist-rate", "2M", "--metrics", "" + port).mustSucceed();

    byte[] bytes = save("step-1", 1);
    Files.createSymbolicLink(directory.resolve("latest"), Path.of("step-1"));

    assertThat(directory.resolve("latest")).has(content(bytes));
    assertThat(durable("step-1")).as("on a tmpfs").isEqualTo("memory");
    assertThat(store.resolve("latest")).as("comes after what it names").doesNotExist();
    assertThat(waitForStore()).isZero();
    assertThat(durable("step-1")).isEqualTo("store");
    Files.createSymbolicLink(directory.resolve("run"), directory);
    assertThat(sandbox.holdfast("checkpoint", "wait", directory.resolve("run/latest").toString()))
        .as("a path through symlinks")
        .satisfies(result -> assertThat(result.exit()).isZero());
    assertThat(store.resolve("run")).isSymbolicLink();
    Child.Result mistyped =
        sandbox.holdfast("checkpoint", "wait", directory.resolve("step-l").toString());
    assertThat(mistyped.exit()).isEqualTo(1);
    assertThat(mistyped.err()).contains("'step-l' is not in the mount: check the path");
    Scrape scrape = scrape(port);
    assertThat(MetricsLint.problems(scrape)).isEmpty();
    assertThat(scrape.names())
        .containsExactlyInAnyOrderElementsOf(
            CheckpointMetrics.all().stream().map(CheckpointMetrics.Declared::name).toList());
    assertThat(scrape.sum("holdfast_checkpoint_persisted_bytes_total", "mount", name))
        .isEqualTo(SIZE);
    assertThat(scrape.sum("holdfast_checkpoint_pending_operations", "mount", name)).isZero();
    assertThat(store.resolve("latest")).isSymbolicLink().has(content(bytes));
    saveAsProgramsDo();
    assertSecondWriterAndCommandsOfDatasetsAreRefused();
    detachWhileAFileIsOpen(bytes);
    sandbox.holdfast("umount", name).mustSucceed();
    assertThat(store.resolve("last")).hasSize(2L * SIZE);
    assertThat(Path.of("/run/holdfast", name + ".pid")).doesNotExist();
    assertThat(directory).isEmptyDirectory();
    assertThat(store.resolve("step-1")).has(content(bytes));
    shell("diff -r %s %s/copy".formatted(sandbox.folder("tree"), store));
    assertThat(store.resolve("f19")).hasSize(19_000);
    assertThat(store.resolve("log")).hasContent("1\n2\n3");
  }

  /** As {@code umount -l} does: the file stays usable, and the daemon goes on with the store. */
  private void detachWhileAFileIsOpen(byte[] bytes) throws IOException {
    try (FileChannel open =
        FileChannel.open(
            directory.resolve("last"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      sandbox.holdfast("umount.holdfast", directory.toString(), "-l").mustSucceed();
      assertThat(directory).isEmptyDirectory();
      assertThat(sandbox.holdfast("doctor", name).out())
          .contains("WARN  daemon", "it runs, but nothing is mounted at " + directory)
          .contains("OK    store");
      Child.Result busy = sandbox.holdfast("umount", name);
      assertThat(busy.exit()).isEqualTo(1);
      assertThat(busy.err()).contains("close what is open there");
      for (int i = 0; i < 2; i++) {
        assertThat(open.write(ByteBuffer.wrap(bytes))).isEqualTo(SIZE);
      }
    }
  }

  private void saveAsProgramsDo() throws IOException {
    Path tree = sandbox.folder("tree");
    for (int i = 0; i < 20; i++) {
      Files.write(tree.resolve("f" + i), new byte[i * 1000]);
    }

    sandbox
        .command("cp", "-a", tree.toString(), directory.resolve("copy").toString())
        .mustSucceed();
    shell("tar -C %s -cf - . | tar -C %s -xf -".formatted(tree, directory));
    shell("for i in 1 2 3; do echo $i >>%s/log; done".formatted(directory));
  }

  private void assertSecondWriterAndCommandsOfDatasetsAreRefused() {
    Path elsewhere = sandbox.folder("elsewhere");

    Child.Result second =
        sandbox.holdfast(
            "checkpoint",
            "--name",
            name + "-2",
            "--front",
            sandbox.tmpfs("other-front").toString(),
            store.toString(),
            elsewhere.toString());

    assertThat(second.exit()).isEqualTo(1);
    assertThat(second.err()).contains("the store is written by node").contains("try again");
    for (String words : List.of("refresh NAME", "capacity NAME 1G", "warm NAME", "bench NAME")) {
      Child.Result result = sandbox.holdfast(words.replace("NAME", name).split(" ", -1));
      assertThat(result.exit()).as("%s", result).isEqualTo(2);
      assertThat(result.err()).contains("is a checkpoint mount: only stats, run, umount and");
    }
    Child.Result allocated = sandbox.holdfast("allocate", "--budget", "1G");
    assertThat(allocated.out() + allocated.err()).doesNotContain(name);
  }

  private long daemon() {
    try {
      Path file = Path.of("/run/holdfast", name + ".pid");
      return Long.parseLong(Files.readAllLines(file).get(0).strip());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void awaitNext(long daemon) {
    Await.until(DEADLINE, "the next daemon", () -> daemon() != daemon);
  }

  private static final String LOCK =
      "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'r+'), fcntl.LOCK_EX | fcntl.LOCK_NB)";

  /** Each fails if it is performed twice. */
  private static final String CHANGES =
      """
      import os, sys, time
      os.chdir(sys.argv[1])
      log = os.open('log', os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND)
      n = 0
      while not os.path.exists(sys.argv[2]):
          os.close(os.open('new', os.O_CREAT | os.O_EXCL | os.O_WRONLY))
          os.rename('new', 'old')
          os.link('old', 'link')
          os.mkdir('dir')
          os.rename('link', 'dir/link')
          os.unlink('dir/link')
          os.rmdir('dir')
          os.unlink('old')
          assert os.write(log, b'%9d\\n' % n) == 10
          n += 1
          time.sleep(0.02)  # the store has to sync each
      assert os.listdir('.') == ['log'], os.listdir('.')
      """;

  /** Two names change places, by renameat2. */
  private static final String EXCHANGE =
      """
      mkdir other; python3 -c 'import ctypes, os
      libc = ctypes.CDLL(None, use_errno=True)
      if libc.renameat2(-100, b"%s", -100, b"%s", 2):
          raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))'
      """;

  /** The next daemon takes the mount over: programs wait for it, and notice nothing else. */
  @Test
  void daemon_thatIsKilled_losesNothing_andOpenFilesAndRequestsGoOn() throws Exception {
    mount("--persist-rate", "2M", "--fsync", "node").mustSucceed();
    byte[] first = save("step-1", 1);
    Path changes = Files.createDirectory(directory.resolve("changes"));
    Path end = sandbox.folder("end").resolve("now");
    Child changing = sandbox.start("python3", "-c", CHANGES, changes.toString(), end.toString());
    byte[] second;
    try (FileChannel open =
            FileChannel.open(
                directory.resolve("open"),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        FileChannel nameless =
            FileChannel.open(
                directory.resolve("nameless"),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        FileLock lock = open.lock()) {
      assertThat(open.write(ByteBuffer.wrap(first), 0)).isEqualTo(SIZE);
      assertThat(nameless.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), 0)).isEqualTo(3);
      Files.delete(directory.resolve("nameless"));
      MappedByteBuffer mapped = open.map(FileChannel.MapMode.READ_WRITE, 0, SIZE);
      for (int i = 0; i < 3; i++) {
        Path log = changes.resolve("log");
        long before = Files.exists(log) ? Files.size(log) : 0;
        long killed = daemon();
        Posix.kill(killed, Posix.SIGKILL);
        mapped.put(i, (byte) ~first[i]);
        mapped.force(); // waits for the next daemon
        awaitNext(killed);
        Await.until(DEADLINE, "more changes", () -> log.toFile().length() > before + 100);
      }
      second = save("step-2", 2);
      ByteBuffer read = ByteBuffer.allocate(4);
      assertThat(nameless.read(read, 0)).isEqualTo(3);
      assertThat(read.flip()).isEqualTo(ByteBuffer.wrap(new byte[] {1, 2, 3}));
      assertThat(lock.isValid()).isTrue();
      Child.Result locked =
          sandbox.command("python3", "-c", LOCK, directory.resolve("open").toString());
      assertThat(locked.err()).as("%s", locked).contains("BlockingIOError");
    }
    Files.createFile(end);
    assertThat(changing.await(DEADLINE).exit()).as("%s", changing).isZero();
    byte[] written = first.clone();
    for (int i = 0; i < 3; i++) {
      written[i] = (byte) ~first[i];
    }
    assertThat(directory.resolve("open")).has(content(written));
    Await.until(
        DEADLINE,
        "the file without a name to be closed",
        () -> front.resolve("unlinked").toFile().list().length == 0);

    Posix.kill(daemon(), Posix.SIGKILL); // commands find the next daemon
    sandbox.holdfast("stats", name).mustSucceed();
    Posix.kill(daemon(), Posix.SIGKILL);
    assertThat(waitForStore()).isZero();

    // a mount that has lost its supervisor, too, is dead: the next begins with what the front has
    Path state = Path.of("/run/holdfast", name + ".state");
    Posix.kill(
        Long.parseLong(Files.readString(state.resolve("supervisor")).strip()), Posix.SIGKILL);
    long last = daemon();
    Posix.kill(last, Posix.SIGKILL);
    Await.until(DEADLINE, "the daemon has ended", () -> ProcessTable.state(last) == 'X');
    assertThatThrownBy(() -> Files.readAllBytes(directory.resolve("step-1")))
        .isInstanceOf(IOException.class);
    mount().mustSucceed();

    assertThat(directory.resolve("step-1")).has(content(first));
    ControlSocket.awaitDurable(name, DEADLINE);
    assertThat(store.resolve("step-1")).has(content(first));
    assertThat(store.resolve("step-2")).has(content(second));
    assertThat(store.resolve("open")).has(content(written));
    assertThat(store.resolve("nameless")).doesNotExist();
    sandbox.holdfast("umount", directory.toString()).mustSucceed();
    assertThat(state).doesNotExist();
  }

  /** An NFS server with root_squash, as far as a program sees it: chown fails, and so do flags. */
  @Test
  void storeOfAnotherUser_thatKnowsNoFlagsOfRenames_getsEverything() throws IOException {
    Path exported = sandbox.folder("exported");
    shell("chown nobody:nogroup %s && chmod 1777 %s".formatted(exported, exported));
    String[] squash = {"bindfs", "-f", "--force-user=nobody", "--force-group=nogroup"};
    List<String> server = new ArrayList<>(List.of(squash));
    server.addAll(List.of("--create-for-user=nobody", "--create-for-group=nogroup"));
    server.addAll(List.of("--chown-deny", "--chgrp-deny", exported.toString(), store.toString()));
    sandbox.start(server.toArray(String[]::new));
    Await.until(DEADLINE, "the store", () -> !MountTable.below(store).isEmpty());
    mount("--fsync", "node").mustSucceed();
    shell("chmod 1777 " + directory);

    as(1234, "umask 077; mkdir d && echo one >d/file && mv d step-1 && mv --no-clobber step-1 e")
        .mustSucceed();
    Child.Result exchange = as(1234, EXCHANGE.formatted("e", "other"));

    assertThat(exchange.err()).as("%s", exchange).contains("Invalid argument");
    ControlSocket.awaitDurable(name, DEADLINE);
    assertThat(exported.resolve("e/file")).hasContent("one");
    assertThat(Files.getAttribute(exported.resolve("e/file"), "unix:uid")).isEqualTo(65534);
    assertThat(Files.getAttribute(directory.resolve("e/file"), "unix:uid")).isEqualTo(1234);
    sandbox.holdfast("umount", directory.toString()).mustSucceed();
    shell("umount " + store);
  }

  private void shell(String script) {
    sandbox.command("sh", "-ec", script).mustSucceed();
  }

  private Child.Result as(int user, String script) {
    return sandbox.command(
        "setpriv",
        "--reuid=" + user,
        "--regid=" + user,
        "--clear-groups",
        "sh",
        "-c",
        "cd %s && %s".formatted(directory, script));
  }

  @Test
  void users_haveTheirFiles_andNobodyElseReadsThem() throws IOException {
    Files.setPosixFilePermissions(store, PosixFilePermissions.fromString("rwx--x--x"));
    Files.setAttribute(store, "unix:gid", 1234);
    mount("--fsync", "node").mustSucceed();
    assertThat(Files.getPosixFilePermissions(directory))
        .as("the mount's root has the store's mode")
        .isEqualTo(PosixFilePermissions.fromString("rwx--x--x"));
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
    Files.setAttribute(directory, "unix:mode", 01777);

    as(1234, "umask 077; mkdir run; echo weights >run/step-1; cp /bin/true tool; chmod 4755 tool")
        .mustSucceed();

    assertThat(as(4321, "cat run/step-1").exit()).isNotZero();
    assertThat(as(4321, "mv run mine").exit()).isNotZero();
    assertThat(as(4321, "cat %s/tree/run/step-1".formatted(front)).exit()).isNotZero();
    assertThat(as(4321, "echo x >.holdfast-checkpoint").exit()).isNotZero();
    assertThat(as(1234, "cat run/step-1").mustSucceed().out()).isEqualTo("weights\n");
    ControlSocket.awaitDurable(name, DEADLINE);
    assertThat(Files.getAttribute(store.resolve("run/step-1"), "unix:uid")).isEqualTo(1234);
    assertThat(Files.getAttribute(store.resolve("run"), "unix:mode")).isEqualTo(0040700);
    assertThat(Files.getAttribute(store, "unix:mode")).isEqualTo(0041777);
    assertThat(Files.getAttribute(store.resolve("tool"), "unix:mode"))
        .as("others reach the store without the mount")
        .isEqualTo(0100755);
    sandbox.holdfast("umount", directory.toString()).mustSucceed();

    Files.setAttribute(store, "unix:uid", 1234);
    Files.setPosixFilePermissions(
        store.resolve("tool"), PosixFilePermissions.fromString("rw-------"));
    mount().mustSucceed();
    sandbox.holdfast("umount", directory.toString()).mustSucceed();
    mount().mustSucceed(); // with a front whose root is another user's
    assertThat(Files.getAttribute(directory, "unix:uid")).isEqualTo(1234);
    assertThat(as(4321, "cat tool").exit()).as("what the store denies").isNotZero();
    sandbox.holdfast("umount", directory.toString()).mustSucceed();
  }

  @Test
  void front_thatAnotherUserCouldHavePrepared_isRefused() throws IOException {
    Files.setAttribute(front, "unix:uid", 1234);

    Child.Result result = mount();

    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.err())
        .contains("the front %s belongs to user 1234".formatted(front))
        .hasLineCount(1);
    assertThat(store).isEmptyDirectory();
  }

  @Test
  void frontThatIsFull_hasWritersWait_andNothingIsLost() throws IOException {
    mount("--front-capacity", "64M", "--persist-rate", "40M").mustSucceed();

    byte[][] saved = new byte[30][];
    for (int i = 0; i < saved.length; i++) {
      saved[i] = save("step-" + i, i);
    }

    ControlSocket.awaitDurable(name, DEADLINE);
    for (int i = 0; i < saved.length; i++) {
      assertThat(store.resolve("step-" + i)).has(content(saved[i]));
      assertThat(directory.resolve("step-" + i)).has(content(saved[i]));
    }
    sandbox.holdfast("umount", directory.toString()).mustSucceed();
  }

  /** Each rank of a node may wait: those for whom there was no room got an error at once. */
  @Test
  void manyMayWait_andOthersAreAnsweredMeanwhile_andAdvised() throws Exception {
    mount("--persist-rate", "2M").mustSucceed();
    save("step-1", 1);
    long sequence = ControlSocket.lastOperation(name);
    ExecutorService ranks = Executors.newFixedThreadPool(RANKS);
    try {
      List<Future<?>> waits = new ArrayList<>();
      for (int i = 0; i < RANKS; i++) {
        waits.add(
            ranks.submit(
                () ->
                    Await.until(
                        DEADLINE,
                        "the store has it",
                        () -> ControlSocket.isDurable(name, sequence))));
      }
      while (!ControlSocket.isDurable(name, sequence)) {
        assertThat(ControlSocket.ask(name, "{\"command\":\"stats\"}")).contains("pending_bytes");
      }
      for (Future<?> each : waits) {
        each.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
      }
    } finally {
      ranks.shutdownNow();
    }
    assertAdviceCountsWithWhatWasToldLast();
    sandbox.holdfast("umount", name).mustSucceed();
  }

  /** A user who only looked had the daemon forget it, and so stats and its metrics. */
  private void assertAdviceCountsWithWhatWasToldLast() throws IOException {
    Await.until(
        DEADLINE,
        "the save is measured",
        () -> ((Number) advice().get("interval_seconds")).doubleValue() > 0);

    assertThat(advice("--iteration", "250ms", "--overhead", "2%")).containsEntry("bound", 0.02);

    Map<String, Object> later = advice();
    assertThat(later).containsEntry("bound", 0.02);
    assertThat(((Number) later.get("interval_iterations")).longValue()).isPositive();
  }

  private Map<String, Object> advice(String... options) throws IOException {
    List<String> words = new ArrayList<>(List.of("checkpoint", "advice", "--json"));
    words.addAll(List.of(options));
    words.add(name);
    return JSON.std.mapFrom(sandbox.holdfast(words.toArray(String[]::new)).mustSucceed().out());
  }
}
