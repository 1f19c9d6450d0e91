package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The commands that show the activity and the speed of a mount. */
class TopIT {
  private static final int FILES = 40;
  private static final long SIZE = 10_000;
  private static final long LARGE = 9L << 20;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private Path dataset() throws IOException {
    Path root = sandbox.tmpfs("origin");
    for (int i = 0; i < FILES; i++) {
      Files.write(root.resolve("f" + i), new byte[(int) SIZE]);
    }
    Files.write(root.resolve("large"), new byte[(int) LARGE]);
    return root;
  }

  @Test
  void topWatchAndBench_showWhatWasRead_andCompareItWithTheSourceBelowTheMount()
      throws IOException {
    Path origin = dataset();
    Mount mount = sandbox.mountAt(origin, origin);
    for (int i = 0; i < FILES / 2; i++) {
      Files.readAllBytes(mount.path("f" + i));
    }
    mount.awaitStats("half is resident", stats -> stats.residentItems() >= FILES / 2);
    String text =
        sandbox
            .holdfast("top", mount.name(), "--batch", "-n", "2", "--interval", "0.2")
            .mustSucceed()
            .out();
    assertThat(text.lines().filter(line -> line.startsWith(mount.name()))).hasSize(2);
    assertThat(text).contains("\nTIER ", "\nJOB ", "\nCOMMAND ");
    Map<String, Object> look =
        JSON.std.mapFrom(
            sandbox.holdfast("top", mount.name(), "--json", "-n", "1").mustSucceed().out());
    assertThat(look.get("processes").toString()).contains("opens=" + FILES / 2 + ",");
    List<String> rows =
        sandbox
            .holdfast("stats", mount.name(), "--watch", "--count", "2", "--interval", "0.2")
            .mustSucceed()
            .out()
            .lines()
            .toList();
    assertThat(rows).hasSize(3);
    assertThat(rows.get(0)).contains("stall %").doesNotContain("\u001b");
    String out =
        sandbox.holdfast("bench", mount.name(), "--time", "3s", "--json").mustSucceed().out();
    Map<String, Object> report = JSON.std.mapFrom(out);
    assertThat(report.get("failures")).isEqualTo(0);
    assertThat(report.get("rows").toString())
        .contains("what=small files, resident", "what=small files, not resident")
        .doesNotContain("mount=null", "origin_cold=null");
  }
}
