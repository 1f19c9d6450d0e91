package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code holdfast simulate} as it is delivered. */
@Tag(Sandbox.ANY_BINDING)
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SimulateIT {
  @RegisterExtension static final Sandbox SANDBOX = new Sandbox();

  private static final String EXAMPLE =
      "simulate --files 2000 --size 105000 --capacity 35%,65% --policy minio,lru --epochs 4"
          + " --order shuffle --seed 1 --nodes 1 --jobs 1 --json";

  @Test
  void example_ofTheDocumentation_givesExactHits() throws IOException {
    Child.Result result = SANDBOX.holdfast(EXAMPLE.split(" ")).mustSucceed();

    assertThat(result.err()).isEmpty();
    List<?> runs = (List<?>) JSON.std.mapFrom(result.out()).get("runs");
    assertThat(runs).hasSize(4);
    assertHits((Map<?, ?>) runs.get(0), "minio", 0.35);
    assertHits((Map<?, ?>) runs.get(1), "minio", 0.65);
    assertThat(((Map<?, ?>) runs.get(2)).get("policy")).isEqualTo("lru");
  }

  private static void assertHits(Map<?, ?> run, String policy, double hitRatio) {
    assertThat(run.get("policy")).isEqualTo(policy);
    assertThat(((Number) run.get("capacity")).longValue())
        .isEqualTo(Math.round(hitRatio * 2000) * 106_496);
    List<?> epochs = (List<?>) run.get("epochs");
    assertThat(epochs).hasSize(4);
    for (Object each : epochs) {
      Map<?, ?> epoch = (Map<?, ?>) each;
      boolean first = epoch.get("epoch").equals(1);
      assertThat(epoch.get("hit_ratio")).isEqualTo(first ? 0.0 : hitRatio);
      assertThat(epoch.get("byte_hit_ratio")).isEqualTo(first ? 0.0 : hitRatio);
      assertThat(((Map<?, ?>) epoch.get("bytes")).keySet().toString())
          .isEqualTo("[memory, peer, origin]");
    }
  }

  /** The launcher's options for it: both compilers, no screen. */
  @Test
  void plot_ofADirectory_isDrawnWithoutAScreen() throws IOException {
    Path data = SANDBOX.folder("data");
    for (int file = 0; file < 50; file++) {
      Files.write(data.resolve("f" + file), new byte[5000]);
    }
    Path plot = SANDBOX.root().resolve("plot.svg");
    Path home = SANDBOX.folder("home");
    // $HOME is nothing to Java; what the launcher says comes after this, and wins
    String elsewhere = "-Duser.home=" + home;

    Child.Result result =
        SANDBOX
            .run(
                Map.of("DISPLAY", ":99", "JAVA_TOOL_OPTIONS", elsewhere),
                List.of(Sandbox.launcher(), "simulate", data.toString(), "--plot", plot.toString()))
            .mustSucceed();

    assertThat(result.out()).startsWith("50 items, 244 KiB (400 KiB in whole pages)");
    assertThat(result.err()).isEqualTo("Picked up JAVA_TOOL_OPTIONS: " + elsewhere + "\n");
    assertThat(plot).content().contains("minio: 5% ");
    assertThat(home).as("Java's cache of fonts").isEmptyDirectory();
  }

  /** Ten million items at the size of heap that is given by itself. */
  @Test
  void items_tenMillion_fit() {
    Child.Result result =
        SANDBOX
            .holdfast(
                "simulate",
                "--files",
                "10000000",
                "--size",
                "lognormal:100K",
                "--policy",
                "minio",
                "--capacity",
                "50%",
                "--epochs",
                "1")
            .mustSucceed();

    assertThat(result.out()).contains("10 M items");
  }
}
