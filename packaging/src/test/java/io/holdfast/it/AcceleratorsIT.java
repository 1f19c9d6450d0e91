package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code holdfast bench --accelerators} on real mounts. */
@Tag(Sandbox.ANY_BINDING)
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AcceleratorsIT {
  /** Ends it as Ctrl-C does, which shells have their children in the background ignore. */
  private static final int SIGTERM = 15;

  private static final int FILES = 500;
  private static final int SIZE = 20_000;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private static List<Map<?, ?>> rows(Map<String, Object> report) {
    List<Map<?, ?>> rows = new ArrayList<>();
    ((List<?>) report.get("rows")).forEach(row -> rows.add((Map<?, ?>) row));
    return rows;
  }

  private static long number(Map<?, ?> row, String key) {
    return ((Number) row.get(key)).longValue();
  }

  /** Steps take what was read, and the source is read from its disk however often. */
  @Test
  void mountAndSource_bytesAreThoseOfSteps() throws IOException {
    CountedDisk disk = CountedDisk.create(sandbox, "origin", (long) FILES * SIZE, FILES);
    Dataset dataset = Dataset.create(disk.root(), FILES, i -> SIZE);
    disk.seal();
    Mount mount = sandbox.mount(dataset.root());
    String[] command = {
      "bench",
      mount.name(),
      "--accelerators",
      "2",
      "--batch",
      "5",
      "--compute-time",
      "5ms",
      "--workers",
      "2",
      "--time",
      "8s",
      "--seed",
      "3",
      "--json"
    };
    long before = disk.readBytes();
    Map<String, Object> report = JSON.std.mapFrom(sandbox.holdfast(command).mustSucceed().out());
    long fromDisk = disk.readBytes() - before;
    assertThat(report)
        .containsEntry("name", mount.name())
        .containsEntry("workload", "custom")
        .containsEntry("files", FILES)
        .containsEntry("dataset_bytes", FILES * SIZE)
        .containsEntry("complete", true)
        .containsEntry("seed", 3)
        .containsEntry("interrupted", false);
    List<Map<?, ?>> rows = rows(report);
    assertThat(rows.stream().map(row -> String.valueOf(row.get("target"))))
        .containsExactly("mount", "source");
    for (Map<?, ?> row : rows) {
      assertThat(row.get("accelerators")).isEqualTo(2);
      assertThat(((Number) row.get("au")).doubleValue()).isBetween(0.0, 1.0);
      assertThat(number(row, "bytes_per_second")).isPositive();
      long bytes = number(row, "bytes");
      // both had at least as many steps as the one with the fewest
      assertThat(bytes % (5 * SIZE)).isZero();
      assertThat(bytes / (5 * SIZE)).isGreaterThanOrEqualTo(2 * number(row, "steps"));
      // what was read besides: first steps, batches ahead and those in work
      assertThat(number(row, "read_bytes") - bytes).isBetween(0L, 2 * (1 + 1 + 2 * 3) * 5L * SIZE);
    }
    // the mount fetches each file once at most; the source is read again for each
    long fetched = number(rows.get(0), "fetched_bytes");
    assertThat(fetched)
        .isPositive()
        .isLessThanOrEqualTo(mount.settledStats().number("fetches.origin.bytes"))
        .isLessThanOrEqualTo((long) FILES * SIZE);
    assertThat(fromDisk).isGreaterThanOrEqualTo(fetched + number(rows.get(1), "read_bytes"));
    assertThat(mount.isMounted()).isTrue();
  }

  /** First nothing can be measured there, then records, and then until somebody ends it. */
  @Test
  void mountAlone_ofNoFileAndThenOfRecords_isMeasuredAsFarAsItCanBe() throws IOException {
    Path origin = sandbox.tmpfs("origin");
    Mount mount = sandbox.mount(origin, "--metadata-ttl", "1h");
    assertWhatCannotBeMeasuredIsOneLine(mount, origin);

    for (int i = 0; i < 4; i++) {
      Files.write(origin.resolve("f" + i), new byte[1_000_000]);
    }
    mount.refresh();
    sandbox.holdfast("warm", mount.name()).mustSucceed();
    Map<String, Object> report =
        JSON.std.mapFrom(
            sandbox
                .holdfast(
                    "bench",
                    mount.name(),
                    "--accelerators",
                    "1",
                    "--workload",
                    "resnet50",
                    "--record-size",
                    "1000",
                    "--batch",
                    "10",
                    "--compute-time",
                    "1ms",
                    "--time",
                    "6s",
                    "--targets",
                    "mount",
                    "--json")
                .mustSucceed()
                .out());
    assertThat(report).containsEntry("dataset_bytes", 4_000_000).containsEntry("files", 4);
    Map<?, ?> row = rows(report).get(0);
    assertThat(number(row, "bytes")).isEqualTo(number(row, "steps") * 10 * 1000);
    assertThat(number(row, "fetched_bytes")).isZero();
    assertThat(report.get("notes").toString()).contains("1 file left out");
    assertInterruptionPrintsWhatWasMeasured(mount, origin);
  }

  private void assertInterruptionPrintsWhatWasMeasured(Mount mount, Path origin)
      throws IOException {
    Files.write(origin.resolve("f4"), new byte[SIZE]);
    mount.refresh();
    long before = mount.stats().originItems();
    Child bench =
        sandbox.start(
            Sandbox.launcher(),
            "bench",
            mount.name(),
            "--accelerators",
            "1",
            "--batch",
            "1",
            "--compute-time",
            "1ms",
            "--time",
            "1h",
            "--targets",
            "mount",
            "--json");
    // it has begun when the file that nobody has read yet was read
    mount.awaitStats("is read", stats -> stats.originItems() > before);
    bench.signal(SIGTERM);
    Child.Result result = bench.await(Duration.ofMinutes(1));
    assertThat(result.exit()).isEqualTo(128 + SIGTERM);
    Map<String, Object> report = JSON.std.mapFrom(result.out());
    assertThat(report).containsEntry("interrupted", true);
    assertThat(rows(report)).hasSize(1);
  }

  private void assertWhatCannotBeMeasuredIsOneLine(Mount mount, Path origin) throws IOException {
    Child.Result empty =
        sandbox.holdfast(
            "bench",
            mount.name(),
            "--accelerators",
            "1",
            "--workload",
            "retinanet",
            "--time",
            "1m"); // nothing is measured, so it does not take that long
    assertThat(empty.exit()).isEqualTo(1);
    assertThat(empty.out()).isEmpty();
    assertThat(empty.err()).contains("found no file to read");
    Files.write(origin.resolve("small"), new byte[99]);
    mount.refresh();
    Child.Result small =
        sandbox.holdfast(
            "bench", mount.name(), "--accelerators", "1", "--workload", "resnet50", "--time", "1m");
    assertThat(small.exit()).isEqualTo(1);
    assertThat(small.err()).contains("no file is as large as a record of 114660 bytes");
  }
}
