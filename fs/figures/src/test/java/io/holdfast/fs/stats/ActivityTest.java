package io.holdfast.fs.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.holdfast.fs.Await;
import io.holdfast.fs.FakeClock;
import io.holdfast.fs.FetchUse;
import io.holdfast.fs.FsError;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.figures.JobsFigures;
import io.holdfast.fs.figures.ProcessFigures;
import io.holdfast.fs.figures.ReadFigures;
import io.holdfast.fs.linux.Libc;
import io.holdfast.fs.stats.Activity.JobReport;
import io.holdfast.fs.stats.Activity.ProcessReport;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of {@link Activity} and its parts, and of {@link ReadStats}. */
final class ActivityTest {
  private static final int ITEM_SIZE = 1000;
  private static final int NOBODY = 1 << 23;
  private static final long HEAP = 512 << 20;

  /** The first number of invented processes: above the kernel's largest. */
  private static final int MANY = 5_000_000;

  @TempDir Path folder;

  private final FakeClock clock = new FakeClock();
  private FakeProc proc;
  private Activity activity;

  /** Job /a has processes 10, with threads 11 and 12, and 20; job /b has 30. */
  @BeforeEach
  void start() {
    proc =
        new FakeProc(folder)
            .process(10, "python", 1, 1, 100, "/a")
            .thread(11, 10)
            .thread(12, 10)
            .process(20, "python", 10, 1, 200, "/a")
            .process(30, "fio", 1, 1, 300, "/b");
    activity = new Activity(JobBy.CGROUP, ITEM_SIZE, clock, proc.procfs(), HEAP);
  }

  private void open(int thread, long... files) {
    OpenBatch batch = new OpenBatch();
    for (long file : files) {
      batch.add(file, 10);
    }
    activity.opened(thread, batch);
  }

  private JobReport job(String name) {
    return activity.jobs().stream().filter(job -> job.job().equals(name)).findFirst().orElseThrow();
  }

  private ProcessReport process(int pid) {
    return activity.processes().stream()
        .filter(process -> process.pid() == pid)
        .findFirst()
        .orElseThrow();
  }

  /** A request for figures does not wait for a process that is slow to tell its job. */
  @Test
  void jobs_whileAProcessIsSlowToTell_areTold() throws Exception {
    Path slow = proc.directory(40).resolve("cgroup");
    proc.process(40, "slow", 1, 1, 400, "/slow");
    Files.delete(slow);
    assertThat(new ProcessBuilder("mkfifo", slow.toString()).start().waitFor()).isZero();
    Thread reader = new Thread(() -> open(40, 1));
    reader.start();
    // opens when the reader does
    try (OutputStream answer = Files.newOutputStream(slow)) {
      open(10, 1);
      assertTimeoutPreemptively(
          Duration.ofSeconds(20),
          () -> assertThat(activity.jobs()).extracting(JobReport::job).containsExactly("/a"));
      answer.write("0::/slow\n".getBytes(StandardCharsets.US_ASCII));
    }
    reader.join();
    assertThat(activity.jobs()).extracting(JobReport::job).contains("/slow");
  }

  @Test
  void process_thatHasEnded_isToldAsSuch() {
    open(10, 1, 2);
    open(20, 4);
    assertThat(activity.processes()).noneMatch(ProcessReport::ended);
    proc.gone(10);
    assertThat(process(10).ended()).isTrue();
    assertThat(process(20).ended()).isFalse();
  }

  /** Of very many processes only some have a row. */
  @Test
  void job_hasEnded_whenNoneOfItsProcessesIsAlive() {
    open(10, 1, 2);
    open(20, 4);
    open(30, 5);
    assertThat(activity.jobs()).allMatch(job -> job.endedSeconds().isEmpty());
    proc.gone(10);
    assertThat(job("/a").endedSeconds()).as("the other one is alive").isEmpty();
    assertThat(activity.life("/a")).isEqualTo(JobLife.ALIVE);
    proc.gone(20);
    clock.advance(Duration.ofSeconds(90));
    assertThat(job("/a").endedSeconds()).hasValue(90);
    assertThat(job("/b").endedSeconds()).isEmpty();
  }

  /** No row had the opens of the number's first process any more. */
  @Test
  void processNumber_thatIsUsedAgain_losesNoOpens() {
    open(11, 1, 2, 3);
    proc.process(10, "cat", 1, 1, 999, "/b");
    open(12, 4);
    assertThat(activity.processes().stream().mapToLong(each -> each.counts().opens()).sum())
        .isEqualTo(4);
  }

  /** A training job between two epochs: its loaders have ended, and the main process has not. */
  @Test
  void jobThatHasEnded_tellsWhetherAProcessLivesThatMayStartTheNext() {
    proc.process(5, "bash", 1, 5, 50, "/");
    proc.process(40, "python", 5, 5, 400, "/c").process(41, "loader", 40, 5, 410, "/c");
    proc.process(50, "cat", 5, 5, 500, "/d");
    open(20, 1);
    open(30, 1);
    open(41, 1);
    open(50, 1);
    assertThat(activity.jobs()).noneMatch(JobReport::parentAlive);
    List.of(20, 30, 41, 50).forEach(proc::gone);
    assertThat(activity.jobs()).allMatch(job -> job.endedSeconds().isPresent());
    assertThat(activity.jobs())
        .filteredOn(JobReport::parentAlive)
        .extracting(JobReport::job)
        .containsExactlyInAnyOrder("/a", "/c");
    assertThat(activity.life("/c")).as("its main process lives").isEqualTo(JobLife.UNKNOWN);
    assertThat(activity.life("/d")).as("a shell starts jobs").isEqualTo(JobLife.ENDED);
    assertThat(activity.life("/e")).as("it was never seen").isEqualTo(JobLife.UNKNOWN);
    proc.process(40, "another", 5, 5, 999, "/c");
    assertThat(job("/c").parentAlive()).isFalse();
  }

  /** Processes that were gone at once have ended; those that nobody can see may live. */
  @Test
  void unknownJob_hasEnded_unlessAProcessMayBeHidden() {
    open(NOBODY, 1);
    clock.advance(Duration.ofSeconds(90));
    assertThat(job("unknown").endedSeconds()).as("/proc hides others").isEmpty();
    assertThat(activity.life("unknown")).isEqualTo(JobLife.UNKNOWN);
    proc.process(1, "init", 0, 1, 1, "/");
    assertThat(job("unknown").endedSeconds()).hasValue(90);
    assertThat(activity.life("unknown")).isEqualTo(JobLife.ENDED);
    activity.fetch(7, true, true, 0).read(0, true);
    assertThat(job("unknown").endedSeconds()).as("it read for no process").isPresent();
    open(0, 2);
    clock.advance(Duration.ofSeconds(90));
    assertThat(job("unknown").endedSeconds()).as("another pid namespace").isEmpty();
  }

  @Test
  void opened_byThreads_addsUpByProcessAndJob() {
    open(10, 1, 2);
    open(11, 3);
    open(20, 4, 5, 6, 7);
    open(30, 1);
    assertThat(activity.opens()).isEqualTo(8);
    assertThat(activity.jobs()).extracting(JobReport::job).containsExactly("/a", "/b");
    assertThat(job("/a").counts().opens()).isEqualTo(7);
    assertThat(job("/a").processes()).isEqualTo(2);
    assertThat(activity.processes()).extracting(ProcessReport::pid).containsExactly(20, 10, 30);
    assertThat(process(10).counts().opens()).isEqualTo(3);
    assertThat(process(30)).hasFieldOrPropertyWithValue("command", "fio");
  }

  @Test
  void opened_byThisProcess_doesNotCount() throws InterruptedException {
    Activity own = new Activity(JobBy.CGROUP, ITEM_SIZE, clock);
    OpenBatch batch = new OpenBatch();
    batch.add(1, 1);
    Thread other = new Thread(() -> own.opened(Libc.LIBC.gettid(), batch));
    other.start();
    other.join();
    assertThat(own.opens()).isZero();
    assertThat(own.jobs()).isEmpty();
    assertThat(own.processes()).isEmpty();
  }

  @Test
  void processThatIsGone_keepsItsJobAndFigures() {
    open(11, 1);
    proc.gone(10);
    proc.gone(11);
    clock.advance(Duration.ofMinutes(5));
    open(11, 2);
    assertThat(job("/a").counts().opens()).isEqualTo(2);
    assertThat(process(10).counts().opens()).isEqualTo(2);
  }

  @Test
  void processNeverSeen_isOfAnUnknownJob() {
    open(NOBODY, 1);
    activity.caller(0).reads(clock.getAsLong());
    assertThat(job("unknown").counts().opens()).isEqualTo(1);
    assertThat(process(NOBODY).counts().opens()).isEqualTo(1);
  }

  @Test
  void numberThatIsUsedAgain_isAnotherProcess() {
    open(30, 1);
    proc.process(30, "tar", 1, 1, 999, "/c");
    clock.advance(Duration.ofSeconds(11));
    open(30, 2, 3);
    assertThat(job("/b").counts().opens()).isEqualTo(1);
    assertThat(job("/c").counts().opens()).isEqualTo(2);
    assertThat(process(30)).hasFieldOrPropertyWithValue("command", "tar");
  }

  @Test
  void manyProcesses_thoseSeenLastAreKept_andNoneIsLostInTheTotal() {
    for (int i = 0; i < 10_000; i++) {
      clock.advance(Duration.ofMillis(1));
      open(NOBODY + i, 1);
    }
    assertThat(activity.opens()).isEqualTo(10_000);
    assertThat(job("unknown").counts().opens()).isEqualTo(10_000);
    List<ProcessReport> told = activity.processes();
    assertThat(told).hasSize(Activity.MOST_TOLD + 1);
    assertThat(told.get(Activity.MOST_TOLD))
        .isEqualTo(
            new ProcessReport(
                -1,
                "(others)",
                "(others)",
                false,
                new ProcessCounts(
                    10_000 - Activity.MOST_TOLD, 10_000 - Activity.MOST_TOLD, 0, 0, 0)));
    open(NOBODY + 9_999, 2, 3);
    assertThat(process(NOBODY + 9_999).counts().opens()).isEqualTo(3);
    open(NOBODY, 1, 2);
    assertThat(process(NOBODY).counts().opens()).isEqualTo(2);
  }

  /**
   * On a mount that had had a thousand processes, the few opens of a new job's processes were in
   * the row of all others, and nobody could tell the job of a command.
   */
  @Test
  void manyProcesses_thoseActiveLastAreTold() {
    for (int i = 0; i < 2 * Activity.MOST_TOLD; i++) {
      clock.advance(Duration.ofMillis(1));
      open(NOBODY + i, 1, 2, 3);
    }
    clock.advance(Duration.ofMillis(1));
    open(10, 1);
    List<ProcessReport> told = activity.processes();
    assertThat(told).hasSize(Activity.MOST_TOLD + 1);
    assertThat(told.get(Activity.MOST_TOLD - 1).pid()).as("the one with the fewest").isEqualTo(10);
    assertThat(told.get(Activity.MOST_TOLD).counts().opens())
        .isEqualTo(3L * (Activity.MOST_TOLD + 1));
  }

  /** A user starts a process for each value, as long as the kernel lets it be. */
  @Test
  void manyJobsByVariable_ofLargeValues_haveShortNamesAndNoneIsLost() {
    activity = new Activity(JobBy.parse("env:RUN"), ITEM_SIZE, clock, proc.procfs(), HEAP);
    for (int i = 0; i < 400; i++) {
      clock.advance(Duration.ofMillis(1));
      String value = "\u001b\u202e\u56fe".repeat(i < 200 ? 40_000 : 40) + i;
      proc.process(MANY + i, "x", 1, 1, 5, "/x").environment(MANY + i, "RUN=" + value);
      int process = MANY + i;
      open(process, 1);
      // a large environment takes a while
      Await.until("its job is known", () -> !activity.caller(process).job().equals("none"));
      open(process, 2);
    }
    assertThat(activity.jobs().stream().map(JobReport::job))
        .hasSizeBetween(200, Activity.MOST_JOBS + 1)
        .allSatisfy(name -> assertThat(name).hasSizeLessThanOrEqualTo(JobNames.LONGEST))
        .allSatisfy(name -> assertThat(name).doesNotContain("\u001b", "\u202e"))
        .doesNotHaveDuplicates();
    assertThat(activity.jobs().stream().mapToLong(job -> job.counts().opens()).sum())
        .isEqualTo(activity.opens())
        .isEqualTo(800);
  }

  /**
   * A job with an order of 10 million lines was once not found in it: the daemon was so busy that
   * the first look at the environment took too long, and the process was of job {@code none} for
   * the rest of its life.
   */
  @Test
  void job_ofAnEnvironmentThatIsReadLate_isTheProcesssFromThenOn() throws Exception {
    activity = new Activity(JobBy.parse("env:RUN"), ITEM_SIZE, clock, proc.procfs(), HEAP);
    Path late = proc.directory(40).resolve("environ");
    proc.process(40, "python", 1, 1, 400, "/a");
    assertThat(new ProcessBuilder("mkfifo", late.toString()).start().waitFor()).isZero();
    List<String> told = new CopyOnWriteArrayList<>();
    activity.listener((job, thread, batch) -> told.add(job));
    open(40, 1);
    assertThat(told).containsExactly("none");

    // opens when the daemon's thread does
    try (OutputStream environment = Files.newOutputStream(late)) {
      environment.write("RUN=train\0".getBytes(StandardCharsets.US_ASCII));
    }
    Await.until(
        "its opens are the job's",
        () -> {
          open(40, 2);
          return told.get(told.size() - 1).equals("train");
        });
    assertThat(job("none").counts().opens() + 1).isEqualTo(told.size());
    assertThat(job("train").counts().opens()).isEqualTo(1);
    assertThat(job("train").processes()).isEqualTo(1);
    assertThat(process(40).job()).isEqualTo("train");
  }

  @Test
  void jobs_inASmallHeap_areFewer() {
    activity = new Activity(JobBy.CGROUP, ITEM_SIZE, clock, proc.procfs(), 64 << 20);
    for (int i = 0; i < 300; i++) {
      clock.advance(Duration.ofMillis(1));
      proc.process(MANY + i, "x", 1, 1, 5, "/job" + i);
      open(MANY + i, 1);
    }
    assertThat(activity.jobs()).hasSizeLessThanOrEqualTo(33);
    assertThat(activity.jobs().stream().mapToLong(job -> job.counts().opens()).sum())
        .isEqualTo(300);
  }

  @Test
  void manyJobs_thoseActiveLastAreKept() {
    for (int i = 0; i < 600; i++) {
      clock.advance(Duration.ofMillis(1));
      proc.process(MANY + i, "x", 1, 1, 5, "/job" + i);
      open(MANY + i, 1);
    }
    assertThat(activity.opens()).isEqualTo(600);
    assertThat(activity.jobs()).hasSizeBetween(200, Activity.MOST_JOBS + 1);
    assertThat(activity.jobs().stream().mapToLong(job -> job.counts().opens()).sum())
        .isEqualTo(600);
    assertThat(job("/job599").counts().opens()).isEqualTo(1);
    assertThat(job("/job599").figures(true).epoch()).isEqualTo(1);
    JobsFigures.Job others = job("(others)").figures(true);
    assertThat(others.epoch()).as("of several jobs").isEqualTo(-1);
    assertThat(others.reason()).isEqualTo("it sums up jobs that have no row of their own");
    open(MANY, 1, 2);
    assertThat(job("/job0").counts().opens()).isEqualTo(2);
  }

  /** Misses count items, and a ratio of misses to opens was -18 for files of 19 items. */
  @Test
  void opens_ofLargeFiles_countTheirItems() {
    OpenBatch batch = new OpenBatch();
    batch.add(1, 19 * ITEM_SIZE);
    batch.add(2, 19 * ITEM_SIZE + 1);
    batch.add(3, 0);
    activity.opened(11, batch);
    assertThat(job("/a").figures(true).items()).isEqualTo(40);
    assertThat(process(10).figures().items()).isEqualTo(40);
  }

  @Test
  void fetch_isAMissOfWhoeverBeganItOrWaits_onceEach() {
    FetchUse use = activity.fetch(7, true, true, 11);
    use.read(11, true);
    use.read(12, true);
    use.read(20, true);
    use.read(20, true);
    use.read(30, false);
    use.fetched(500, ReadSource.PEER);
    assertThat(job("/a").counts().misses()).isEqualTo(1);
    assertThat(process(10).counts().misses()).isEqualTo(1);
    assertThat(process(20).counts().misses()).isEqualTo(1);
    assertThat(job("/a").counts().fetchedBytes()).isEqualTo(new Tiers(0, 500));
    assertThat(process(20).counts().fetchedBytes()).isZero();
    use.read(30, true);
    assertThat(job("/b").counts().misses()).isEqualTo(1);
    assertThat(job("/b").counts().fetchedBytes()).isEqualTo(Tiers.NOTHING);
  }

  /** The job that came second had fetched nothing, and seemed to find all in memory. */
  @Test
  void fetch_thatAnotherJobWaitsFor_isInTheEpochsOfBoth() {
    open(10, 7);
    open(30, 7);
    FetchUse use = activity.fetch(7, true, true, 11);
    use.fetched(300, ReadSource.ORIGIN);
    use.read(11, true);
    use.read(20, true);
    use.read(30, true);
    use.read(30, true);
    use.fetched(200, ReadSource.PEER);
    for (String name : List.of("/a", "/b")) {
      JobsFigures.Epoch epoch = job(name).figures(true).epochs().get(0);
      assertThat(epoch.originBytes()).isEqualTo(300);
      assertThat(epoch.peerBytes()).isEqualTo(200);
    }
    assertThat(job("/a").figures(true).fetchedBytes()).isEqualTo(500);
    assertThat(job("/b").figures(true).fetchedBytes()).isZero();
  }

  @Test
  void fetchAhead_isAMissWhenItsReaderGetsThere() {
    FetchUse use = activity.fetch(7, true, true, 11);
    use.fetched(500, ReadSource.PEER);
    assertThat(activity.jobs()).isEmpty();
    use.read(11, false);
    assertThat(job("/a").counts().misses()).isEqualTo(1);
  }

  @Test
  void partsOfAnItem_areOneMissOfIt() {
    for (int pass = 1; pass <= 3; pass++) {
      for (int part = 0; part < 8; part++) {
        activity.fetch(7, false, part == 0, 11).read(11, true);
      }
      assertThat(job("/a").counts().misses()).isEqualTo(pass);
    }
    for (long item = 100; item < 300; item++) {
      activity.fetch(item, false, false, 30).read(30, true);
      activity.fetch(item, false, false, 30).read(30, true);
    }
    assertThat(job("/b").counts().misses()).isEqualTo(200);
  }

  @Test
  void readsOfOneThreadAtOnce_blockItOnce() {
    Caller caller = activity.caller(11);
    caller.reads(1_000);
    caller.reads(3_000);
    assertThat(caller.answered(5_000, ReadSource.ORIGIN, 7)).isEqualTo(4_000);
    assertThat(caller.answered(6_000, ReadSource.PEER, 7)).isEqualTo(1_000);
    caller.reads(10_000);
    assertThat(caller.answered(10_500, ReadSource.MEMORY, 7)).isEqualTo(500);
    Caller other = activity.caller(12);
    other.reads(1_000);
    other.answered(6_000, ReadSource.PEER, 7);
    // the tier that answered is told; a read from memory counts as one of the origin
    assertThat(job("/a").counts().stallNanos()).isEqualTo(new Tiers(4_500, 6_000));
    assertThat(process(10).counts().stallNanos()).isEqualTo(10_500);
  }

  @Test
  void epochs_haveTheFiguresBetweenTheirOpens() {
    for (int epoch = 0; epoch < 3; epoch++) {
      activity.settle();
      activity.settle();
      clock.advance(Duration.ofSeconds(10));
      for (int file = 0; file < 40; file++) {
        // the read is counted before the open: the watcher tells of it later
        if (epoch == 0 || file % 4 == 0) {
          activity.fetch(file, true, true, 11).read(11, true);
        }
        open(11, file);
      }
    }
    List<Epoch> epochs = job("/a").epochs();
    assertThat(epochs).extracting(Epoch::number).containsExactly(1, 2, 3);
    assertThat(epochs).extracting(epoch -> epoch.counts().opens()).containsExactly(40L, 40L, 40L);
    assertThat(epochs).extracting(epoch -> epoch.counts().misses()).containsExactly(40L, 10L, 10L);
    assertThat(epochs)
        .extracting(epoch -> epoch.counts().hitRatio())
        .containsExactly(0.0, 0.75, 0.75);
  }

  /** Opens files as a watcher sees them, 0.1 s apart. */
  private void pass(long first, int count) {
    for (long file = first; file < first + count; file++) {
      activity.settle();
      clock.advance(Duration.ofMillis(100));
      open(11, file);
    }
  }

  private List<Double> seconds() {
    return job("/a").epochs().stream().map(epoch -> epoch.counts().nanos() / 1e9).toList();
  }

  private List<Double> fetchingSeconds() {
    return job("/a").epochs().stream().map(epoch -> epoch.counts().fetchingNanos() / 1e9).toList();
  }

  /** A read that waits when an epoch ends waits in both, and up to now before it is answered. */
  @Test
  void fetchingTime_ofAReadAtAnEpochsEnd_isDivided() {
    pass(1, 90);
    Caller caller = activity.caller(20);
    caller.reads(clock.getAsLong());
    pass(91, 10);
    pass(1, 20);
    assertThat(fetchingSeconds()).hasSize(2);
    assertThat(fetchingSeconds().get(0)).isCloseTo(1, within(0.2));
    assertThat(fetchingSeconds().get(0) + fetchingSeconds().get(1)).isCloseTo(3, within(1e-9));
    clock.advance(Duration.ofSeconds(1));
    assertThat(fetchingSeconds().get(1)).isCloseTo(3, within(0.2));
    assertThat(seconds().get(1)).isGreaterThanOrEqualTo(fetchingSeconds().get(1));
    caller.answered(clock.getAsLong(), ReadSource.ORIGIN, 7);
    pass(21, 80);
    assertThat(fetchingSeconds().get(0) + fetchingSeconds().get(1)).isCloseTo(4, within(1e-9));
  }

  /** Two processes of a job read side by side, and one of another job all the time. */
  @Test
  void fetchingTime_ofSeveralReaders_isThatInWhichAnyWaits() {
    open(30, 1, 2);
    activity.caller(30).reads(clock.getAsLong());
    open(11, 1, 2);
    for (int thread : new int[] {11, 12, 20}) {
      activity.caller(thread).reads(clock.getAsLong());
      clock.advance(Duration.ofSeconds(1));
    }
    for (int thread : new int[] {11, 20, 12}) {
      activity.caller(thread).answered(clock.getAsLong(), ReadSource.ORIGIN, 7);
      clock.advance(Duration.ofSeconds(1));
    }
    assertThat(fetchingSeconds()).containsExactly(5.0);
    assertThat(job("/a").counts().stallNanos().sum()).isEqualTo(9_000_000_000L);
    assertThat(job("/b").counts().fetchingNanos()).isEqualTo(6_000_000_000L);
  }

  /** Somebody runs the same again after an hour: the first run's last pass had taken that long. */
  @Test
  void epoch_beforeAPause_endsWithItsLastOpen() {
    pass(1, 100);
    for (int minute = 0; minute < 60; minute++) {
      activity.settle();
      clock.advance(Duration.ofMinutes(1));
    }
    pass(1, 100);
    assertThat(seconds()).hasSize(2).allSatisfy(time -> assertThat(time).isBetween(9.0, 11.0));
  }

  /** It validates on other files for half a minute after each pass. */
  @Test
  void epochs_withAShortPauseAfterEach_doNotHaveIt() {
    for (int epoch = 0; epoch < 6; epoch++) {
      pass(1, 600);
      activity.settle();
      clock.advance(Duration.ofSeconds(30));
    }
    assertThat(seconds()).hasSize(6).allSatisfy(time -> assertThat(time).isBetween(59.0, 61.0));
  }

  /** A slow consumer takes a batch every six seconds: this time is the job's. */
  @Test
  void epoch_withARestAfterEachBatch_hasTheRests() {
    for (int batch = 0; batch < 50; batch++) {
      pass(1 + batch * 32L, 32);
      activity.settle();
      clock.advance(Duration.ofSeconds(6));
    }
    pass(2000, 1);
    assertThat(seconds()).singleElement().satisfies(time -> assertThat(time).isGreaterThan(450));
  }

  @Test
  void rest_inWhichAThreadWaitsForAFetch_isNoPause() {
    pass(1, 600);
    Caller caller = activity.caller(20);
    caller.reads(clock.getAsLong());
    clock.advance(Duration.ofSeconds(20));
    open(11, 601);
    clock.advance(Duration.ofSeconds(10));
    caller.answered(clock.getAsLong(), ReadSource.ORIGIN, 7);
    assertThat(seconds()).singleElement().satisfies(time -> assertThat(time).isGreaterThan(89));
    clock.advance(Duration.ofSeconds(30));
    open(11, 602);
    assertThat(seconds()).singleElement().satisfies(time -> assertThat(time).isLessThan(91));
  }

  @Test
  void manyEpochs_theFirstAndTheLastFifteenAreKept() {
    for (int epoch = 0; epoch < 40; epoch++) {
      for (int file = 0; file < 30; file++) {
        open(11, file);
      }
    }
    List<Epoch> epochs = job("/a").epochs();
    assertThat(epochs).hasSize(16);
    assertThat(epochs.get(0).number()).isEqualTo(1);
    assertThat(epochs.get(1).number()).isEqualTo(26);
    assertThat(epochs.get(15).number()).isEqualTo(40);
  }

  @Test
  void hitRatio_ofLargeFiles_isOfTheirItems() {
    OpenBatch batch = new OpenBatch();
    batch.add(1, 10 * ITEM_SIZE - 1);
    batch.add(2, 0);
    activity.opened(30, batch);
    for (long item = 0; item < 4; item++) {
      activity.fetch(item, true, true, 30).read(30, true);
    }
    assertThat(job("/b").counts().items()).isEqualTo(11);
    assertThat(job("/b").counts().hitRatio()).isEqualTo(7.0 / 11);
    assertThat(
            new JobCounts(
                    1,
                    1,
                    0,
                    2,
                    Tiers.NOTHING,
                    Tiers.NOTHING,
                    Tiers.NOTHING,
                    0,
                    ReaderTimes.NOTHING,
                    0)
                .hitRatio())
        .isNaN();
  }

  @Test
  void opened_byManyThreadsAtOnce_losesNothing() throws InterruptedException {
    int threads = 8;
    CountDownLatch done = new CountDownLatch(threads);
    for (int i = 0; i < threads; i++) {
      int thread = new int[] {10, 11, 12, 20, 30, NOBODY, NOBODY + 1, 0}[i];
      new Thread(
              () -> {
                for (int k = 0; k < 2_000; k++) {
                  open(thread, k);
                  activity.fetch(k, true, true, thread).read(thread, true);
                  activity.settle();
                }
                done.countDown();
              })
          .start();
    }
    done.await();
    assertThat(activity.opens()).isEqualTo(16_000);
    assertThat(activity.jobs().stream().mapToLong(job -> job.counts().opens()).sum())
        .isEqualTo(16_000);
    assertThat(activity.jobs().stream().mapToLong(job -> job.counts().misses()).sum())
        .isEqualTo(16_000);
  }

  @Test
  void readStats_answersAndFailures_areCounted() {
    ReadStats reads = new ReadStats();
    reads.answered(100, 1_500_000_000L, ReadSource.PEER);
    reads.answered(50, 0, ReadSource.MEMORY);
    reads.failed(FsError.IO, 500_000_000L, ReadSource.ORIGIN);
    assertThat(reads.figures()).isEqualTo(new ReadFigures(3, 150, 1, 2, 1.5));
  }

  @Test
  void figures_ofJobsAndProcesses_areAllInTheirPlaces() {
    JobCounts counts =
        new JobCounts(
            1,
            20,
            30,
            5,
            new Tiers(2, 1),
            Tiers.NOTHING,
            new Tiers(3_000_000, 1_000_000),
            2_000_000,
            new ReaderTimes(9_000_000, 8_000_000, 7_000_000, 6_000_000, 0, 0, 0),
            5_000_000);
    Activity.JobReport job =
        new Activity.JobReport(
            "j",
            6,
            OptionalDouble.of(1.5),
            true,
            counts,
            Optional.of(new JobsFigures.Split(0.0014, 0, 1, 2)),
            List.of(new Epoch(7, counts, 4), new Epoch(8, counts, 4)));
    JobsFigures.Job shown = job.figures(true);
    assertThat(shown)
        .isEqualTo(
            new JobsFigures.Job(
                "j",
                6,
                OptionalDouble.of(1.5),
                true,
                1,
                20,
                5,
                OptionalDouble.of(0.75),
                3,
                0.004,
                Optional.of(new JobsFigures.Split(0.001, 0, 1, 2)),
                "unknown",
                "too little was seen: 1 opens, and readers for 0.0 s",
                8,
                shown.epochs()));
    assertThat(shown.epochs())
        .hasSize(2)
        .startsWith(
            new JobsFigures.Epoch(
                7,
                1,
                5,
                OptionalDouble.of(0.75),
                0.004,
                0.005,
                30,
                2,
                1,
                0.003,
                0.001,
                OptionalDouble.of(0.002),
                OptionalDouble.of(0.008),
                OptionalDouble.of(0.007),
                OptionalDouble.of(0.006),
                OptionalDouble.of(0.009),
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                4,
                Optional.of(new JobsFigures.Split(0, 0, 1, 0))));
    ProcessCounts ofProcess = new ProcessCounts(1, 20, 5, 3, 4_000_000);
    assertThat(new Activity.ProcessReport(9, "j", "c", true, ofProcess).figures())
        .isEqualTo(new ProcessFigures(9, "j", "c", true, 1, 20, 5, 3, 0.004));
  }
}
