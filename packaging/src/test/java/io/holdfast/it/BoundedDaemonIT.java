package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Checks that the daemon's resources do not grow with its readers, nor with the number of lookups.
 * {@code holdfast.files} and {@code holdfast.rounds} are the number of files, and of lookups of
 * each.
 */
@Isolated("drops caches")
class BoundedDaemonIT {
  private static final int FILES = Integer.getInteger("holdfast.files", 100_000);
  private static final int ROUNDS = Integer.getInteger("holdfast.rounds", 5);
  private static final int READERS = 1000;
  private static final int MOST_THREADS = 16;
  private static final int MOST_BYTES_A_FILE = 150;
  private static final Duration WAIT = Duration.ofMinutes(1);
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final Duration CALM = Duration.ofMinutes(2);

  /** Threads of the virtual machine itself. */
  private static final Pattern JAVAS =
      Pattern.compile(
          "java|GC .*|G1 .*|VM .*|C[12] Compiler.*|Signal Dispatch.*|Reference Handl.*|Finalizer"
              + "|Common-Cleaner|Sweeper.*|Service Thread|Monitor Deflati.*|Notification T.*"
              + "|Attach Listener|Cleaner-.*|process reaper");

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  /** They wait for one item, whose origin does not answer. */
  @Test
  void thousandReaders_thatWait_needNoMoreThreads() throws IOException {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), 1, i -> 100_000);
    Mount store = sandbox.mount(dataset.root(), "--policy", "none", "--count-opens", "off");
    // nobody probes it, gives it up, or asks it for names meanwhile
    Mount mount =
        sandbox.mount(
            store.mountpoint(), "--capacity=64M", "--source-timeout=10m", "--metadata-ttl=10m");
    for (String file : dataset.files()) {
      assertThat(Files.size(mount.path(file))).isEqualTo(100_000);
    }
    store.freeze();
    Child readers =
        sandbox.start(
            "sh",
            "-c",
            "for i in $(seq %d); do cat \"$1\" & done >/dev/null; wait".formatted(READERS),
            "sh",
            mount.path(dataset.files().get(0)).toString());
    Await.value(WAIT, "all readers waiting", this::waiting, count -> count == READERS);

    // threads for names end when nobody has looked one up for a while
    List<String> threads =
        Await.value(
            CALM, "few threads", () -> ownThreads(mount), names -> names.size() <= MOST_THREADS);

    System.out.printf("%d threads with %d readers waiting: %s%n", threads.size(), READERS, threads);
    store.thaw();
    assertThat(readers.await(LONG).exit()).isZero();
  }

  private long waiting() {
    return ProcessTable.marked(sandbox.id()).stream()
        .filter(row -> row.commandLine().startsWith("cat /"))
        .filter(row -> row.state() == 'D' || row.state() == 'S')
        .count();
  }

  private static List<String> ownThreads(Mount mount) throws IOException {
    try (Stream<Path> tasks = Files.list(Path.of("/proc/" + mount.pid() + "/task"))) {
      List<String> names = new ArrayList<>();
      for (Path task : tasks.toList()) {
        try {
          names.add(Files.readString(task.resolve("comm")).strip());
        } catch (IOException e) {
          // it has ended meanwhile
        }
      }
      names.removeIf(name -> JAVAS.matcher(name).matches());
      return names.stream().sorted().toList();
    }
  }

  @Test
  void filesLookedUp_again_takeLittleMemoryAndNoMore() throws IOException {
    Path origin = sandbox.tmpfs("origin");
    for (int i = 0; i < FILES; i++) {
      Path directory = origin.resolve("train/class_%04d".formatted(i / 1000));
      if (i % 1000 == 0) {
        Files.createDirectories(directory);
      }
      Files.createFile(directory.resolve("n%08d_%05d.JPEG".formatted(i / 1000, i)));
    }
    Mount mount = sandbox.mount(origin, "--capacity", "64M");
    mount.awaitStats("the dataset counted", stats -> stats.number("dataset.files") == FILES);
    long heapBefore = heap(mount);

    lookAtAll(mount);
    long heapAfter = heap(mount);
    long nodes = Long.parseLong(du(mount.state().resolve("nodes")));
    double each = (double) (heapAfter - heapBefore + nodes) / FILES;
    System.out.printf(
        "%d files looked up: %d bytes of heap more, %d bytes of nodes, %.1f a file%n",
        FILES, heapAfter - heapBefore, nodes, each);
    assertThat(each).isLessThanOrEqualTo(MOST_BYTES_A_FILE);

    for (int round = 0; round < ROUNDS; round++) {
      Machine.dropCaches(2);
      lookAtAll(mount);
    }
    long heapInTheEnd = heap(mount);
    long nodesInTheEnd = Long.parseLong(du(mount.state().resolve("nodes")));
    System.out.printf(
        "after %d rounds of dropping and looking: %d bytes of heap, %d bytes of nodes more%n",
        ROUNDS, heapInTheEnd - heapAfter, nodesInTheEnd - nodes);
    assertThat(nodesInTheEnd).isEqualTo(nodes);
    assertThat(heapInTheEnd - heapAfter).isLessThan(4L << 20);
  }

  private void lookAtAll(Mount mount) {
    String count =
        run("sh", "-c", "find \"$1\" -type f -printf '%s\\n' | wc -l", "sh", mount.mountpoint());
    assertThat(Integer.parseInt(count.strip())).isEqualTo(FILES);
  }

  private String du(Path file) {
    return run("du", "--block-size=1", file.toString()).split("\t", 2)[0];
  }

  /** Bytes of heap in use after a collection. */
  private long heap(Mount mount) {
    String pid = Long.toString(mount.pid());
    run("jcmd", pid, "GC.run");
    Matcher used =
        Pattern.compile("(?:new generation|tenured generation) +total \\d+K, used (\\d+)K")
            .matcher(run("jcmd", pid, "GC.heap_info"));
    long sum = 0;
    while (used.find()) {
      sum += Long.parseLong(used.group(1)) << 10;
    }
    assertThat(sum).isPositive();
    return sum;
  }

  private String run(Object... command) {
    Child child = sandbox.start(Stream.of(command).map(Object::toString).toArray(String[]::new));
    Child.Result result = child.await(LONG);
    return result.mustSucceed().out();
  }
}
