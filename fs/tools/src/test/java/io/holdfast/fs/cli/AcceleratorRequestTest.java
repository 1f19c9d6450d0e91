package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.accelerator.Target;
import io.holdfast.fs.accelerator.Training;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.FakeHost;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The rules of the options of {@code holdfast bench --accelerators}. */
class AcceleratorRequestTest {
  @TempDir Path temp;

  @CommandLine.Command
  private static final class Options {
    @CommandLine.ArgGroup(validate = false)
    AcceleratorRequest.Options given = new AcceleratorRequest.Options();
  }

  private static AcceleratorRequest request(String words) {
    Options options = new Options();
    new CommandLine(options).parseArgs(words.split(" "));
    String accelerators = options.given.accelerators;
    assertThat(accelerators).isNotNull();
    return AcceleratorRequest.of(accelerators == null ? "" : accelerators, options.given);
  }

  @Test
  void workload_hasItsValuesForTheNewestAccelerator() {
    AcceleratorRequest request = request("--accelerators 3 --workload retinanet");
    assertThat(request.training())
        .isEqualTo(new Training("retinanet", "b200", 322_957, 0, 24, 47_550_000, 8, 0.85));
    assertThat(request.fewest()).isEqualTo(3);
    assertThat(request.most()).isEqualTo(3);
    assertThat(request.targets()).containsExactly(Target.MOUNT, Target.SOURCE);
    assertThat(request.seed()).isNull();
  }

  @Test
  void optionsBesides_changeSingleValues() {
    AcceleratorRequest request =
        request(
            "--accelerators 1..16 --workload ResNet50 --accelerator-type A100 --batch 200"
                + " --workers 2 --record-size 100K --targets source-cached,mount --seed -7");
    assertThat(request.training())
        .isEqualTo(new Training("resnet50", "a100", 114_660, 102_400, 200, 435_000_000, 2, 0.9));
    assertThat(request.fewest()).isEqualTo(1);
    assertThat(request.most()).isEqualTo(16);
    assertThat(request.targets()).containsExactly(Target.SOURCE_CACHED, Target.MOUNT);
    assertThat(request.seed()).isEqualTo(-7);
  }

  @ParameterizedTest
  @CsvSource({"47.55ms, 47550000", "0.5, 500000000", "250us, 250000", "2s, 2000000000"})
  void computeTime_isFinerThanAMillisecond(String text, long nanos) {
    assertThat(request("--accelerators 1 --batch 4 --compute-time " + text).training())
        .isEqualTo(new Training("custom", "", 0, 0, 4, nanos, 4, 0.9));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          --accelerators 0 --workload unet3d     | --accelerators '0' is not from 1 to 1024
          --accelerators -1 --workload unet3d    | --accelerators '-1' is no number: give one
          --accelerators many --workload unet3d  | --accelerators 'many' is no number: give one
          --accelerators 8..2 --workload unet3d  | --accelerators '8..2' goes down
          --accelerators 1.. --workload unet3d   | --accelerators '1..' is no number
          --accelerators 500 --workload retinanet | 500 accelerators with 8 readers each are too
          --accelerators 2                       | --accelerators needs a --workload (unet3d, resnet50, cosmoflow, retinanet), or --batch and --compute-time
          --accelerators 2 --batch 4             | --accelerators needs a --workload
          --accelerators 2 --workload bert       | --workload 'bert' is not known: choose one of unet3d, resnet50, cosmoflow, retinanet
          --accelerators 2 --workload unet3d --accelerator-type v100 | --accelerator-type 'v100' is not known: choose one of a100, h100, b200
          --accelerators 2 --workload retinanet --accelerator-type h100 | there is no value of retinanet for h100: choose one of b200, or give --compute-time
          --accelerators 2 --workload unet3d --accelerator-type h100 --compute-time 1s | --accelerator-type and --compute-time exclude each other
          --accelerators 2 --batch 4 --compute-time 1s --accelerator-type h100 | --accelerator-type is for a --workload
          --accelerators 2 --workload unet3d --batch 0 | --batch '0' is not from 1 to
          --accelerators 2 --workload unet3d --workers x | --workers 'x' is not from 1 to 256
          --accelerators 2 --batch 4 --compute-time 0ms | --compute-time '0ms' is not possible
          --accelerators 2 --batch 4 --compute-time 2h | --compute-time '2h' is not a time
          --accelerators 2 --batch 4 --compute-time 3601s | --compute-time '3601s' is not possible
          --accelerators 2 --workload unet3d --record-size 0 | --record-size '0' is too small
          --accelerators 2 --workload unet3d --record-size x | --record-size 'x' is not a size
          --accelerators 2 --workload unet3d --targets disk | --targets 'disk' is not known: choose one of mount, source, source-cached
          --accelerators 2 --workload unet3d --targets mount,mount | --targets 'mount,mount' names one twice
          --accelerators 2 --workload unet3d --seed x | --seed 'x' is not a whole number
          """)
  void optionThatMakesNoSense_isTold(String words, String why) {
    assertThatThrownBy(() -> request(words))
        .isInstanceOfSatisfying(
            CliException.class, e -> assertThat(e.exitCode()).isEqualTo(CliException.USAGE))
        .hasMessageStartingWith(why);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          bench x --workload unet3d         | --workload is for --accelerators: give it too
          bench x --seed 1                  | --seed is for --accelerators: give it too
          bench x --accelerators 1 --workload unet3d --threads 3 | --threads is not for --accelerators: give --workers
          bench x --accelerators 1 --workload unet3d --files 0 | --files '0' is not from 1 to 1000000
          bench x --accelerators 1 --workload unet3d --batch 3 --batch 4 | --batch is given more than once
          """)
  void command_refusesOptionsThatDoNotGoTogether(String words, String why) {
    CliRun run = new CliRun(new FakeHost(temp.resolve("run")));
    assertThat(run.run(words.split(" +"))).isEqualTo(2);
    assertThat(run.err.toString()).startsWith("holdfast: " + why).hasLineCount(1);
  }
}
