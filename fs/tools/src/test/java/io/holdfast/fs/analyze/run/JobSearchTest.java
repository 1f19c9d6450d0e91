package io.holdfast.fs.analyze.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.JobsFigures.Epoch;
import io.holdfast.fs.figures.JobsFigures.Job;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which job a command was, and which of its epochs are the command's. */
class JobSearchTest {
  private final List<Map<String, Object>> jobs = new ArrayList<>();
  private final List<Map<String, Object>> processes = new ArrayList<>();

  private Figures figures() {
    return figures("2026-11-21T10:00:00Z", 100);
  }

  private Figures figures(String mountedAt, long uptime) {
    return FiguresJson.figures(
        Map.of(
            "mounted_at",
            mountedAt,
            "uptime_seconds",
            uptime,
            "jobs",
            Map.of("by", "tree", "jobs", jobs),
            "processes",
            processes));
  }

  private JobSearchTest job(String name, long opens, Object... epochs) {
    Map<String, Object> job = new LinkedHashMap<>();
    job.put("job", name);
    job.put("opens", opens);
    job.put("epochs", List.of(epochs));
    jobs.add(job);
    return this;
  }

  private JobSearchTest job(String name, long opens, String verdict, double endedSeconds) {
    Map<String, Object> job = new LinkedHashMap<>();
    job.put("job", name);
    job.put("opens", opens);
    job.put("verdict", verdict);
    if (endedSeconds > 0) {
      job.put("ended_seconds", endedSeconds);
    }
    jobs.add(job);
    return this;
  }

  private static Map<String, Object> epoch(long number, long opens, long bytes, double seconds) {
    return Map.of(
        "epoch", number, "opens", opens, "bytes", bytes, "seconds", seconds, "readers", 2);
  }

  private JobSearchTest process(long pid, String job, long opens, boolean ended) {
    processes.add(Map.of("pid", pid, "job", job, "opens", opens, "ended", ended));
    return this;
  }

  private static final Figures NOTHING = new JobSearchTest().figures();

  @Test
  void job_isTheOneWhoseProcessesReadMost() {
    Figures after =
        new JobSearchTest()
            .job("other", 900)
            .job("mine", 100)
            .job("small", 3)
            .process(10, "mine", 100, true)
            .process(11, "small", 3, true)
            .process(12, "other", 900, false)
            .figures();
    assertThat(JobSearch.ofProcesses(NOTHING, after, Set.of(10L, 11L)).orElseThrow().job())
        .isEqualTo("mine");
  }

  /** find with md5sum had opened more files than the job that ran, and was no job at all. */
  @Test
  void busiest_isAJobThatRuns_andTheUnseenProcessesOnlyIfThereIsNoOther() {
    JobSearchTest search = new JobSearchTest().job("unknown", 9000, "unknown", 0);
    assertThat(JobSearch.busiest(search.figures()).orElseThrow().job()).isEqualTo("unknown");
    search.job("past", 900, "storage", 3600);
    assertThat(JobSearch.busiest(search.figures()).orElseThrow().job()).isEqualTo("past");
    search.job("now", 100, "storage", 0).job("shell", 10, "unknown", 0);
    assertThat(JobSearch.busiest(search.figures()).orElseThrow().job()).isEqualTo("now");
    JobSearchTest ended =
        new JobSearchTest().job("past", 900, "storage", 3600).job("shell", 10, "unknown", 0);
    assertThat(JobSearch.busiest(ended.figures()).orElseThrow().job()).isEqualTo("past");
  }

  /** A process that was there before, with the same number, has read nothing for the command. */
  @Test
  void processesOfBefore_doNotCount() {
    Figures before = new JobSearchTest().job("old", 50).process(10, "old", 50, false).figures();
    Figures after =
        new JobSearchTest()
            .job("old", 50)
            .job("mine", 5)
            .process(10, "old", 50, false)
            .process(20, "mine", 5, true)
            .figures();
    assertThat(JobSearch.ofProcesses(before, after, Set.of(10L, 20L)).orElseThrow().job())
        .isEqualTo("mine");
  }

  @Test
  void processesThatNobodySaw_areOfTheOnlyJobThatRead() {
    Figures before = new JobSearchTest().job("old", 50).figures();
    Figures after = new JobSearchTest().job("old", 50).job("mine", 5).figures();
    assertThat(JobSearch.ofProcesses(before, after, Set.of(7L)).orElseThrow().job())
        .isEqualTo("mine");
    Figures both = new JobSearchTest().job("old", 51).job("mine", 5).figures();
    assertThat(JobSearch.ofProcesses(before, both, Set.of(7L))).isEmpty();
    assertThat(JobSearch.ofProcesses(before, before, Set.of(7L))).isEmpty();
  }

  @Test
  void epochs_ofAJobThatWasThere_areThoseSinceThen() {
    Figures before =
        new JobSearchTest().job("a", 150, epoch(1, 100, 1000, 5), epoch(2, 50, 500, 4)).figures();
    Job later =
        JobSearch.named(
            new JobSearchTest()
                .job("a", 300, epoch(2, 100, 1000, 90), epoch(3, 100, 1000, 5))
                .figures(),
            "a");
    List<Epoch> since = JobSearch.epochsSince(before, later, 8);
    assertThat(since.stream().map(Epoch::epoch)).containsExactly(2L, 3L);
    assertThat(since.get(0).bytes()).isEqualTo(500);
    assertThat(since.get(0).seconds()).as("at most the command's time").isEqualTo(8);
    assertThat(JobSearch.epochsSince(NOTHING, later, 8)).hasSize(2);
  }

  /** An older daemon does not tell for how long a read waited. */
  @Test
  void epochThatHadBegun_hasTheTimeOfFetchesSinceThen() {
    Map<String, Object> begun = new LinkedHashMap<>(epoch(1, 100, 1000, 5));
    Map<String, Object> sofar = new LinkedHashMap<>(epoch(1, 300, 3000, 9));
    assertThat(rest(begun, sofar).fetchingSeconds()).isEmpty();
    begun.put("fetching_seconds", 2.5);
    sofar.put("fetching_seconds", 6.0);
    assertThat(rest(begun, sofar).fetchingSeconds()).hasValue(3.5);
  }

  private static Epoch rest(Map<String, Object> begun, Map<String, Object> sofar) {
    Figures before = new JobSearchTest().job("a", 100, begun).figures();
    Job later = JobSearch.named(new JobSearchTest().job("a", 300, sofar).figures(), "a");
    return JobSearch.epochsSince(before, later, 8).get(0);
  }

  /** The first opens of a run may be counted to the epoch before it. */
  @Test
  void epochBefore_withAFewOpensMore_isNotTheCommands() {
    Figures before = new JobSearchTest().job("a", 100, epoch(1, 100, 1000, 5)).figures();
    Job later =
        JobSearch.named(
            new JobSearchTest()
                .job("a", 202, epoch(1, 102, 1020, 90), epoch(2, 100, 1000, 5))
                .figures(),
            "a");
    assertThat(JobSearch.epochsSince(before, later, 8).stream().map(Epoch::epoch))
        .containsExactly(2L);
  }

  /** The daemon of a mount that was restarted counts from 0. */
  @Test
  void epochWithFewerBytesThanBefore_isOfAnotherDaemon() {
    Figures before = new JobSearchTest().job("a", 100, epoch(1, 100, 2000, 5)).figures();
    Job later =
        JobSearch.named(new JobSearchTest().job("a", 120, epoch(1, 120, 1200, 6)).figures(), "a");
    List<Epoch> since = JobSearch.epochsSince(before, later, 8);
    assertThat(since.stream().map(Epoch::bytes)).containsExactly(1200L);
  }

  /** A job that had read for an epoch or more "has read nothing" from the next daemon. */
  @Test
  void figuresOfADaemonThatWasReplaced_countFromZero() {
    Figures before =
        new JobSearchTest()
            .job("a", 300, epoch(1, 100, 1000, 5), epoch(2, 100, 1000, 5), epoch(3, 100, 1000, 5))
            .process(10, "a", 300, false)
            .figures();
    JobSearchTest next =
        new JobSearchTest().job("a", 100, epoch(1, 100, 1000, 6)).process(10, "a", 100, true);
    for (Figures after :
        List.of(
            next.figures("2026-11-21T10:01:00Z", 200), next.figures("2026-11-21T10:00:00Z", 9))) {
      Figures from = JobSearch.countedFrom(before, after);
      Job job = JobSearch.ofProcesses(from, after, Set.of(10L)).orElseThrow();
      assertThat(JobSearch.opensSince(from, job)).isEqualTo(100);
      assertThat(JobSearch.since(from, after)).hasSize(1);
      assertThat(JobSearch.epochsSince(from, job, 8)).extracting(Epoch::epoch).containsExactly(1L);
    }
    Figures same = next.figures("2026-11-21T10:00:00Z", 101);
    assertThat(JobSearch.countedFrom(before, same)).isSameAs(before);
  }

  @Test
  void name_mayBeAPartThatNoOtherHas() {
    Figures figures =
        new JobSearchTest()
            .job("/slurm/job_811", 9)
            .job("/slurm/job_812", 8)
            .job("(others)", 7)
            .figures();
    assertThat(JobSearch.named(figures, "812").job()).isEqualTo("/slurm/job_812");
    assertThat(JobSearch.named(figures, "/slurm/job_811").job()).isEqualTo("/slurm/job_811");
    assertThat(JobSearch.jobs(figures)).hasSize(2);
    assertThatThrownBy(() -> JobSearch.named(figures, "job"))
        .hasMessage(
            "--job 'job' may be any of /slurm/job_811, /slurm/job_812: give the whole name");
    assertThatThrownBy(() -> JobSearch.named(figures, "others"))
        .hasMessageContaining("--job 'others' is not known: there are /slurm/job_811, /slurm");
    assertThatThrownBy(() -> JobSearch.named(NOTHING, "x"))
        .hasMessageContaining("no job has read from the mount");
  }
}
