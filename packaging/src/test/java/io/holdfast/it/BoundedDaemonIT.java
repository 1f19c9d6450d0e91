package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Checks that the daemon's resources do not grow with the number of lookups. {@code holdfast.files}
 * and {@code holdfast.rounds} are the number of files, and of lookups of each.
 */
class BoundedDaemonIT {
  private static final int FILES = Integer.getInteger("holdfast.files", 100_000);
  private static final int ROUNDS = Integer.getInteger("holdfast.rounds", 5);
  private static final int MOST_BYTES_A_FILE = 150;
  private static final Duration LONG = Duration.ofMinutes(10);

  @RegisterExtension final Sandbox sandbox = new Sandbox();

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
      long before = mount.stats().requests("BATCH_FORGET");
      mount.forgetNames();
      mount.awaitStats("names forgotten", stats -> stats.requests("BATCH_FORGET") > before);
      lookAtAll(mount);
    }
    long heapInTheEnd = heap(mount);
    long nodesInTheEnd = Long.parseLong(du(mount.state().resolve("nodes")));
    System.out.printf(
        "after %d rounds of forgetting and looking: %d bytes of heap, %d bytes of nodes more%n",
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
