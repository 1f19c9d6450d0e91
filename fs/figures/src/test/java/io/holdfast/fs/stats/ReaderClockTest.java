package io.holdfast.fs.stats;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FakeClock;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.figures.JobsFigures;
import io.holdfast.fs.figures.JobsFigures.Split;
import io.holdfast.fs.linux.Procfs.ProcessStat;
import io.holdfast.fs.stats.Activity.JobReport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of {@link ReaderClock}, through {@link Activity}. */
final class ReaderClockTest {
  private static final long SECOND = 1_000_000_000;
  private static final long MILLI = 1_000_000;
  private static final long SIZE = 100_000;

  @TempDir Path folder;

  private final FakeClock clock = new FakeClock();
  private FakeProc proc;
  private Activity activity;
  private int files;

  /** Job /a has the workers 10 and 20, and 30, which is their main process. */
  @BeforeEach
  void start() {
    proc =
        new FakeProc(folder)
            .process(10, "python", 30, 1, 100, "/a")
            .process(20, "python", 30, 1, 200, "/a")
            .process(30, "python", 1, 1, 50, "/a");
    for (int pid = 10; pid <= 30; pid += 10) {
      proc.times(pid, pid, 5 * SECOND, SECOND, 6);
    }
    activity = new Activity(JobBy.CGROUP, 1000, clock, proc.procfs(), 512 << 20);
  }

  private void open(int thread) {
    open(thread, SIZE);
  }

  /** Begins to read: a thread that was active at one look only is no reader. */
  private void begin(int... threads) {
    for (int thread : threads) {
      open(thread);
    }
    activity.look();
  }

  private void open(int thread, long size) {
    OpenBatch batch = new OpenBatch();
    batch.add(++files, size);
    activity.opened(thread, batch);
  }

  private void after(double seconds) {
    clock.advance(Duration.ofNanos((long) (seconds * SECOND)));
  }

  private JobReport job() {
    return activity.jobs().get(0);
  }

  private ReaderTimes times() {
    return job().counts().readers();
  }

  private JobsFigures.Epoch epoch() {
    return job().figures(true).epochs().get(0);
  }

  @Test
  void look_afterAnOpen_countsTheTimeSinceTheFirst() {
    begin(10);
    after(2);
    proc.times(10, 10, 5 * SECOND + 300 * MILLI, SECOND + 50 * MILLI, 6.4);
    open(10);
    activity.look();
    assertThat(times())
        .isEqualTo(new ReaderTimes(2 * SECOND, 400 * MILLI, 300 * MILLI, 50 * MILLI, 0, 0, 0));
    assertThat(epoch().readers()).isEqualTo(1);
    assertThat(epoch().readerSeconds()).hasValue(2);
    assertThat(epoch().cpuSeconds()).hasValue(0.4);
    assertThat(epoch().shares()).hasValue(new Split(0, 0, 0.225, 0.775));
  }

  /** On a busy machine a look may take long, and next to no CPU time. */
  @Test
  void look_thatWaitedForAProcessor_isSoonFollowedByAnother() {
    activity = withLooks(() -> after(0.1));
    begin(10);
    after(0.25);
    open(10);
    activity.look();
    assertThat(times().lived()).isPositive();
  }

  @Test
  void look_thatTookMuchCpuTime_isFollowedByAnotherAfterFiftyTimesThat() {
    activity = withLooks(() -> proc.spend(100 * MILLI));
    begin(10);
    after(4.9);
    open(10);
    activity.look();
    assertThat(times().lived()).isZero();
    after(0.2);
    activity.look();
    assertThat(times().lived()).isPositive();
  }

  /** Returns one in whose looks something happens. */
  private Activity withLooks(Runnable happening) {
    LongSupplier nanoTime =
        () -> {
          happening.run();
          return clock.getAsLong();
        };
    return new Activity(JobBy.CGROUP, 1000, nanoTime, proc.procfs(), 512 << 20);
  }

  /** The next look counted all time since the machine's start. */
  @Test
  void look_thatCannotReadTheTimeOfProcessors_countsNone() {
    begin(10);
    after(20);
    proc.processors(105, 30, 6);
    open(10);
    activity.look();
    assertThat(times().processors()).as("no look before it could").isZero();
    after(20);
    proc.processors(125, 50, 6);
    open(10);
    activity.look();
    assertThat(times().processors()).isEqualTo(40 * SECOND);
    after(20);
    proc.withoutProcessors();
    open(10);
    activity.look();
    assertThat(times().processors()).isEqualTo(40 * SECOND);
    after(20);
    proc.processors(165, 90, 6);
    open(10);
    activity.look();
    assertThat(times().processors()).isEqualTo(120 * SECOND);
    assertThat(times().idle()).isEqualTo(60 * SECOND);
  }

  /** Two processors: from the first look on, and not while the job rests for long. */
  @Test
  void look_countsTheTimeOfTheMachinesProcessors() {
    proc.processors(90, 10, 1);
    begin(10);
    after(20);
    proc.processors(105, 30, 6);
    open(10);
    activity.look();
    assertThat(times().processors()).isEqualTo(40 * SECOND);
    assertThat(times().idle()).isEqualTo(25 * SECOND);
    assertThat(epoch().processorSeconds()).hasValue(40);
    assertThat(epoch().processorIdleSeconds()).hasValue(25);
    after(61);
    proc.processors(106, 150, 6);
    open(10);
    activity.look();
    after(1);
    // the kernel's figure of idle time may fall
    proc.processors(108, 149.5, 6);
    open(10);
    activity.look();
    assertThat(times().processors()).isEqualTo(41500 * MILLI);
    assertThat(times().idle()).isEqualTo(25 * SECOND);
  }

  @Test
  void look_whereTheMachineTellsNothingOfProcessors_countsReadersAlone() {
    begin(10);
    after(1);
    open(10);
    activity.look();
    assertThat(times().lived()).isEqualTo(SECOND);
    assertThat(epoch().processorSeconds()).isEmpty();
    assertThat(epoch().processorIdleSeconds()).isEmpty();
  }

  @Test
  void look_atSeveralReaders_addsThemUp() {
    begin(10);
    after(1);
    begin(20);
    after(1);
    open(10);
    open(20);
    activity.look();
    assertThat(times().lived()).isEqualTo(3 * SECOND);
    assertThat(epoch().readers()).isEqualTo(2);
  }

  /** Its rest is counted once it goes on: it waited for its consumer. */
  @Test
  void look_whileAReaderRests_countsTheRestWithTheNextOpen() {
    begin(10, 20);
    after(5);
    open(20);
    activity.look();
    assertThat(times().lived()).isEqualTo(5 * SECOND);
    after(5);
    proc.times(10, 10, 5 * SECOND + 100 * MILLI, SECOND, 6.1);
    open(10);
    activity.look();
    assertThat(times())
        .isEqualTo(new ReaderTimes(15 * SECOND, 100 * MILLI, 100 * MILLI, 0, 0, 0, 0));
  }

  /** It reads for the validation, say, and the job trained in between. */
  @Test
  void look_afterARestOfMoreThanAMinute_doesNotCountIt() {
    begin(10);
    after(61);
    proc.times(10, 10, 9 * SECOND, 2 * SECOND, 10);
    open(10);
    activity.look();
    assertThat(times()).isEqualTo(ReaderTimes.NOTHING);
    after(1);
    proc.times(10, 10, 9 * SECOND + 200 * MILLI, 2 * SECOND, 10.2);
    open(10);
    activity.look();
    assertThat(times()).isEqualTo(new ReaderTimes(SECOND, 200 * MILLI, 200 * MILLI, 0, 0, 0, 0));
  }

  /**
   * A long rest lowered its rate, but not that of the job's average reader: itself. So it was none
   * for minutes, and the job had no readers.
   */
  @Test
  void reader_thatHasRestedForLong_isOneAsBefore() {
    for (int run = 0; run < 2; run++) {
      for (int second = 0; second < 10; second++) {
        after(1);
        open(10);
        activity.look();
      }
      after(7200);
    }
    assertThat(times().lived()).isEqualTo(18 * SECOND);
  }

  /**
   * Workers that live on while the job validates on other files seemed to wait for their consumer:
   * the job had the verdict that the accelerator limits it.
   */
  @Test
  void readers_whileTheirJobPauses_areNotHeldUp() {
    Caller caller = activity.caller(10);
    for (int epoch = 0; epoch < 2; epoch++) {
      for (int file = 0; file < 240; file++) {
        open(10);
        caller.reads(clock.getAsLong());
        after(0.24);
        caller.answered(clock.getAsLong(), ReadSource.ORIGIN, SIZE);
        after(0.01);
        activity.look();
      }
      after(30);
    }
    assertThat(times().lived() / SECOND).isBetween(118L, 121L);
    assertThat(epoch().shares().orElseThrow().backPressure()).isLessThan(0.1);
    assertThat(job().figures(true).verdict()).isEqualTo("storage");
  }

  /** The main process opens an index at the beginning, and the job would seem to rest. */
  @Test
  void look_atAThreadThatHasOpenedOneFile_countsNothingOfIt() {
    open(30);
    for (int second = 0; second < 50; second++) {
      open(10);
      activity.look();
      after(1);
    }
    assertThat(times().lived()).isEqualTo(49 * SECOND);
    assertThat(epoch().readers()).isEqualTo(1);
  }

  /** The main process opens a small index in each pass. */
  @Test
  void look_atAThreadThatTakesNextToNothing_countsNothingOfIt() {
    for (int second = 0; second < 50; second++) {
      open(10);
      activity.look();
      after(1);
      if (second % 10 == 9) {
        open(30, 1);
        activity.look();
      }
    }
    assertThat(times().lived()).isEqualTo(49 * SECOND);
    assertThat(epoch().readers()).isEqualTo(1);
  }

  @Test
  void look_atAReaderInALongFetch_countsIt() {
    Caller caller = activity.caller(10);
    caller.reads(clock.getAsLong());
    activity.look();
    for (int minute = 0; minute < 3; minute++) {
      after(50);
      activity.look();
    }
    caller.answered(clock.getAsLong(), ReadSource.ORIGIN, SIZE);
    assertThat(times().lived()).isEqualTo(150 * SECOND);
    assertThat(job().counts().stallNanos().origin()).isEqualTo(150 * SECOND);
  }

  @Test
  void look_afterAProcessHasEnded_keepsWhatWasSeen() {
    begin(10, 20);
    after(1);
    proc.times(10, 10, 5 * SECOND + 100 * MILLI, SECOND, 6.1);
    open(10);
    activity.look();
    after(1);
    open(10);
    open(20);
    proc.gone(10);
    activity.look();
    assertThat(times())
        .isEqualTo(new ReaderTimes(3 * SECOND, 100 * MILLI, 100 * MILLI, 0, 0, 0, 0));
    assertThat(activity.readersKnown()).isEqualTo(1);
  }

  /** They were nobody's, and the order of a job whose workers end with each epoch had no end. */
  @Test
  void opens_thatAreToldAfterTheEndOfTheirThreadWasSeen_areItsJobsStill() {
    proc.thread(11, 10).times(10, 11, 100, 0, 6);
    begin(11);
    after(1);
    open(11);
    proc.gone(10);
    proc.gone(11);
    activity.look();
    assertThat(activity.readersKnown()).isZero();
    open(11);
    assertThat(activity.jobs()).extracting(JobReport::job).containsExactly("/a");
    assertThat(job().counts().opens()).isEqualTo(3);
  }

  /** Its CPU time would be that of both. */
  @Test
  void look_atANumberThatIsAnotherProcessNow_countsNothingOfIt() {
    begin(10);
    after(1);
    open(10);
    proc.process(10, "cat", 1, 1, 999, "/b").times(10, 10, 90 * SECOND, 0, 95);
    activity.look();
    assertThat(times()).isEqualTo(ReaderTimes.NOTHING);
    begin(10);
    assertThat(activity.jobs()).extracting(JobReport::job).containsExactly("/a", "/b");
    after(1);
    proc.times(10, 10, 90 * SECOND + 30 * MILLI, 0, 95.03);
    open(10);
    activity.look();
    assertThat(activity.jobs())
        .filteredOn(job -> job.job().equals("/b"))
        .extracting(job -> job.counts().readers())
        .containsExactly(new ReaderTimes(SECOND, 30 * MILLI, 30 * MILLI, 0, 0, 0, 0));
  }

  @Test
  void look_atAProcessOfSeveralReaders_countsItsCpuTimeOnce() {
    proc.thread(11, 10).thread(12, 10);
    proc.times(10, 11, 100, 0, 6).times(10, 12, 100, 0, 6);
    begin(11, 12);
    after(1);
    proc.times(10, 11, 100 + 200 * MILLI, 0, 7).times(10, 12, 100 + 300 * MILLI, 0, 7);
    open(11);
    open(12);
    activity.look();
    assertThat(times()).isEqualTo(new ReaderTimes(2 * SECOND, SECOND, 500 * MILLI, 0, 0, 0, 0));
    assertThat(epoch().readers()).isEqualTo(2);
  }

  /** A pool that has ended a thread may give its number to another one of the same process. */
  @Test
  void look_afterAThreadHasEnded_knowsTheNextOneOfThatNumber() {
    proc.thread(11, 10).times(10, 11, 500 * MILLI, 0, 6);
    begin(11);
    after(1);
    proc.ended(10, 11);
    open(10);
    activity.look();
    assertThat(activity.readersKnown()).isEqualTo(1);
    after(1);
    proc.times(10, 11, 20 * MILLI, 0, 6);
    begin(11);
    after(1);
    proc.times(10, 11, 50 * MILLI, 0, 6);
    open(11);
    activity.look();
    assertThat(times().readerCpu()).isEqualTo(30 * MILLI);
  }

  /** A container of another pid namespace, or hidepid. */
  @Test
  void job_ofProcessesThatProcDoesNotShow_cannotBeTold() {
    for (int second = 0; second < 20; second++) {
      open(0);
      after(1);
      activity.look();
    }
    JobsFigures.Job job = job().figures(true);
    assertThat(job.verdict()).isEqualTo("unknown");
    assertThat(job.reason()).contains("/proc", "hidepid", "pid namespace");
    assertThat(job.splitSeconds()).isEmpty();
    assertThat(job.epochs().get(0).cpuSeconds()).isEmpty();
    assertThat(job.epochs().get(0).shares()).isEmpty();
  }

  @Test
  void job_whoseOpensAreNotCounted_cannotBeTold() {
    open(10);
    assertThat(job().figures(false).reason()).contains("--count-opens");
    assertThat(job().figures(true).reason()).contains("too little");
  }

  @Test
  void splitSeconds_neverFall() {
    open(10);
    Caller caller = activity.caller(10);
    Split before = new Split(0, 0, 0, 0);
    for (long i = 0; i < 100; i++) {
      caller.reads(clock.getAsLong());
      after(i % 7 == 0 ? 1.5 : 0.1);
      caller.answered(clock.getAsLong(), i % 3 == 0 ? ReadSource.PEER : ReadSource.ORIGIN, SIZE);
      proc.times(10, 10, 5 * SECOND + i * 90 * MILLI, SECOND + i * i * MILLI, 6 + i * 0.1);
      if (i % 5 == 0) {
        activity.look();
      }
      Split now = job().splitSeconds().orElse(before);
      assertThat(now.most(before)).isEqualTo(now);
      before = now;
    }
    assertThat(before.fetchPeer()).isPositive();
  }

  /** The clock forgets the readers that have rested longest. */
  @Test
  void readers_ofManyThreads_areBounded() {
    ReaderClock bounded = new ReaderClock(proc.procfs(), clock, 64);
    JobFigures job = new JobFigures("/many", clock);
    List<Caller> callers = new ArrayList<>();
    for (int pid = 5_000_000; pid < 5_000_100; pid++) {
      proc.process(pid, "p", 1, 1, 1, "/many").times(pid, pid, 1, 0, 0);
      ProcessStat process = proc.procfs().process(pid).orElseThrow();
      Caller caller =
          new Caller(pid, new ProcessActivity(pid, process, null, job), clock.getAsLong());
      callers.add(caller);
      bounded.add(caller);
      after(1);
    }
    assertThat(bounded.size()).isBetween(60, 64);
    assertThat(bounded.knows(callers.get(0))).isFalse();
    assertThat(bounded.knows(callers.get(99))).isTrue();
    OpenBatch batch = new OpenBatch();
    batch.add(1, SIZE);
    callers.forEach(caller -> caller.opened(batch, clock.getAsLong()));
    job.opened(batch, 1000, false);
    after(1);
    callers.forEach(caller -> caller.opened(batch, clock.getAsLong()));
    job.opened(batch, 1000, false);
    bounded.look();
    after(1);
    callers.forEach(caller -> caller.opened(batch, clock.getAsLong()));
    job.opened(batch, 1000, false);
    bounded.look();
    assertThat(job.counts().readers().lived()).isPositive();
    assertThat(callers.get(0).counted).isLessThan(callers.get(99).counted);
  }
}
