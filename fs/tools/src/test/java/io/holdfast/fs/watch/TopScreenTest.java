package io.holdfast.fs.watch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.StringLength;
import org.jline.utils.AttributedString;
import org.junit.jupiter.api.Test;

class TopScreenTest {
  private static final TopState FIRST = TopState.first(1000);

  private static Change busy(String longJob) {
    Snapshot before = new Looks().look();
    Snapshot after =
        new Looks()
            .at(2)
            .opens(400, 80)
            .fetched(20, 200_000, 60, 6_000_000)
            .stalled(1.2)
            .job("/quiet", 100, 0, 0, 0)
            .job(longJob, 300, 80, 6_200_000, 1.2)
            .process(71, "/quiet", 100, 0, 0)
            .process(72, longJob, 300, 80, 1.2)
            .peer("node2:7070", "suspect", 200_000)
            .look();
    return new Change(before, after);
  }

  private static List<String> lines(Change change, TopState state, int width, int height) {
    return TopScreen.lines(new TopScreen.Content(change, state, ""), width, height).stream()
        .map(AttributedString::toString)
        .map(String::stripTrailing)
        .toList();
  }

  @Test
  void wideScreen_showsEverythingOfJobs() {
    assertThat(lines(busy("/slurm/job_7"), FIRST, 140, 40))
        .containsExactly(
            "data-set at /data/set, up 1 min 42 s, last 2.00 s, by stalled",
            "dataset   95.4 MiB in 1,000 files, policy minio, planned hit ratio 0.80",
            "resident  [####################--------------------] 38.1 MiB of 76.3 MiB (50 %)",
            "now       hit ratio 0.80   opens 200/s   peers 97.7 KiB/s   origin 2.86 MiB/s",
            "stalled   30 % of the time, 0.6 readers   errors 0",
            "",
            "TIER    ITEMS/s    BYTES/s  SHARE",
            "memory      160  ~15.3 MiB   80 %",
            "peers      10.0   97.7 KiB    5 %",
            "origin     30.0   2.86 MiB   15 %",
            "",
            "JOB           WAITS FOR  PROCESSES  EPOCH  OPENS/s  MISSES/s  HITS  FETCHED/s  STALL "
                + " OPENS  MISSES   FETCHED  STALLED",
            "/slurm/job_7    storage          2      3      150      40.0  0.73   2.96 MiB   60 %  "
                + "  300      80  5.91 MiB   1.20 s",
            "/quiet                -          2      3     50.0         0  1.00        0 B    0 %  "
                + "  100       0       0 B      0 s");
  }

  @Test
  void allocation_isShownWhereItWasTold() {
    Map<String, Object> told =
        Map.of("budget_bytes", 8L << 30, "fair_share_bytes", 4L << 30, "proposed_bytes", 6L << 30);
    Change change = new Change(null, new Looks().at(2).with("allocation", told).look());

    assertThat(lines(change, FIRST, 140, 40))
        .contains("budget    6.00 GiB proposed, fair share 4.00 GiB, of 8.00 GiB for all mounts");
  }

  @Test
  void capacityOfTheNodesBudget_isShownAsThat() {
    Map<String, Object> cache =
        Map.of(
            "capacity_bytes",
            4L << 30,
            "resident_bytes",
            1L << 30,
            "capacity_of_node_budget",
            true);
    Change change = new Change(null, new Looks().at(2).with("cache", cache).look());

    assertThat(lines(change, FIRST, 74, 40))
        .contains("resident  [#-] 1.00 GiB of 4.00 GiB (25 %), of the node's budget");
  }

  @Test
  void narrowScreen_keepsNamesStallAndOpens() {
    List<String> lines = lines(busy("/a/very/long/path/of/a/cgroup/of/job_7"), FIRST, 40, 40);
    assertThat(lines).allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(40));
    assertThat(lines.get(lines.size() - 3)).contains("JOB", "OPENS/s", "STALL");
    assertThat(lines.get(lines.size() - 2)).startsWith("<").contains("job_7 ").endsWith("60 %");
  }

  @Test
  void sorting_isLargestFirst() {
    Change change =
        new Change(
            null,
            new Looks()
                .job("few", 1, 9, 5, 1)
                .job("many", 9, 1, 1, 2)
                .job("mid", 5, 5, 9, 0)
                .look());
    assertThat(order(change, 's')).containsExactly("many", "few", "mid");
    assertThat(order(change, 'o')).containsExactly("many", "mid", "few");
    assertThat(order(change, 'm')).containsExactly("few", "mid", "many");
    assertThat(order(change, 'b')).containsExactly("mid", "few", "many");
  }

  private static List<String> order(Change change, int key) {
    List<String> lines = lines(change, FIRST.after(key), 120, 40);
    return lines.subList(lines.size() - 3, lines.size()).stream()
        .map(line -> line.split(" ", 2)[0])
        .toList();
  }

  @Test
  void processesAndPeers_areOtherTables() {
    Change change = busy("/j");
    TopState processes = FIRST.after('p');
    assertThat(lines(change, processes, 140, 40))
        .anySatisfy(line -> assertThat(line).startsWith("COMMAND  PID"))
        .anySatisfy(line -> assertThat(line).startsWith("python    72").contains(" 60 % "));
    assertThat(lines(change, processes.after('p'), 140, 40))
        .anySatisfy(
            line -> assertThat(line).matches("node2:7070 +suspect +97.7 KiB .* 1,234 us .*"));
  }

  /** A loop of cat in a shell left a row for each, thousands of them. */
  @Test
  void processesThatHaveEnded_areOneRowOfACommandAndJob() {
    Looks looks = new Looks().process(7, "/j", 5, 0, 0);
    for (int pid = 1000; pid < 3000; pid++) {
      looks.ended(pid, "/j", "cat", 3);
    }
    looks.ended(5000, "/k", "cat", 4);
    String text = TopScreen.text(new Change(null, looks.look()), FIRST);
    assertThat(text.lines().filter(line -> line.startsWith("cat ")))
        .hasSize(2)
        .anySatisfy(line -> assertThat(line).matches("cat +2,000 ended +/j .* 6,000 .*"))
        .anySatisfy(line -> assertThat(line).matches("cat +5000 +/k .*"));
    assertThat(text).containsPattern("python +7 +/j ");
  }

  @Test
  void lowScreen_losesRowsAtTheEnd() {
    assertThat(lines(busy("/j"), FIRST, 100, 13)).hasSize(13).last().asString().startsWith("/j");
    assertThat(lines(busy("/j"), FIRST, 100, 3)).hasSize(3);
  }

  /** Two jobs that stalled for 76 ms and 146 ms both showed as 0.1 s. */
  @Test
  void secondsStalled_haveThreeDigits() {
    assertThat(FigureFormat.seconds(0.0764)).isEqualTo("76 ms");
    assertThat(FigureFormat.seconds(0.0015)).isEqualTo("1.5 ms");
    assertThat(FigureFormat.seconds(1.234)).isEqualTo("1.23 s");
    assertThat(FigureFormat.seconds(12.34)).isEqualTo("12.3 s");
    assertThat(FigureFormat.seconds(75)).isEqualTo("1 min 15 s");
    assertThat(FigureFormat.seconds(0)).isEqualTo("0 s");
  }

  @Test
  void noAnswerYet_saysThatItAsks() {
    assertThat(TopScreen.lines(new TopScreen.Content(null, FIRST, ""), 80, 24))
        .extracting(AttributedString::toString)
        .containsExactly("asking the daemon ...");
  }

  @Test
  void trouble_isAboveTheLastFigures() {
    List<AttributedString> lines =
        TopScreen.lines(new TopScreen.Content(busy("/j"), FIRST, "no answer"), 80, 24);
    assertThat(lines.get(0)).hasToString("no answer");
    assertThat(lines.get(1).toString()).startsWith("data-set at");
  }

  @Test
  void help_isInPlaceOfTheTables() {
    assertThat(lines(busy("/j"), FIRST.after('h'), 100, 40))
        .anySatisfy(line -> assertThat(line).startsWith("q         quit"))
        .noneSatisfy(line -> assertThat(line).startsWith("JOB"));
  }

  @Test
  void paused_isSaid() {
    assertThat(lines(busy("/j"), FIRST.after(' '), 100, 40).get(0)).endsWith(", paused");
  }

  @Test
  void controlCharactersInNames_areNotSentToTheTerminal() {
    String text = TopScreen.text(busy("/j\u001b[2J\u202e\n"), FIRST);
    assertThat(text)
        .contains("/j\\x1b[2J\\u202e\\n")
        .doesNotContain("\u001b")
        .doesNotContain("\u202e");
  }

  @Test
  void text_hasAllTables() {
    assertThat(TopScreen.text(busy("/j"), FIRST))
        .contains("\nTIER ", "\nJOB ", "\nCOMMAND ", "\nNODE ")
        .endsWith("\n");
    assertThat(TopScreen.text(new Change(null, new Looks().look()), FIRST))
        .contains("\nTIER ")
        .doesNotContain("\nJOB ");
  }

  @Property(tries = 200)
  void anyNameAndSize_fits(
      @ForAll @StringLength(max = 60) String job,
      @ForAll @IntRange(min = 1, max = 200) int width,
      @ForAll @IntRange(min = 1, max = 60) int height) {
    List<AttributedString> lines =
        TopScreen.lines(new TopScreen.Content(busy(job + "日本語/データ"), FIRST, ""), width, height);
    assertThat(lines).hasSizeLessThanOrEqualTo(height);
    assertThat(lines)
        .allSatisfy(line -> assertThat(line.columnLength()).isLessThanOrEqualTo(width));
  }

  @Test
  void wideLetters_keepColumnsAligned() {
    List<String> lines = lines(busy("日本語"), FIRST, 140, 40);
    String row = lines.get(lines.size() - 2);
    String heading = lines.get(lines.size() - 3);
    int shift = 3; // each of the three letters takes two columns
    assertThat(row.indexOf(" 60 %") + " 60 %".length())
        .isEqualTo(heading.indexOf("STALL") + "STALL".length() - shift);
  }
}
