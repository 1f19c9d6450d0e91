package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.Await;
import io.holdfast.fs.FsException;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** analyze against a daemon that has figures and no mount. */
class AnalyzeCommandTest {
  @TempDir Path temp;
  private final List<Map<String, Object>> asked = new CopyOnWriteArrayList<>();
  private Path marker = Path.of("/nonexistent");
  private boolean counted = true;
  private boolean hasJobs = true;
  private long largest = Long.MAX_VALUE;
  private long capacity = 350_000_000L;
  private boolean replaced;
  private String failing = "";
  private long bytes = 1_000_000_000L;
  private ControlServer server;
  private CliRun run;

  @BeforeEach
  void start() throws IOException {
    temp = temp.toRealPath();
    FakeHost host = new FakeHost(temp.resolve("run"));
    run = new CliRun(host);
    marker = temp.resolve("marker");
    server = ControlServer.start(host.control, "one", Path.of("/mnt/one"), new Commands());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  /**
   * The daemon knows of a job as soon as a command has made the marker; the more it is, the more.
   */
  private final class Commands extends FakeCommands {
    @Override
    public Map<String, Object> stats() {
      List<Object> jobs = new ArrayList<>();
      long size = marker.toFile().length();
      boolean ran = Files.exists(marker);
      int epochs = replaced && !ran ? 3 : 1;
      if (hasJobs) {
        jobs.add(job("old", epochs, epochs * 1000L, 0.35));
      }
      if (ran) {
        jobs.add(job("mine", 3, 10 + size, 0.35));
      }
      Map<String, Object> stats = new LinkedHashMap<>();
      stats.put("name", "one");
      stats.put("mounted_at", replaced && ran ? "2026-11-21T11:00:00Z" : "2026-11-21T10:00:00Z");
      stats.put("dataset", Map.of("files", 1000L, "bytes", 1_000_000_000L));
      stats.put("cache", Map.of("capacity_bytes", capacity));
      stats.put("opens", Map.of("counted", counted, "total", 5));
      stats.put("jobs", Map.of("by", "tree", "jobs", jobs));
      stats.put("processes", List.of());
      return stats;
    }

    private Map<String, Object> job(String name, int epochs, long opens, double resident) {
      List<Object> passes = new ArrayList<>();
      for (int i = 1; i <= epochs; i++) {
        double share = i == 1 ? 0 : resident;
        Map<String, Object> pass = new LinkedHashMap<>();
        pass.put("epoch", i);
        pass.put("opens", 1000L);
        pass.put("seconds", 20 * (1 - share));
        pass.put("bytes", bytes);
        pass.put("origin_bytes", (long) (bytes * (1 - share)));
        pass.put("origin_stall_seconds", 60 * (1 - share));
        pass.put("cpu_seconds", 12.0);
        pass.put("reader_cpu_seconds", 12.0);
        pass.put("reader_seconds", 80 * (1 - share));
        pass.put("readers", 4);
        passes.add(pass);
      }
      return new LinkedHashMap<>(Map.of("job", name, "opens", opens, "epochs", passes));
    }

    @Override
    public Map<String, Object> task(Map<String, Object> request) throws FsException {
      asked.add(request);
      if (failing.equals(request.get("begin"))) {
        return Map.of("id", 1, "state", "failed", "error", "it was stopped");
      }
      if ("capacity".equals(request.get("begin"))) {
        capacity = Math.min(largest, Long.parseLong(request.get("size").toString()));
      }
      return Map.of("id", 1, "state", "done", "seconds", 1.0);
    }
  }

  private void assertOneLine(String start) {
    assertThat(run.err.toString()).startsWith("holdfast: " + start).hasLineCount(1);
    assertThat(run.out.toString()).isEmpty();
  }

  private String reading() {
    return "echo >> " + marker;
  }

  @Test
  void job_thatRead_isReported() {
    assertThat(run.run("analyze", "--job", "old")).as("%s", run.err).isZero();
    assertThat(run.out.toString())
        .startsWith("Job old at /mnt/one\n\nepoch  time")
        .contains("It waits for storage: ", "Note: there is no whole epoch after the first");
  }

  @Test
  void command_isRunAndReported() throws IOException {
    assertThat(run.run("analyze", "--json", "one", "--", "sh", "-c", reading()))
        .as("%s", run.err)
        .isZero();
    Map<String, Object> report = JSON.std.mapFrom(run.out.toString());
    assertThat(report.get("job")).isEqualTo("mine");
    assertThat((List<?>) report.get("epochs")).hasSize(3);
    assertThat(marker).exists();
  }

  /** Words of the command are its own, whatever they look like. */
  @Test
  void command_hasItsOwnOptions() throws IOException {
    Path words = temp.resolve("words");
    String script = "printf '%s,' \"$@\" > " + words + "; " + reading();
    assertThat(
            run.run("analyze", "--", "sh", "-c", script, "sh", "--json", "--", "-h", "@" + words))
        .as("%s", run.err)
        .isZero();
    assertThat(words).hasContent("--json,--,-h,@" + words + ",");
    assertThat(run.out.toString()).startsWith("Job mine");
  }

  @ParameterizedTest
  @CsvSource({"exit 7, 7", "kill -9 $$, 137", "kill -TERM $$, 143"})
  void command_thatFails_isReportedAndHasItsExitCode(String end, int exit) {
    assertThat(run.run("analyze", "--", "sh", "-c", reading() + "; " + end)).isEqualTo(exit);
    assertThat(run.out.toString()).startsWith("Job mine").contains("storage");
  }

  @Test
  void command_thatReadsNothing_isToldInOneLine() {
    assertThat(run.run("analyze", "--", "true")).isEqualTo(1);
    assertOneLine("'true' has read nothing from /mnt/one: check which paths it reads");
    assertThat(run.run("analyze", "--", "sh", "-c", "exit 5")).isEqualTo(5);
  }

  @Test
  void command_thatIsNone_isToldInOneLine() {
    assertThat(run.run("analyze", "--", "no-such-command-at-all")).isEqualTo(127);
    assertOneLine("'no-such-command-at-all' is no command: check its name, or give its path");
    run.err.getBuffer().setLength(0);
    assertThat(run.run("analyze", "--", temp.toString())).isEqualTo(126);
    assertOneLine("'" + temp + "' cannot be run: make it executable, or name its interpreter");
  }

  @Test
  void countingOff_isToldBeforeAnythingRuns() {
    counted = false;
    assertThat(run.run("analyze", "--", "sh", "-c", reading())).isEqualTo(1);
    assertOneLine("opens are not counted at /mnt/one, so that epochs cannot be told: mount it");
    assertThat(marker).doesNotExist();
  }

  /** A job that finds all in memory leaves no trace then: the user was told to start one. */
  @Test
  void countingOff_isToldWhereNoJobIsSeen() {
    counted = false;
    hasJobs = false;
    assertThat(run.run("analyze")).isEqualTo(1);
    assertOneLine("opens are not counted at /mnt/one, so that epochs cannot be told: mount it");
  }

  /** The next daemon counts epochs from 1, and the job had "read nothing" in its time. */
  @Test
  void command_whoseDaemonIsReplaced_isReportedFromTheNextOnesFigures() {
    replaced = true;
    assertThat(run.run("analyze", "--job", "old", "--", "sh", "-c", reading()))
        .as("%s", run.err)
        .isZero();
    assertThat(run.out.toString())
        .startsWith("Job old")
        .contains(
            "Note: the daemon began anew while the command ran: what the command read before is not"
                + " counted.");
  }

  @Test
  void unknownJob_isTold() {
    assertThat(run.run("analyze", "--job", "new")).isEqualTo(1);
    assertOneLine("--job 'new' is not known: there are old; 'holdfast stats --jobs' shows all");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "--plot x.gif; --plot 'x.gif' is no picture's name: end it with .png or .svg",
        "--plot /proc/x.svg; --plot '/proc/x.svg' cannot be written",
        "--plot /nowhere/x.svg; --plot '/nowhere/x.svg' is in a folder that does not exist",
        "--html /proc/x.html; --html '/proc/x.html' cannot be written",
        "--html /proc; --html '/proc' is a directory: give a file",
        "--measure; --measure runs a command: give one behind --",
        "--cold 0.5; --cold runs a command: give one behind --",
        "--cold 0.5 -- true; --cold is for --measure: give it too",
        "--measure --cold 0.99 -- true; --cold '0.99' is not from 0 to 0.95",
        "--measure --cold x -- true; invalid value for option '--cold'",
        "one two; too many arguments: 'two' is not expected; put -- before a command",
        "one --; no command behind --: give one, or leave -- out",
        "--jsno; unknown option '--jsno': did you mean '--json'?"
      })
  void wrongUsage_isToldBeforeAnythingRuns(String words, String message) {
    List<String> all = new ArrayList<>(List.of("analyze"));
    all.addAll(List.of(words.split(" ", -1)));
    assertThat(run.run(all.toArray(String[]::new))).isEqualTo(2);
    assertOneLine(message);
  }

  @Test
  void pictures_areWritten() {
    Path svg = temp.resolve("a.svg");
    Path html = temp.resolve("a.html");
    assertThat(run.run("analyze", "--job", "old", "--plot", svg + "", "--html", html + ""))
        .as("%s", run.err)
        .isZero();
    assertThat(svg).content().startsWith("<?xml");
    assertThat(html).content().startsWith("<!DOCTYPE html>");
  }

  @Test
  void measure_runsTwiceMoreAndRestoresTheCapacity() throws IOException {
    assertThat(run.run("analyze", "--measure", "--cold", "0.1", "--", "sh", "-c", reading()))
        .as("%s", run.err)
        .isZero();
    assertThat(Files.readString(marker)).hasSize(3);
    List<Object> sizes =
        asked.stream()
            .filter(request -> "capacity".equals(request.get("begin")))
            .map(request -> request.get("size"))
            .toList();
    assertThat(sizes).hasSize(3);
    assertThat(Long.parseLong(sizes.get(0).toString())).isGreaterThan(1_000_000_000L);
    assertThat(Long.parseLong(sizes.get(1).toString())).isBetween(100_000_000L, 110_000_000L);
    assertThat(sizes.get(2)).isEqualTo("350000000");
    assertThat(asked.stream().map(request -> request.get("begin"))).contains("warm");
    assertThat(run.atExit).as("nothing is left to do at the end").isEmpty();
  }

  /** The run "with little" got more than the first one had. */
  @Test
  void measure_whoseFirstRunHadLessThanTheColdOne_hasThatOne() throws IOException {
    assertThat(run.run("analyze", "--measure", "--cold", "0.5", "--", "sh", "-c", reading()))
        .as("%s", run.err)
        .isZero();
    assertThat(Files.readString(marker)).hasSize(2);
    assertThat(asked).filteredOn(each -> "capacity".equals(each.get("begin"))).hasSize(2);
    assertThat(run.out.toString())
        .contains("Note: the first run is the cold one: it had as little in memory.");
  }

  @Test
  void measure_withoutRoomForAll_hasWhatThereIs() {
    largest = 700_000_000;
    assertThat(run.run("analyze", "--measure", "--", "sh", "-c", reading()))
        .as("%s", run.err)
        .isZero();
    assertThat(asked.get(0)).containsEntry("up_to", true);
    assertThat(run.out.toString())
        .contains("Note: the warm run had 668 MiB of memory, and not the 958 MiB that")
        .contains("--memory leaves no more.");
    assertThat(asked.get(asked.size() - 1)).containsEntry("size", "350000000");
  }

  /** The first run may have taken hours. */
  @Test
  void measure_whoseWarmRunCannotBe_reportsTheOthers() throws IOException {
    failing = "warm";
    assertThat(run.run("analyze", "--measure", "--cold", "0.1", "--", "sh", "-c", reading()))
        .as("%s", run.err)
        .isZero();
    assertThat(Files.readString(marker)).hasSize(2);
    assertThat(run.out.toString())
        .startsWith("Job mine")
        .contains("Note: the warm run does not count: ")
        .contains("it was stopped")
        .as("the origin's rate is not known")
        .doesNotContain("All readers together");
    assertThat(capacity).isEqualTo(350_000_000L);
  }

  @Test
  void measure_whoseCapacityCannotBeRestored_reportsAndFails() {
    failing = "capacity";
    assertThat(run.run("analyze", "--measure", "--", "sh", "-c", reading())).isEqualTo(1);
    assertThat(run.out.toString())
        .startsWith("Job mine")
        .contains("Note: the capacity was 334 MiB and could not be restored: ");
  }

  @Test
  void command_whoseJobHasAnotherName_isToldWithItsExitCode() {
    assertThat(run.run("analyze", "--job", "old", "--", "sh", "-c", reading() + "; exit 7"))
        .isEqualTo(7);
    assertOneLine("--job 'old' is not known: there are mine; 'holdfast stats --jobs' shows all");
  }

  /** A script took a training that had failed for a report that could not be made. */
  @Test
  void command_thatFails_andWhoseDaemonHasEnded_hasItsExitCode() {
    new Thread(
            () -> {
              Await.until("the command runs", () -> Files.exists(marker));
              server.close();
            })
        .start();
    String script = reading() + "; sleep 1; exit 7";
    assertThat(run.run("analyze", "--", "sh", "-c", script)).isEqualTo(7);
    assertOneLine("the daemon of 'one' (pid ");
  }

  /** The folder went, or its disk was full, while the command ran: the report was lost with it. */
  @Test
  void report_whosePictureCannotBeWritten_isPrintedAllTheSame() throws IOException {
    Path folder = Files.createDirectory(temp.resolve("plots"));
    String script = reading() + "; rmdir " + folder;
    assertThat(run.run("analyze", "--plot", folder + "/a.svg", "--", "sh", "-c", script))
        .isEqualTo(1);
    assertThat(run.out.toString()).startsWith("Job mine");
    assertThat(run.err.toString())
        .startsWith("holdfast: the plot '" + folder + "/a.svg' cannot be written: ")
        .hasLineCount(1);
  }

  @Test
  void command_whoseJobHasThatName_isReported() {
    assertThat(run.run("analyze", "--job", "min", "--", "sh", "-c", reading()))
        .as("%s", run.err)
        .isZero();
    assertThat(run.out.toString()).startsWith("Job mine");
  }

  /** It ended with an internal error, when it had been run twice. */
  @Test
  void measure_ofACommandThatReadsNoBytes_isGivenUp() throws IOException {
    bytes = 0;
    assertThat(run.run("analyze", "--measure", "--", "sh", "-c", reading()))
        .as("%s", run.err)
        .isZero();
    assertThat(Files.readString(marker)).hasSize(1);
    assertThat(run.out.toString()).contains("because it opened files without bytes");
    assertThat(asked).isEmpty();
  }

  @Test
  void measure_ofACommandThatFails_isGivenUp() throws IOException {
    assertThat(run.run("analyze", "--measure", "--", "sh", "-c", reading() + "; exit 3"))
        .isEqualTo(3);
    assertThat(Files.readString(marker)).hasSize(1);
    assertThat(run.out.toString()).contains("Note: it was not run again, because it failed.");
    assertThat(asked).isEmpty();
  }
}
