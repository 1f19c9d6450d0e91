package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlServer;
import io.holdfast.fs.host.FakeHost;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast order} against a daemon that notes what it is asked. */
class OrderCommandTest {
  @TempDir Path temp;
  private final List<Map<String, Object>> asked = new CopyOnWriteArrayList<>();
  private ControlServer server;
  private CliRun run;
  private int listing;

  private int passes;

  /** Whether the daemon takes lists that are to be planned. */
  private boolean offers;

  /** From this pass on, all names are known. */
  private int knownFromPass = Integer.MAX_VALUE;

  @BeforeEach
  void start() throws IOException {
    temp = temp.toRealPath();
    FakeHost host = new FakeHost(temp.resolve("run"));
    run = new CliRun(host);
    server = ControlServer.start(host.control, "one", Path.of("/mnt/one"), new Commands());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private int ask(String words) {
    return run.run(words.replace("@", temp + "/").split(" ", -1));
  }

  private void write(String name, String content) throws IOException {
    Files.writeString(temp.resolve(name), content, StandardCharsets.UTF_8);
  }

  private List<Object> sent() {
    List<Object> sent = new ArrayList<>();
    asked.forEach(
        request -> {
          if (request.get("paths") instanceof List<?> paths) {
            sent.addAll(paths);
          }
        });
    return sent;
  }

  @Test
  void file_ofPaths_reachesTheDaemonInItsOrder() throws IOException {
    List<String> names = IntStream.range(0, 5000).mapToObj(i -> "train/ü file \"" + i).toList();
    write("list", String.join("\n", names));
    assertThat(ask("order one --job j @list")).as("%s", run.err).isZero();
    assertThat(asked.get(0)).containsEntry("begin", "j").containsEntry("source", "announced");
    assertThat(sent()).isEqualTo(names);
    assertThat(asked.get(asked.size() - 1)).containsEntry("last", true);
    assertThat(asked.stream().filter(each -> Boolean.TRUE.equals(each.get("last")))).hasSize(1);
    assertThat(run.out.toString())
        .isEqualTo(
            "order of 'j' taken: 7 lines, 5 files of the dataset\nno such files: 2, such as 'x'\n");
  }

  /** A program may take minutes before it prints its order, and between its lines. */
  @Test
  void lines_thatComeSlowly_keepTheAnnouncementAlive() {
    int parts = 3;
    InputStream before = System.in;
    System.setIn(
        new InputStream() {
          private int printed;

          @Override
          public int read() {
            if (printed == parts) {
              return -1;
            }
            int kept = keptAlive();
            Await.until("the daemon learns that more will come", () -> keptAlive() > kept);
            return ++printed % 2 == 0 ? '\n' : 'a';
          }

          @Override
          public int read(byte[] bytes, int offset, int length) {
            int next = read();
            bytes[offset] = (byte) next;
            return next < 0 ? -1 : 1;
          }
        });
    try {
      assertThat(ask("order one --job j -")).as("%s", run.err).isZero();
    } finally {
      System.setIn(before);
    }
    assertThat(sent()).containsExactly("a", "a");
    assertThat(asked.get(asked.size() - 1)).containsEntry("last", true);
  }

  private int keptAlive() {
    return (int)
        asked.stream()
            .filter(each -> List.of().equals(each.get("paths")) && each.get("last").equals(false))
            .count();
  }

  @Test
  void paths_ofTheMount_areRelativeToIt() throws IOException {
    write("list", "/mnt/one/a\n./b//c\n\n../d\n/elsewhere\n");
    assertThat(ask("order --job j @list")).as("%s", run.err).isZero();
    assertThat(sent()).containsExactly("a", "b/c", "../d", "/elsewhere");
  }

  @Test
  void daemon_thatIsStillListing_isAskedAgain() throws IOException {
    listing = 3;
    write("list", "a");
    assertThat(ask("order --job j @list")).as("%s", run.err).isZero();
    assertThat(asked.stream().filter(each -> each.containsKey("begin"))).hasSize(4);
  }

  @Test
  void sampler_order_isAnnouncedAsSuch() throws IOException {
    write("list", "a\nb\nc\nd\n");
    assertThat(
            ask(
                "order one --job j --sampler torch --seed 2 --epoch 1 --world 1 --list @list --json"))
        .as("%s", run.err)
        .isZero();
    assertThat(asked.get(0)).containsEntry("source", "sampler");
    assertThat(sent()).containsExactlyInAnyOrder("a", "b", "c", "d");
    assertThat(run.out.toString()).contains("\"lines\" : 7").doesNotContain("\"id\"");
  }

  @Test
  void sampler_epochs_areAnnouncedOneAfterTheOther() throws IOException {
    write("list", "a\nb\nc\nd\n");
    assertThat(ask("order --job j --sampler torch --no-shuffle --epochs 3-5 --list @list"))
        .as("%s", run.err)
        .isZero();
    assertThat(asked.stream().filter(each -> each.containsKey("begin")))
        .extracting(each -> each.get("then"))
        .containsExactly(false, true, true);
    assertThat(sent()).containsExactly("a", "b", "c", "d", "a", "b", "c", "d", "a", "b", "c", "d");
    assertThat(run.out.toString())
        .startsWith("order of 'j' taken: 3 epochs, 21 lines, 15 files of the dataset\n");
  }

  /** A daemon that was not restarted after an update refused the list, and no order was taken. */
  @Test
  void sampler_ofSeveralRanks_toADaemonThatTakesNoList_announcesTheOrder() throws IOException {
    write("list", "a\nb\nc\nd\n");
    String words = "order one --job j --sampler torch --epochs 1-2 --world 2 --rank 0 --list @list";
    assertThat(ask(words)).as("%s", run.err).isZero();
    assertThat(sent()).hasSize(4);
    assertThat(run.out.toString()).contains("the nodes do not plan together", "no such request");
    assertThat(asked).noneMatch(each -> each.containsKey("planned"));

    offers = true;
    assertThat(ask(words)).as("%s", run.err).isZero();
    assertThat(asked.stream().filter(each -> each.containsKey("planned"))).hasSize(1);
  }

  @Test
  void sampler_epochs_ofWhichTheFirstHasAnUnknownName_nameIt() throws IOException {
    write("list", "a\nb\n");
    knownFromPass = 2;
    assertThat(ask("order --job j --sampler torch --no-shuffle --epochs 3-4 --list @list"))
        .as("%s", run.err)
        .isZero();
    assertThat(run.out.toString()).endsWith("no such files: 2, such as 'x'\n");
  }

  @Test
  void then_announcesBehindTheLastOrder() throws IOException {
    write("list", "a");
    assertThat(ask("order --job j --then @list")).as("%s", run.err).isZero();
    assertThat(asked.get(0)).containsEntry("then", true);
  }

  @Test
  void print_announcesNothing() throws IOException {
    write("list", "a\n\nb\nc");
    assertThat(ask("order --sampler torch --no-shuffle --world 2 --rank 1 --list @list --print"))
        .as("%s", run.err)
        .isZero();
    assertThat(run.out.toString()).isEqualTo("b\na\n");
    assertThat(asked).isEmpty();
  }

  /** Behind {@code | head} the command went on to the end of the list, for nobody. */
  @ParameterizedTest
  @ValueSource(strings = {"", " --json"})
  void print_whoseReaderHasGone_ends(String form) throws IOException {
    write("list", "a\n".repeat(100_000));
    ClosedPipe pipe = new ClosedPipe();
    run.output = new PrintWriter(pipe);

    assertThat(ask("order --sampler torch --list @list --print" + form)).isZero();

    assertThat(pipe.writes).isBetween(1, 2);
  }

  private static final class ClosedPipe extends Writer {
    private int writes;

    @Override
    public void write(char[] characters, int offset, int length) throws IOException {
      writes++;
      throw new IOException("Broken pipe");
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  @Test
  void print_json_hasThePaths() throws IOException {
    write("list", "a\n\"b\n");
    assertThat(ask("order --job j --sampler torch --no-shuffle --list @list --print --json"))
        .isZero();
    assertThat(run.out.toString())
        .isEqualTo(
            """
            {
              "job" : "j",
              "source" : "sampler",
              "length" : 2,
              "paths" : [
                "a",
                "\\"b"
              ]
            }
            """);
  }

  @Test
  void clear_forgetsTheOrder() {
    assertThat(ask("order one --job j --clear")).as("%s", run.err).isZero();
    assertThat(asked).containsExactly(Map.of("command", "order", "clear", "j"));
    assertThat(run.out.toString()).isEqualTo("order of 'j' forgotten\n");
  }

  @ParameterizedTest
  @CsvSource({
    "order one @list, --job J is missing",
    "order one --job j, '''one'' cannot be read'",
    "order --job j, FILE is missing",
    "order / --job j, it is a directory: give a file",
    "order --job j @none, there is no such file",
    "order a b --job j --clear, is too much",
    "order --job j --clear --sampler torch, exclude each other",
    "order --print, give --sampler torch",
    "order --sampler jax --list @list --print, '''jax'' is not known'",
    "order --sampler torch --print, --list FILE is missing",
    "order --sampler torch --list - --print, give a file",
    "order --sampler torch --list @empty --print, has no names",
    "order --sampler torch --list @list --rank 1 --print, --world W is missing",
    "order --sampler torch --list @list --world 2 --rank 2 --print, 'the rank must be from 0 to 1 (was 2)'",
    "order --sampler torch --list @list --seed 99999999999999999999 --print, the seed must be",
    "order --sampler torch --list @list --shuffle --no-shuffle --print, exclude each other",
    "order --seed 1 --job j @list, --sampler is missing",
    "order --job j --clear --then, exclude each other",
    "order --sampler torch --list @list --epochs 1-2 --print, is for one pass",
    "order --sampler torch --list @list --epochs 1-2 --epoch 1 --job j, exclude each other",
    "order --sampler torch --list @list --epochs 2-1 --job j, such as 0-9",
    "order --sampler torch --list @list --epochs 0-10000 --job j, such as 0-9",
    "order --sampler torch --list @list --epochs 7 --job j, such as 0-9",
    "order --job j @long, 'line 1 is longer than 4096 bytes'",
  })
  void badInput_isOneLineAndExitCodeTwo(String words, String message) throws IOException {
    write("list", "a\n");
    write("empty", "\n\n");
    write("long", "a".repeat(5000));
    assertThat(ask(words)).as("%s", run.err).isEqualTo(2);
    assertThat(run.err.toString().lines()).hasSize(1).first().asString().contains(message);
  }

  private final class Commands extends FakeCommands {
    @Override
    public Map<String, Object> order(Map<String, Object> request) throws FsException {
      asked.add(request);
      if (request.containsKey("plan")) {
        if (offers) {
          return Map.of("plan", "offered");
        }
        throw new FsException(FsError.NOT_FOUND, "no such request");
      }
      if (request.containsKey("clear")) {
        return Map.of("job", "j", "cleared", true);
      }
      if (listing > 0) {
        listing--;
        return Map.of("listing", true);
      }
      passes += request.containsKey("begin") ? 1 : 0;
      return passes >= knownFromPass
          ? Map.of("id", 3, "job", "j", "lines", 7, "files", 7, "unknown", 0)
          : Map.of("id", 3, "job", "j", "lines", 7, "files", 5, "unknown", 2, "first_unknown", "x");
    }
  }
}
