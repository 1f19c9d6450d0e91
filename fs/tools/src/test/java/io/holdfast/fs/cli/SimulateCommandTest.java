package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.Sandbox;
import io.holdfast.fs.host.FakeHost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast simulate}, from words to figures. */
class SimulateCommandTest {
  @TempDir Path temp;
  private CliRun run;

  @BeforeEach
  void prepare() {
    run = new CliRun(new FakeHost(temp.resolve("run")));
  }

  private String simulate(String words) {
    int exit = run.run(("simulate " + words).replace("@", temp.toString()).split(" ", -1));
    assertThat(run.err.toString()).isEmpty();
    assertThat(exit).isZero();
    return run.out.toString();
  }

  @ParameterizedTest
  @ValueSource(strings = {"105000", "lognormal:105000"})
  void example_ofTheDocumentation_givesExactHits(String size) throws IOException {
    String json =
        simulate(
            "--files 2000 --size "
                + size
                + " --capacity 35%,65% --policy minio,lru --epochs 4 --order shuffle --seed 1"
                + " --nodes 1 --jobs 1 --json");
    List<?> runs = (List<?>) JSON.std.mapFrom(json).get("runs");
    assertThat(runs).hasSize(4);
    assertThat(((Map<?, ?>) runs.get(3)).get("policy")).isEqualTo("lru");
    for (int i = 0; i < 2; i++) {
      double share = i == 0 ? 0.35 : 0.65;
      List<?> epochs = (List<?>) ((Map<?, ?>) runs.get(i)).get("epochs");
      assertThat(epochs).hasSize(4);
      String key = size.startsWith("l") ? "byte_hit_ratio" : "hit_ratio";
      double hits = (double) ((Map<?, ?>) epochs.get(1)).get(key);
      if (size.startsWith("l")) {
        assertThat(hits).isBetween(share - 0.01, share + 0.01);
      } else {
        assertThat(hits).isEqualTo(share);
      }
    }
  }

  @Test
  void defaults_areThreePoliciesAtFourCapacities() {
    assertThat(simulate("--files 100 --size 4K --csv").lines()).hasSize(1 + 3 * 4 * 4);
    assertThat(run.out.toString())
        .contains("\nminio,102400,0.25,1,1,shuffle,1,", "\nlinux,266240,0.65,1,1,shuffle,4,");
  }

  @Test
  void directory_isReadWithItsSizes() throws IOException {
    Path data = Files.createDirectories(temp.resolve("data/sub"));
    Files.write(data.resolve("a"), new byte[5000]);
    Files.write(data.resolve("b"), new byte[1]);
    assertThat(simulate("@/data --capacity 50% --policy minio"))
        .startsWith(
            "2 items, 4.88 KiB (12.0 KiB in whole pages); shuffle, 4 epochs, 1 job, 1 node\n");
  }

  /** A path that is longer than the system takes. */
  @Test
  void directory_withWhatCannotBeRead_isSimulatedWithANote() throws Exception {
    try (Sandbox sandbox = Sandbox.create()) {
      Files.write(sandbox.path("a"), new byte[5000]);
      String deep =
          "n=$(printf %0250d 0); i=0; while [ $i -lt 20 ]; do mkdir $n && cd -P $n; i=$((i+1));"
              + " done";
      assertThat(
              new ProcessBuilder("sh", "-c", deep)
                  .directory(sandbox.root().toFile())
                  .start()
                  .waitFor())
          .isZero();

      assertThat(run.run("simulate", sandbox.root().toString(), "--capacity", "50%")).isZero();

      assertThat(run.out.toString()).startsWith("1 item, 4.88 KiB ");
      assertThat(run.err.toString())
          .startsWith("holdfast: left out '0000")
          .endsWith("0', which cannot be read\n")
          .hasLineCount(1);
    }
  }

  @Test
  void trace_bringsOrderAndEpochs() throws IOException {
    Files.writeString(temp.resolve("trace"), "a\t5000\nb\t4096\n# epoch\na\nb\na\n");
    assertThat(simulate("--trace @/trace --policy unbounded --capacity 50% --csv"))
        .contains(",recorded,1,0.0,", ",recorded,2,1.0,1.0,14096,0,0\n");
  }

  @Test
  void trace_ofNumbers_needsFiles() throws IOException {
    Files.writeString(temp.resolve("trace"), "0\n4\n# epoch\n4\n");
    assertThat(simulate("--files 5 --size 4K --trace @/trace --policy minio --capacity 100% --csv"))
        .contains(",recorded,1,0.0,0.0,0,0,8192\n", ",recorded,2,1.0,1.0,4096,0,0\n");
  }

  @Test
  void nodes_withPeers_readEachItemOnceFromTheOrigin() {
    assertThat(
            simulate(
                "--files 1000 --size 4K --nodes 4 --capacity 30% --policy minio --csv --epochs 2"))
        .contains(",4,1,shuffle,1,0.0,0.0,0,0,4096000\n")
        .containsPattern(",4,1,shuffle,2,0\\.2\\d*,0\\.2\\d*,\\d+,\\d+,0\n");
  }

  @Test
  void nodes_thatKnowTheOrders_areComparedByWhatTheyMove() {
    assertThat(simulate("--files 1000 --size 4K --nodes 4 --capacity 35% --order known --epochs 3"))
        .contains(
            "byte hit ratio   memory     peers    origin  pushed\n",
            "capacity       policy  memory  peers  origin  moved\n",
            "1.37 MiB        minio   0.2",
            "1.37 MiB       belady   0.",
            "1.37 MiB  cooperative   0.");
    assertThat(simulate("--files 100 --size 4K --nodes 2 --order known --csv"))
        .contains("origin_bytes,pushed_bytes\n", "\ncooperative,102400,0.25,2,1,known,4,");
    assertThat(simulate("--files 100 --size 4K --nodes 2 --order known --json"))
        .contains("\"pushed\" : 0");
  }

  @Test
  void jobs_withASharedOrder_shareFetches() {
    assertThat(
            simulate(
                "--files 100 --size 4K --jobs 8 --shared-order --capacity 35% --policy minio --csv"
                    + " --epochs 2"))
        .contains(",1,8,shuffle,1,0.875,", ",266240\n");
  }

  @Test
  void rates_addTimes() {
    assertThat(
            simulate(
                "--files 100 --size 4K --policy minio --capacity 50% --origin-rate 100K"
                    + " --memory-rate 10M --demand 150K"))
        .contains("  time  ", "speed\n", "With minio, capacity beyond 135 KiB");
  }

  @Test
  void plot_isDrawn() {
    Path file = temp.resolve("plot.svg");
    simulate("--files 50 --size 4K --policy minio,lru --capacity 50% --plot @/plot.svg");
    assertThat(file).content().contains("minio: 5% ", "lru: 5% ");
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = " => ",
      quoteCharacter = '`',
      value = {
        "`` => nothing to simulate: give a DIRECTORY, --files with --size, or a --trace",
        "--files 10 => --files and --size need each other",
        "--size 10 => nothing to simulate",
        "--size 10 @/data => --files and --size need each other",
        "--files 10 --size 1K @/data => DIRECTORY and --files exclude each other",
        "--files 0 --size 1K => --files '0' does not do: give a whole number from 1",
        "--files 1.5 --size 1K => --files '1.5' does not do",
        "--files 10 --size 0 => --size '0' is too small: a file has at least 1 byte",
        "--files 10 --size 9223372036854775808 => --size '9223372036854775808' is more than any",
        "--files 10 --size 7E => the dataset has more than 2,147,483,639 items",
        "--files 10 --size 1K --item-size 3M => --item-size '3M' is not possible: choose 1M, 2M",
        "--files 10 --size 1K --policy lur => --policy 'lur' is not known: choose of minio,",
        "--files 10 --size 1K --policy minio, => --policy '' is not known",
        "--files 10 --size 1K --capacity 0 => --capacity '0' is no capacity",
        "--files 10 --size 1K --capacity 35%, => --capacity '' is not a size",
        "--files 10 --size 1K --capacity 3x% => --capacity '3x%' is not a percentage",
        "--files 10 --size 1K --capacity 135% => --capacity '135%' is more than the whole",
        "--files 10 --size 1K --capacity 1% => --capacity '1%' of so small a dataset is nothing",
        "--files 10 --size 1K --nodes 11 => there are more nodes than items: give --nodes 10",
        "--files 10 --size 1K --nodes 0 => --nodes '0' does not do",
        "--files 10 --size 1K --coordination some => --coordination 'some' is not known",
        "--files 10 --size 1K --order windw => --order 'windw' is not known: choose one of",
        "--files 10 --size 1K --order known:2 => --order 'known:2' is not known: choose one of",
        "--files 10 --size 1K --order known => --order known is for several nodes: give --nodes 2",
        "--files 10 --size 1K --order known --nodes 2 --coordination none"
            + " => --order known is for nodes that are peers: leave --coordination out",
        "--files 10 --size 1K --order known --nodes 2 --coordination shards"
            + " => --order known is for nodes that are peers: leave --coordination out",
        "--files 10 --size 1K --order known --nodes 2 --jobs 2"
            + " => --order known is for one job: leave --jobs out",
        "--files 10 --size 1K --order known --nodes 2 --shared-order"
            + " => --order known is for one job: leave --shared-order out",
        "--files 10 --size 1K --order known --nodes 11 => there are more nodes than items",
        "--files 10 --size 1K --nodes 2 --coordination known => --coordination 'known' is not known",
        "--files 10 --size 1K --nodes 2 --policy cooperative"
            + " => --policy cooperative needs nodes that know the orders: give --order known",
        "--files 10 --size 1K --order known --nodes 2 --demand 5M --origin-rate 1M --memory-rate 1G"
            + " => --network-rate is needed with several nodes",
        "--files 10 --size 1K --epochs 0 => --epochs '0' does not do",
        "--files 10 --size 1K --jobs -1 => --jobs '-1' does not do",
        "--files 10 --size 1K --seed x => --seed 'x' does not do",
        "--files 10 --size 1K --json --csv => --json and --csv exclude each other",
        "--files 10 --size 1K --plot x.gif => --plot 'x.gif' is no picture's name",
        "--files 10 --size 1K --plot @/none/x.png => --plot '@/none/x.png' is in a folder that",
        "--files 10 --size 1K --demand 5M => --origin-rate, --memory-rate and --demand need",
        "--files 10 --size 1K --network-rate 5M => --origin-rate, --memory-rate and --demand need",
        "--files 10 --size 1K --demand 0 => --demand 0 is no rate",
        "--files 10 --size 1K --demand much => --demand 'much' is not a size",
        "--files 9 --size 1K --nodes 2 --demand 5M --origin-rate 1M --memory-rate 1G"
            + " => --network-rate is needed with several nodes",
        "--files 10 --size 1K --size 2K => --size is given more than once",
        "--files 10 --size 1K --jsn => unknown option '--jsn': did you mean '--json'?",
        "@/none => '@/none' does not exist",
        "@/trace => '@/trace' is not a directory",
        "@/data => '@/data' has no files with bytes in them",
        "--trace @/none => the trace '@/none' does not exist",
        "--trace @/trace => the trace '@/trace', line 3: 'b' is unknown",
        "--trace @/trace --order shuffle => a --trace has its own order and epochs: leave --order",
        "--trace @/trace --order known --nodes 2 => a --trace has its own order and epochs: leave",
        "--trace @/trace --epochs 3 => a --trace has its own order and epochs: leave --epochs out",
        "--trace @/trace --files 3 --size 1K => the trace '@/trace', line 1: 'a|5' is no item",
        "--trace @/trace @/full => the trace '@/trace', line 2: 'a' is no file of the directory"
      })
  void mistakes_areToldInOneLine(String words, String message) throws IOException {
    Files.createDirectory(temp.resolve("data"));
    Path full = Files.createDirectory(temp.resolve("full"));
    Files.writeString(full.resolve("a\t5"), "x");
    Files.writeString(temp.resolve("trace"), "a\t5\na\nb\n");
    List<Path> before = files();
    String[] arguments = ("simulate " + words).strip().replace("@", temp.toString()).split(" ", -1);

    assertThat(run.run(arguments)).isEqualTo(2);

    assertThat(run.err.toString())
        .startsWith("holdfast: " + message.replace("@", temp.toString()).replace("a|5", "a\\t5"))
        .hasLineCount(1);
    assertThat(run.out.toString()).isEmpty();
    assertThat(files()).isEqualTo(before);
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.walk(temp)) {
      return files.sorted().toList();
    }
  }
}
