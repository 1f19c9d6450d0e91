package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Mounts that join the node's budget. They are in a mount namespace of their own, with a file of
 * the node and a control directory that no other mount of this machine knows.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
@Order(1)
class NodeBudgetIT {
  private static final long MIB = 1 << 20;
  private static final int FILE_BYTES = 100_000;
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  /** Copies of other tests' mounts would outlive these. */
  private static final String NAMESPACE =
      """
      set -e
      while read -r _ at type _; do
        case $type in fuse.holdfast*) umount -i -l -- "$at" ;; esac
      done </proc/mounts
      mkdir -p /run/holdfast
      mount --bind "$1/etc" /etc
      mount --bind "$1/run" /run/holdfast
      echo open
      exec sleep infinity
      """;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private final List<Path> mountpoints = new ArrayList<>();
  private Path run = Path.of("/nonexistent");
  private Path nodeFile = Path.of("/nonexistent");
  private List<String> inside = List.of();
  private Path origin = Path.of("/nonexistent");

  @BeforeEach
  void open() throws IOException {
    Path etc = sandbox.folder("etc");
    sandbox.command("cp", "-a", "/etc/.", etc.toString()).mustSucceed();
    run = sandbox.folder("run");
    nodeFile = Files.createDirectories(etc.resolve("holdfast")).resolve("node.yaml");
    origin = Dataset.create(sandbox.folder("origin"), 10, i -> FILE_BYTES).root();
    String root = sandbox.root().toString();
    Child namespace =
        sandbox.start(
            "unshare", "--mount", "--propagation", "private", "sh", "-c", NAMESPACE, "sh", root);
    assertThat(namespace.awaitLine(1, DEADLINE)).isEqualTo("open");
    inside = List.of("nsenter", "--mount=/proc/" + namespace.pid() + "/ns/mnt", "--");
  }

  /** Nobody else can: the sandbox does not know of these mounts. */
  @AfterEach
  void endAll() {
    daemons().forEach(row -> Posix.kill(row.pid(), Posix.SIGTERM));
    Await.until(DEADLINE, "no daemon is left", () -> daemons().isEmpty());
  }

  private List<ProcessTable.Row> daemons() {
    String served = " serve /run/holdfast/" + sandbox.id() + "-";
    return ProcessTable.marked(sandbox.id()).stream()
        .filter(row -> row.commandLine().contains(served))
        .toList();
  }

  private void budget(String memory) throws IOException {
    Files.writeString(nodeFile, "memory: " + memory + "\n");
  }

  private List<String> inside(String... words) {
    return Stream.concat(inside.stream(), Arrays.stream(words)).toList();
  }

  private Child.Result holdfast(String... words) {
    return sandbox.run(
        Map.of(),
        inside(
            Stream.concat(Stream.of(Sandbox.launcher()), Stream.of(words)).toArray(String[]::new)));
  }

  private String name(String mount) {
    return sandbox.id() + "-" + mount;
  }

  private List<String> command(String mount, String source, String... options) {
    Path mountpoint = sandbox.folder("mnt-" + mount);
    mountpoints.add(mountpoint);
    List<String> words =
        new ArrayList<>(
            inside(
                Sandbox.launcher(),
                "mount",
                "--name",
                name(mount),
                "--binding",
                System.getProperty("holdfast.binding"),
                "--state-dir",
                "none",
                "--log-file",
                sandbox.root().resolve(mount + ".log").toString()));
    words.addAll(List.of(options));
    words.add(source);
    words.add(mountpoint.toString());
    return words;
  }

  private Child.Result mount(String mount, String... options) {
    return sandbox.run(Map.of(), command(mount, origin.toString(), options));
  }

  private Stats stats(String mount) {
    return ControlSocket.stats(run.resolve(name(mount) + ".sock"));
  }

  private long capacity(String mount) {
    return stats(mount).number("cache.capacity_bytes");
  }

  private List<Path> reservations() {
    try (Stream<Path> files = Files.list(run)) {
      return files.filter(file -> file.toString().endsWith(".reserved")).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void mountsWithoutCapacity_shareTheBudget_whichARestartKeepsAndUmountGivesBack()
      throws IOException {
    budget("160M");
    origin = large();

    Child.Result first = mount("a").mustSucceed();

    String of = " of the node's budget of 160 MiB (/etc/holdfast/node.yaml)\n";
    assertThat(first.err()).isEqualTo("holdfast: '%s' has 160 MiB%s".formatted(name("a"), of));
    assertThat(capacity("a")).isEqualTo(160 * MIB);
    assertThat(holdfast("config", name("a")).out())
        .containsPattern("capacity +160M +node budget \\(/etc/holdfast/node.yaml\\)\n");
    assertThat(holdfast("stats", name("a")).out()).contains(", a part of the node's budget\n");
    holdfast("warm", name("a")).mustSucceed();
    assertThat(stats("a").residentBytes()).isGreaterThan(140 * MIB);

    Child.Result second = mount("b").mustSucceed();

    assertThat(second.err())
        .startsWith(
            "holdfast: %s has 80.0 MiB in place of 160 MiB\n".formatted(name("a"))
                + "holdfast: '%s' has 80.0 MiB%s".formatted(name("b"), of));
    assertThat(capacity("a")).isEqualTo(80 * MIB);
    assertThat(stats("a").residentBytes()).isLessThanOrEqualTo(80 * MIB);
    assertThat(capacity("b")).isEqualTo(80 * MIB);
    assertThat(stats("a").at("cache.capacity_of_node_budget")).isEqualTo(true);
    assertThat(holdfast("doctor").out())
        .containsPattern(
            "160 MiB of the node's budget of 160 MiB are promised, of these 160 MiB to mounts that"
                + " have joined it: %s, %s".formatted(name("a"), name("b")));
    assertThat(reservations()).isEmpty();
    assertRestartKeepsThePart();

    holdfast("umount", mountpoints.get(0).toString()).mustSucceed();

    assertThat(capacity("b")).as("nobody is given what has become free").isEqualTo(80 * MIB);
    assertThat(mount("c").mustSucceed().err()).doesNotContain("in place of");
    assertThat(capacity("c")).isEqualTo(80 * MIB);
    assertThat(capacity("b")).isEqualTo(80 * MIB);
  }

  /** Returns a dataset of 143 MiB without content: nobody looks at its bytes. */
  private Path large() throws IOException {
    Path folder = sandbox.folder("large");
    for (int i = 0; i < 150; i++) {
      try (RandomAccessFile file =
          new RandomAccessFile(folder.resolve("file-" + i).toFile(), "rw")) {
        file.setLength(1_000_000);
      }
    }
    return folder;
  }

  /** Also after others have joined. */
  private void assertRestartKeepsThePart() {
    Child.Result restarted = holdfast("restart", name("a"));

    if (System.getProperty("holdfast.binding").equals("kernel")) {
      restarted.mustSucceed();
    } else {
      assertThat(restarted.exit()).isEqualTo(1);
    }
    assertThat(capacity("a")).isEqualTo(80 * MIB);
    assertThat(stats("a").at("cache.capacity_of_node_budget")).isEqualTo(true);
    assertThat(capacity("b")).isEqualTo(80 * MIB);
  }

  @Test
  void capacityOfItsOwn_isKept_andWhatIsLeftIsShared() throws IOException {
    budget("240M");
    mount("own", "--capacity", "100M").mustSucceed();
    mount("a").mustSucceed();
    assertThat(capacity("a")).isEqualTo(140 * MIB);
    mount("b").mustSucceed();
    assertThat(capacity("b")).isEqualTo(70 * MIB);

    Child.Result full = mount("c");

    assertThat(full.exit()).isEqualTo(1);
    Leftovers.assertOneLine(
        full, "has no room for '%s', which needs 64.0 MiB".formatted(name("c")));
    assertThat(full.err()).contains(name("own") + " 100 MiB", "or give --capacity");
    assertThat(List.of(capacity("own"), capacity("a"), capacity("b")))
        .containsExactly(100 * MIB, 70 * MIB, 70 * MIB);

    Child.Result small = mount("c", "--capacity", "8M").mustSucceed();

    assertThat(small.err()).contains("has 66.0 MiB in place of 70.0 MiB").doesNotContain("budget");
    assertThat(List.of(capacity("own"), capacity("a"), capacity("b")))
        .containsExactly(100 * MIB, 66 * MIB, 66 * MIB);

    Child.Result large = mount("d", "--capacity", "32M").mustSucceed();

    assertThat(large.err())
        .contains("the mounts have 272 MiB together, more than the node's budget of 240 MiB")
        .doesNotContain("in place of");
    assertThat(capacity("a")).isEqualTo(66 * MIB);
    assertThat(reservations()).isEmpty();

    holdfast("capacity", name("a"), "80M").mustSucceed();
    assertThat(stats("a").at("cache.capacity_of_node_budget")).isEqualTo(false);
  }

  @Test
  void mountsThatBeginAtTheSameMoment_shareTheBudget() throws IOException {
    budget("300M");
    List<Child> children = new ArrayList<>();
    for (String mount : List.of("a", "b")) {
      children.add(sandbox.start(Map.of(), command(mount, origin.toString())));
    }
    Child foreground = sandbox.start(Map.of(), command("c", origin.toString(), "--foreground"));

    children.forEach(child -> child.await(Sandbox.COMMAND_DEADLINE).mustSucceed());
    Await.until(
        Sandbox.COMMAND_DEADLINE,
        "the mount in the foreground " + foreground,
        () -> ControlSocket.answers(run.resolve(name("c") + ".sock")));

    for (String mount : List.of("a", "b", "c")) {
      assertThat(capacity(mount)).as(mount).isEqualTo(100 * MIB);
    }
    assertThat(reservations()).isEmpty();
  }

  private void assertMountThatFailsLeavesNoReservation() throws IOException {
    String nobody = "http://127.0.0.1:" + Sandbox.freePort();

    Child.Result failed =
        sandbox.run(
            Map.of(), command("a", "s3://bucket/x", "--s3-anonymous", "--s3-endpoint", nobody));

    assertThat(failed.exit()).as("%s", failed).isEqualTo(1);
    assertThat(reservations()).isEmpty();
  }

  /** The command waits for a store that takes connections and never answers. */
  @Test
  void reservation_endsWithItsProcess() throws IOException {
    budget("200M");
    assertMountThatFailsLeavesNoReservation();
    try (ServerSocket store = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Child mount =
          sandbox.start(
              Map.of(),
              command(
                  "a",
                  "s3://bucket/x",
                  "--s3-anonymous",
                  "--s3-endpoint",
                  "http://127.0.0.1:" + store.getLocalPort()));
      store.accept();
      assertThat(reservations()).hasSize(1);
      assertThat(mount("own", "--capacity", "50M").mustSucceed().err())
          .contains("the mounts have 250 MiB together, more than the node's budget of 200 MiB");
      holdfast("umount", sandbox.root().resolve("mnt-own").toString()).mustSucceed();

      mount.kill();
      mount.await(DEADLINE);
      ProcessTable.marked(sandbox.id()).stream()
          .filter(row -> row.commandLine().contains(name("a")))
          .forEach(row -> Posix.kill(row.pid(), Posix.SIGKILL));

      assertThat(reservations()).as("its file is still there").hasSize(1);
      mount("b").mustSucceed();
      assertThat(capacity("b")).isEqualTo(200 * MIB);
      assertThat(reservations()).isEmpty();
    }
  }
}
