package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.docs.ConsoleExamples;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each example of SEMANTICS.md does what it says there. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SemanticsIT {
  private static final Path DOCUMENT = Path.of("docs/SEMANTICS.md");

  /** The first block makes the dataset. */
  private static final int TO_MAKE_IT = 5;

  private static final int LEAST = 25;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  @Test
  void examples_ofTheDocument_printWhatItSays() throws IOException {
    List<ConsoleExamples.Example> all = ConsoleExamples.of(DOCUMENT);
    assertThat(all).hasSizeGreaterThan(LEAST);
    Iterator<ConsoleExamples.Example> examples = all.iterator();
    Path dataset = sandbox.folder("dataset");
    for (int i = 0; i < TO_MAKE_IT; i++) {
      run(examples.next(), dataset, Path.of("/nonexistent"));
    }
    Mount mount = sandbox.mount(dataset);
    examples.forEachRemaining(example -> run(example, dataset, mount.mountpoint()));
  }

  private void run(ConsoleExamples.Example example, Path dataset, Path mountpoint) {
    String command =
        "exec 2>&1; "
            + example
                .command()
                .replace("/mnt/data", mountpoint.toString())
                .replaceAll("(?<![\\w/])/data", dataset.toString());
    String path = Path.of(Sandbox.launcher()).getParent() + ":" + System.getenv("PATH");
    Child.Result result =
        sandbox.run(Map.of("LC_ALL", "C", "PATH", path), List.of("sh", "-c", command));
    String printed =
        result
            .out()
            .replace(mountpoint.toString(), "/mnt/data")
            .replace(dataset.toString(), "/data");
    assertThat(printed).as("%s", example.command()).isEqualTo(example.output());
  }
}
