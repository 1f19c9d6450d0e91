package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code packaging/try}, interrupted as by Ctrl-C, leaves nothing. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag(Sandbox.ANY_BINDING)
class TryIT {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final Path TRY = Sandbox.HOME.resolve("../../try").normalize();

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  /** The output before a moment: before the mount, while it mounts, and later. */
  @ParameterizedTest
  @CsvSource({
    "files, 2", // before the mount
    "$ holdfast mount, 2", // while it mounts
    "Epoch 1, 2",
    "$ holdfast stats, 15",
    "$ holdfast umount, 2" // while it unmounts
  })
  void interrupted_atAnyMoment_leavesNothingAndSaysSo(String printed, int signal)
      throws IOException {
    Dataset dataset = Dataset.create(sandbox.folder(sandbox.id() + "-try"), 20, i -> 10_000);
    List<String> before = ownFiles();

    // a shell cannot tell of signals that were ignored when it began, as in the background
    Child run =
        sandbox.start(
            "env", "--default-signal=INT", "setsid", TRY.toString(), dataset.root().toString());
    Await.moment(DEADLINE, printed, () -> run.out().contains(printed) || !run.isAlive());
    Posix.killGroup(run.pid(), signal);

    Child.Result result = run.await(DEADLINE);
    assertThat(result.exit()).as("%s", result).isEqualTo(128 + signal);
    assertThat(result.err())
        .endsWith("Interrupted: nothing is mounted, and all that this made is removed.\n");
    assertThat(MountTable.holdfastAt(dataset.root())).isEmpty();
    assertThat(ownFiles()).isSubsetOf(before);
    assertThat(dataset.root().resolve(dataset.files().get(0))).isNotEmptyFile();
  }

  /** Returns the files that the script makes in the temporary folder. */
  private static List<String> ownFiles() throws IOException {
    try (Stream<Path> entries = Files.list(Path.of("/tmp"))) {
      return entries
          .map(Path::toString)
          .filter(path -> path.matches("/tmp/holdfast-(try|log)[.].*"))
          .toList();
    }
  }
}
