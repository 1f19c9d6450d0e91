package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.control.ControlServer;
import io.holdfast.fs.host.FakeHost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** warm, pin, unpin, drop and capacity against a daemon that notes what it is asked. */
class TaskCommandsTest {
  @TempDir Path temp;
  private final List<Map<String, Object>> asked = new CopyOnWriteArrayList<>();
  private final Map<String, Object> figures = new LinkedHashMap<>();
  private ControlServer server;
  private CliRun run;

  @BeforeEach
  void start() throws IOException {
    temp = temp.toRealPath();
    FakeHost host = new FakeHost(temp.resolve("run"));
    run = new CliRun(host);
    server = ControlServer.start(host.control, "one", Path.of("/mnt/one"), new Commands());
    figures.putAll(Map.of("id", 7, "state", "done", "seconds", 2.0, "files", 3, "bytes", 3000));
    figures.put("fetched", Map.of("files", 2, "items", 2, "bytes", 2000));
    figures.put("resident", Map.of("files", 1, "items", 1, "bytes", 1000));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private int ask(String words) {
    return run.run(words.split(" ", -1));
  }

  private Object first(String key) {
    return asked.get(0).get(key);
  }

  @ParameterizedTest
  @CsvSource({
    "warm, ''",
    "warm one, ''",
    "warm /mnt/one, ''",
    "warm train/a, train/a",
    "warm one train//a/ ./b, 'train/a,b'",
    "warm /mnt/one/train, train",
    "pin one /mnt/one/val, val",
    "unpin one val, val",
    "drop /mnt/one/../one/val, val"
  })
  void words_ofAMountAndPaths_reachTheDaemonAsPathsInTheDataset(String words, String paths) {
    assertThat(ask(words)).as("%s", run.err).isZero();
    assertThat(first("begin")).isEqualTo(words.split(" ", -1)[0]);
    assertThat(first("paths")).isEqualTo(paths.isEmpty() ? List.of() : List.of(paths.split(",")));
    assertThat(first("last")).isEqualTo(true);
  }

  @Test
  void warm_options_reachTheDaemon() {
    assertThat(ask("warm --glob *.a --glob b/ --order name --threads 3 --background")).isZero();
    assertThat(asked.get(0))
        .containsEntry("globs", List.of("*.a", "b/"))
        .containsEntry("order", "name")
        .containsEntry("threads", 3)
        .containsEntry("background", true);
    assertThat(asked).as("it is not followed").hasSize(1);
  }

  @Test
  void warm_done_saysWhatBecameOfFiles() {
    figures.put("unfit", Map.of("files", 4, "items", 4, "bytes", 4000));
    assertThat(ask("warm")).isZero();
    assertThat(run.out.toString())
        .isEqualTo(
            """
            fetched   2 files, 1.95 KiB in 2.0 s (0.98 KiB/s)
            were there   1 file, 0.98 KiB
            do not fit   4 files, 3.91 KiB
            """);
  }

  @Test
  void warm_someFailed_isToldWithTheirNames() {
    figures.put("failed", Map.of("files", 1, "items", 1, "bytes", 10));
    figures.put("failures", List.of("a: no route to host"));
    assertThat(ask("warm")).isEqualTo(1);
    assertThat(run.err.toString()).isEqualTo("holdfast: a: no route to host\n");
  }

  @Test
  void warm_longList_isSentInPartsInItsOrder() throws IOException {
    List<String> names = IntStream.range(0, 3000).mapToObj(i -> "train/ü file " + i).toList();
    Path list = Files.write(temp.resolve("list"), names);
    assertThat(ask("warm --list " + list)).as("%s", run.err).isZero();
    List<Object> sent = new ArrayList<>();
    asked.forEach(
        request -> {
          if (request.get("paths") instanceof List<?> paths) {
            sent.addAll(paths);
          }
        });
    assertThat(sent).isEqualTo(names);
    assertThat(first("order")).isEqualTo("list");
    assertThat(first("last")).isEqualTo(false);
    assertThat(asked.stream().filter(request -> Boolean.TRUE.equals(request.get("last"))))
        .hasSize(1);
  }

  @Test
  void check_someMissing_namesThemAndExitsWithOne() throws IOException {
    figures.put("missing", Map.of("files", 2, "items", 2, "bytes", 2000));
    assertThat(ask("warm --check")).isEqualTo(1);
    assertThat(run.out.toString()).startsWith("3 files, 0.98 KiB of 2.93 KiB (33 %) resident\n");
    assertThat(ask("warm --check --json")).isEqualTo(1);
    assertThat(run.out.toString()).contains("\"missing_paths\" : [ \"a\", \"b\" ]");
  }

  @Test
  void failed_task_isToldInOneLine() {
    figures.put("state", "failed");
    figures.put("error", "there is no 'x' in the dataset");
    assertThat(ask("warm x")).isEqualTo(1);
    assertThat(run.err.toString()).isEqualTo("holdfast: there is no 'x' in the dataset\n");
  }

  @ParameterizedTest
  @CsvSource({
    "failed, there is no 'x' in the dataset",
    "stopped, stopped; run it again to go on: what is in memory is skipped"
  })
  void background_taskThatIsOverAtOnce_isToldInOneLine(String state, String why) {
    figures.put("state", state);
    figures.put("error", "there is no 'x' in the dataset");
    assertThat(ask("warm x --background")).isEqualTo(1);
    assertThat(run.out.toString()).isEmpty();
    assertThat(run.err.toString()).isEqualTo("holdfast: " + why + "\n");
  }

  @Test
  void interrupted_command_stopsTheTask() {
    figures.put("state", "running");
    run.pauses = 2;
    assertThat(ask("drop --all")).isEqualTo(1);
    assertThat(asked).anyMatch(request -> Boolean.TRUE.equals(request.get("stop")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "warm /etc                  | 1 | '/etc' is neither a running Holdfast mount nor below one",
        "warm one /etc/passwd       | 2 | PATH '/etc/passwd' is not below /mnt/one",
        "warm one ../etc            | 2 | PATH '../etc' leads out of the mount",
        "warm --list /no/such       | 2 | --list '/no/such' cannot be read: there is no such file",
        "warm --list /dev/null      | 2 | --list '/dev/null' has no names",
        "warm --list /dev/null a    | 2 | --list and PATH exclude each other",
        "warm --order up            | 2 | --order 'up' is not known: choose one of name, list,"
            + " random",
        "warm --threads 257         | 2 | --threads 257 is not possible",
        "warm --check --background  | 2 | --check and --background exclude each other",
        "warm --glob /a             | 2 | --glob '/a': write a name, or a path",
        "unpin                      | 2 | name what is to be unpinned, or give --all",
        "unpin a --all              | 2 | name what is to be unpinned, or give --all",
        "drop                       | 2 | name what is to be dropped, or give --all",
        "capacity 0                 | 2 | a capacity of '0' must be greater than 0",
        "capacity one 101%          | 2 | '101%' is more than the whole",
        "capacity one many          | 2 | 'many' is not a size",
        "capacity two               | 1 | 'two' is no running Holdfast mount",
        "capacity one 1G 2          | 2 | too many arguments"
      })
  void wrong_words_failInOneLineBeforeAnythingIsAsked(String words, int exit, String why) {
    assertThat(ask(words)).isEqualTo(exit);
    assertThat(run.err.toString()).startsWith("holdfast: " + why).hasLineCount(1);
    assertThat(asked).isEmpty();
  }

  @Test
  void capacity_withoutASize_isShown() {
    assertThat(ask("capacity")).isZero();
    assertThat(run.out.toString())
        .isEqualTo("capacity 1.95 KiB, 0.98 KiB resident in 5 items, of these 0 B to stay\n");
    assertThat(asked).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"capacity 96G, 96G", "capacity one 60%, 60%"})
  void capacity_withASize_isChanged(String words, String size) {
    assertThat(ask(words)).isZero();
    assertThat(asked.get(0)).containsEntry("begin", "capacity").containsEntry("size", size);
  }

  @Test
  void capacity_smallerThanWhatIsResident_saysWhatItTakesAway() {
    assertThat(ask("capacity 100")).isZero();
    assertThat(run.out.toString())
        .endsWith("of these 0 B to stay\ngiven up: 0.98 KiB in 5 items\n");
  }

  private final class Commands extends FakeCommands {
    @Override
    public Map<String, Object> stats() {
      boolean smaller = asked.stream().anyMatch(each -> "100".equals(each.get("size")));
      Map<String, Object> before =
          Map.of("capacity_bytes", 2000, "resident_bytes", 1000, "resident_items", 5);
      return Map.of("cache", smaller ? Map.of("capacity_bytes", 100) : before);
    }

    @Override
    public Map<String, Object> task(Map<String, Object> request) {
      asked.add(request);
      Map<String, Object> answer = new LinkedHashMap<>(figures);
      if (Boolean.TRUE.equals(request.get("stop"))) {
        answer.put("state", "stopped");
        figures.put("state", "stopped");
      }
      if (Boolean.FALSE.equals(request.get("last"))) {
        answer.put("state", "names");
      }
      if (request.get("missing_from") instanceof Number from) {
        answer.put("missing_paths", from.intValue() == 0 ? List.of("a", "b") : List.of());
      }
      return answer;
    }
  }
}
