package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Jobs that read one order, one after the other began, of a store that takes its time. Nothing may
 * stay in memory but what is kept for the jobs that come later. One test after the other: how slow
 * the store is, is the same for all.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.SAME_THREAD)
class ConvoyIT {
  @RegisterExtension
  @Order(1)
  static final Bucket bucket = new Bucket();

  private static final int FILES = 500;
  private static final int FILE_BYTES = 20_000;
  private static final Duration SLOW = Duration.ofMillis(10);
  private static final int KILL = 9;
  private static final String PREFIX = "ordered";

  /** The objects that all tests read. */
  private static Dataset dataset;

  @RegisterExtension
  @Order(2)
  final Sandbox sandbox = new Sandbox();

  private final long seed = System.nanoTime();

  @BeforeAll
  static void fill(@TempDir Path folder) {
    dataset = Dataset.create(folder, FILES, i -> FILE_BYTES);
    bucket.putAll(PREFIX, dataset);
  }

  /**
   * One begins late, and one is killed: still hardly a file is fetched twice, and no memory is
   * left.
   */
  @Test
  void jobsOfOneAnnouncedOrder_fetchEachFileOnce() throws IOException {
    Mount mount = mount("--convoy", "32M");
    List<String> names = shuffled();
    Path list = sandbox.root().resolve("order");
    Files.write(list, names);
    mount.awaitStats("the scan's end", s -> Boolean.TRUE.equals(s.at("dataset.scanned")));
    for (String job : List.of("a", "b", "c")) {
      sandbox.holdfast("order", mount.name(), "--job", job, list.toString()).mustSucceed();
    }
    bucket.proxy().delay(SLOW);

    Child first = cat(mount, "a", names);
    mount.awaitStats("the first is under way", s -> s.number("opens.total") >= 60);
    Child second = cat(mount, "b", names);
    mount.awaitStats("the second is, too", s -> s.number("opens.total") >= 150);
    Stats convoy = mount.stats().list("convoys").get(0);
    second.signal(KILL);
    mount.awaitStats("the first is far", s -> s.number("opens.total") >= 250);
    Child third = cat(mount, "c", names);

    first.await(Duration.ofMinutes(3)).mustSucceed();
    third.await(Duration.ofMinutes(3)).mustSucceed();
    bucket.proxy().delay(Duration.ZERO);
    assertThat(convoy.at("job")).isEqualTo("a");
    assertThat(convoy.number("jobs")).isEqualTo(3);
    assertThat(convoy.number("gap_bytes")).isBetween(1L, 32L << 20);
    assertThat(convoy.number("budget_bytes")).isEqualTo(32L << 20);
    assertThat(mount.stats().originItems())
        .as("at most 2 %% more, seed %d", seed)
        .isBetween((long) FILES, FILES + FILES / 50L);
    mount.awaitStats("nobody wants anything", s -> s.list("convoys").isEmpty());
    mount.awaitStats("no memory is left", s -> s.number("transit.used_bytes") == 0);
  }

  /** Nobody announces anything: the second is found by what it opens. */
  @Test
  void jobsOfOneOrder_areFound_andWithoutConvoysEachFetchesAll() throws IOException {
    List<String> names = shuffled();
    long without = fetchesOfTwo(mount(), names);
    long with = fetchesOfTwo(mount("--convoy", "32M"), names);

    assertThat(without).as("seed %d", seed).isGreaterThan(FILES * 17L / 10);
    assertThat(with).as("seed %d", seed).isBetween((long) FILES, FILES * 13L / 10);
  }

  /** Returns how many files are fetched for two jobs, of which one begins fifty files later. */
  private long fetchesOfTwo(Mount mount, List<String> names) {
    mount.awaitStats("the scan's end", s -> Boolean.TRUE.equals(s.at("dataset.scanned")));
    bucket.proxy().delay(SLOW);
    Child first = cat(mount, "a", names);
    mount.awaitStats("the first is under way", s -> s.number("opens.total") >= 50);
    Child second = cat(mount, "b", names);
    first.await(Duration.ofMinutes(3)).mustSucceed();
    second.await(Duration.ofMinutes(3)).mustSucceed();
    bucket.proxy().delay(Duration.ZERO);
    return mount.stats().originItems();
  }

  private Mount mount(String... more) {
    List<String> options =
        new ArrayList<>(
            List.of(
                "--capacity", "64M", "--policy", "none", "--window", "0", "--job-by", "env:JOB"));
    options.addAll(List.of(more));
    return bucket.mount(sandbox, PREFIX, options.toArray(String[]::new));
  }

  private List<String> shuffled() {
    List<String> names = new ArrayList<>(dataset.files());
    Collections.shuffle(names, new Random(seed));
    return names;
  }

  /**
   * Starts a job that reads files once the daemon knows its name, which it learns from the
   * process's environment a little after the first open.
   */
  private Child cat(Mount mount, String job, List<String> names) {
    // it opens its first file again and again: who opens nothing for 2 s has stopped
    String script =
        "until exec 3<\"$0\"; read -r -t 0.2 go; s=$?; [ $s -le 128 ]; do :; done;"
            + " [ $s = 0 ] || exit 1; exec 3<&-; exec cat \"$@\"";
    List<String> command = new ArrayList<>(List.of("bash", "-c", script));
    command.add(mount.path(names.get(0)).toString());
    names.forEach(name -> command.add(mount.path(name).toString()));
    Child child = sandbox.start(Map.of("JOB", job), command);
    mount.awaitStats(
        "the job is known",
        s -> s.list("jobs.jobs").stream().anyMatch(each -> job.equals(each.at("job"))));
    child.tell("go");
    return child;
  }
}
