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
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Orders of a job that reads one file after the other, of a store that takes its time, where no
 * file may stay in memory.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
class OrderIT {
  @RegisterExtension
  @Order(1)
  static final Bucket bucket = new Bucket();

  private static final String PREFIX = "ordered";
  private static final int FILES = 500;
  private static final int FILE_BYTES = 20_000;
  private static final Duration SLOW = Duration.ofMillis(20);

  @RegisterExtension
  @Order(2)
  final Sandbox sandbox = new Sandbox();

  private final long seed = System.nanoTime();

  @Test
  void job_withItsOrder_findsFilesThere_andFetchesNoneTwice() throws IOException {
    Dataset dataset = dataset();
    Mount mount = mount();
    MemoryCgroup group = MemoryCgroup.create(sandbox, "ordered");
    List<String> names = shuffled(dataset);
    String job = jobOf(mount, group, names.get(0));

    String taken =
        sandbox
            .holdfast("order", mount.name(), "--job", job, list("order", names))
            .mustSucceed()
            .out();
    read(mount, group, names);

    assertThat(taken).contains("500 lines, 500 files of the dataset");
    Stats order = mount.stats().list("orders").get(0);
    assertThat(order.at("job")).isEqualTo(job);
    assertThat(order.at("source")).isEqualTo("announced");
    assertThat(order.number("length")).isEqualTo(FILES);
    assertThat(order.number("position")).as("seed %d", seed).isEqualTo(FILES);
    assertThat(order.number("used_items")).isGreaterThan(FILES / 4);
    assertThat(order.number("surprises")).isZero();
    assertThat(mount.stats().originItems()).isBetween((long) FILES, FILES + 1L);
  }

  @Test
  void job_withAWrongOrder_fetchesAtMostFivePercentMore() throws IOException {
    Dataset dataset = dataset();
    Mount mount = mount();
    MemoryCgroup group = MemoryCgroup.create(sandbox, "wrong");
    List<String> names = shuffled(dataset);
    List<String> reversed = new ArrayList<>(names);
    Collections.reverse(reversed);
    reversed.add("none");
    String job = jobOf(mount, group, names.get(0));

    String taken =
        sandbox
            .holdfast("order", mount.name(), "--job", job, list("order", reversed))
            .mustSucceed()
            .out();
    read(mount, group, names);

    assertThat(taken).contains("no such files: 1, such as 'none'");
    assertThat(mount.stats().originItems())
        .as("seed %d", seed)
        .isBetween((long) FILES, FILES * 105L / 100);
    sandbox.holdfast("order", mount.name(), "--job", job, "--clear").mustSucceed();
    assertThat(mount.stats().list("orders")).isEmpty();
  }

  /** The job reads a list, as a validation does, and then the same list again. */
  @Test
  void job_thatReadsTheSameListAgain_findsFilesThere_andFetchesNoneTwice() throws IOException {
    Dataset dataset = dataset();
    Mount mount = mount("--orders", "learn");
    MemoryCgroup group = MemoryCgroup.create(sandbox, "again");
    List<String> names = shuffled(dataset);
    mount.awaitStats("the scan's end", s -> Boolean.TRUE.equals(s.at("dataset.scanned")));

    cat(mount, group, names);
    mount.awaitStats("all opens", s -> s.number("opens.total") >= FILES);
    assertThat(mount.stats().list("orders")).as("read once").isEmpty();
    mount.awaitStats("what was read is dropped", s -> s.number("transit.window_bytes") == 0);
    read(mount, group, names, 2 * FILES);

    Stats order = mount.stats().list("orders").get(0);
    assertThat(order.at("source")).as("seed %d", seed).isEqualTo("learned");
    assertThat(order.at("job")).asString().endsWith(group.name());
    assertThat(order.number("used_items")).isGreaterThan(FILES / 4);
    assertThat(order.number("surprises")).isZero();
    assertThat(mount.stats().originItems())
        .as("seed %d", seed)
        .isBetween(2L * FILES, 2L * FILES + FILES / 20);
  }

  private Dataset dataset() {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), FILES, i -> FILE_BYTES);
    bucket.putAll(PREFIX, dataset);
    return dataset;
  }

  private Mount mount(String... more) {
    List<String> options = new ArrayList<>(List.of("--capacity", "64M", "--policy", "none"));
    options.addAll(List.of(more));
    return bucket.mount(sandbox, PREFIX, options.toArray(String[]::new));
  }

  private List<String> shuffled(Dataset dataset) {
    List<String> names = new ArrayList<>(dataset.files());
    Collections.shuffle(names, new Random(seed));
    return names;
  }

  private String list(String name, List<String> lines) throws IOException {
    Path list = sandbox.root().resolve(name);
    Files.write(list, lines);
    return list.toString();
  }

  private void read(Mount mount, MemoryCgroup group, List<String> names) {
    read(mount, group, names, FILES + 1);
  }

  /**
   * Reads all files, where each takes the store a while; {@code opens} are those since the mount.
   */
  private void read(Mount mount, MemoryCgroup group, List<String> names, long opens) {
    bucket.proxy().delay(SLOW);
    cat(mount, group, names);
    bucket.proxy().delay(Duration.ZERO);
    mount.awaitStats("all opens", s -> s.number("opens.total") >= opens);
  }

  private void cat(Mount mount, MemoryCgroup group, List<String> names) {
    List<String> command = new ArrayList<>(group.enter());
    command.add("cat");
    names.forEach(name -> command.add(mount.path(name).toString()));
    sandbox.run(Map.of(), command).mustSucceed();
  }

  /** Returns the name of the group's job, once the job has opened a file. */
  private String jobOf(Mount mount, MemoryCgroup group, String file) {
    mount.awaitStats("the scan's end", s -> Boolean.TRUE.equals(s.at("dataset.scanned")));
    List<String> command = new ArrayList<>(group.enter());
    command.addAll(List.of("cat", mount.path(file).toString()));
    sandbox.run(Map.of(), command).mustSucceed();
    Stats stats = mount.awaitStats("an open", s -> s.number("opens.total") >= 1);
    return stats.list("jobs.jobs").stream()
        .map(each -> String.valueOf(each.at("job")))
        .filter(name -> name.endsWith(group.name()))
        .findFirst()
        .orElseThrow();
  }
}
