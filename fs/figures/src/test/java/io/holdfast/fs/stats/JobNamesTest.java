package io.holdfast.fs.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.holdfast.fs.Await;
import io.holdfast.fs.linux.Procfs;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Tests of {@link JobNames} and {@link JobBy}. */
final class JobNamesTest {
  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "0::/slurm/uid_0/job_7/step_0/task_1, /slurm/uid_0/job_7",
    "0::/system.slice/slurmstepd.scope/job_12/step_batch/user/task_0,"
        + " /system.slice/slurmstepd.scope/job_12",
    "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0123456789abcdef_0123_4567_89ab_012345678901.slice/cri-containerd-77.scope,"
        + " /kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0123456789abcdef_0123_4567_89ab_012345678901.slice",
    "0::/kubepods/pod01234567-89ab-cdef-0123-456789abcdef/77aa,"
        + " /kubepods/pod01234567-89ab-cdef-0123-456789abcdef",
    "0::/user.slice/user-1000.slice/session-3.scope, /user.slice/user-1000.slice/session-3.scope",
    "0::/jobs/job_7x/a, /jobs/job_7x/a",
    "0::/, /",
  })
  void cgroup_ofUnifiedHierarchy_isThePathOfTheJob(String line, String job) {
    assertThat(jobOf(line)).isEqualTo(job);
  }

  private String jobOf(String... cgroups) {
    return name(
        "cgroup", new FakeProc(folder).process(5, "a", 1, 1, 1, "/").cgroups(5, cgroups), 5);
  }

  @Test
  void cgroup_ofSeveralHierarchies_isTheFirstThatSaysAnything() {
    String memory = "4:cpuset,memory:/batch/a";
    String pids = "8:pids:/batch/b";
    assertThat(jobOf(pids, memory, "0::/")).isEqualTo("/batch/a");
    assertThat(jobOf(pids, memory, "0::/c")).isEqualTo("/c");
    assertThat(jobOf(pids, "4:memory:/")).isEqualTo("/batch/b");
    assertThat(jobOf("9:name=systemd:/x:y", "1:cpu:/no")).isEqualTo("/x:y");
    assertThat(jobOf("1:cpu:/no")).isEqualTo("unknown");
    assertThat(jobOf()).isEqualTo("unknown");
  }

  @Test
  void tree_isTheCommandThatAShellOrTheSystemStarted() {
    FakeProc proc =
        new FakeProc(folder)
            .process(1, "init", 0, 1, 1, "/")
            .process(50, "-bash", 1, 50, 2, "/")
            .process(60, "run.sh", 50, 50, 3, "/")
            .process(61, "torchrun) (x", 60, 50, 4, "/")
            .process(62, "python", 61, 62, 5, "/")
            .process(63, "pt_data_worker", 62, 62, 6, "/")
            .process(70, "python", 50, 50, 7, "/")
            .process(80, "serve", 1, 80, 8, "/")
            .process(81, "serve", 80, 80, 9, "/");
    assertThat(name("tree", proc, 63)).isEqualTo("run.sh-60");
    assertThat(name("tree", proc, 62)).isEqualTo("run.sh-60");
    assertThat(name("tree", proc, 70)).isEqualTo("python-70");
    assertThat(name("tree", proc, 81)).isEqualTo("serve-80");
    assertThat(name("tree", proc, 50)).isEqualTo("-bash-50");
    assertThat(name("pid", proc, 61)).isEqualTo("torchrun) (x-61");
  }

  @Test
  void env_isTheValueOfTheVariable() {
    FakeProc proc =
        new FakeProc(folder)
            .process(5, "a", 1, 1, 1, "/")
            .environment(5, "XSLURM_JOB_ID=1", "SLURM_JOB_ID=77", "B=2")
            .process(6, "b", 1, 1, 1, "/")
            .environment(6, "SLURM_JOB_ID=")
            .process(7, "c", 1, 1, 1, "/");
    assertThat(name("env:SLURM_JOB_ID", proc, 5)).isEqualTo("77");
    assertThat(name("env:SLURM_JOB_ID", proc, 6)).isEqualTo("none");
    assertThat(name("env:SLURM_JOB_ID", proc, 7)).isEqualTo("none");
  }

  /** A process may be unable to show it for as long as it waits for the mount itself. */
  @Test
  void jobOf_environmentThatHangs_isToldLater() throws Exception {
    FakeProc proc = new FakeProc(folder).process(5, "python", 1, 5, 7, "/");
    Path pipe = proc.directory(5).resolve("environ");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    CompletableFuture<String> job = job("env:SLURM_JOB_ID", proc, 5);
    // opens when the daemon's thread does
    try (OutputStream environment = Files.newOutputStream(pipe)) {
      assertThat(job).isNotDone();
      environment.write("SLURM_JOB_ID=77\0".getBytes(StandardCharsets.US_ASCII));
    }
    assertThat(job).succeedsWithin(Await.LONGEST).isEqualTo("77");
  }

  /** Without a right that the unit had not given, every job was 'none', and nothing said why. */
  @Test
  void jobOf_environmentsThatMayNotBeRead_isNoneAndTheLogSaysSoOnce() throws Exception {
    FakeProc proc = new FakeProc(folder);
    for (int pid = 5; pid < 8; pid++) {
      proc.process(pid, "python", 1, pid, 7, "/");
    }
    // root may read any file but those of the kernel that it may only write
    Path unreadable = Path.of("/proc/sys/net/ipv4/route/flush");
    Files.createSymbolicLink(proc.directory(6).resolve("environ"), unreadable);
    Files.createSymbolicLink(proc.directory(7).resolve("environ"), unreadable);
    ListAppender<ILoggingEvent> events = new ListAppender<>();
    events.start();
    Logger log = (Logger) LoggerFactory.getLogger(JobNames.class);
    log.addAppender(events);
    try {
      Procfs procfs = proc.procfs();
      JobNames names = new JobNames(JobBy.parse("env:SLURM_JOB_ID"), procfs);
      for (int pid = 5; pid < 8; pid++) {
        assertThat(names.jobOf(procfs.process(pid).orElseThrow()).join()).isEqualTo("none");
      }
    } finally {
      log.detachAppender(events);
    }
    assertThat(events.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .singleElement(InstanceOfAssertFactories.STRING)
        .startsWith("the environment of process 6 may not be read, so its job is 'none'")
        .contains("--job-by env:SLURM_JOB_ID; fix: ");
  }

  private static String name(String by, FakeProc proc, int pid) {
    return job(by, proc, pid).join();
  }

  private static CompletableFuture<String> job(String by, FakeProc proc, int pid) {
    Procfs procfs = proc.procfs();
    return new JobNames(JobBy.parse(by), procfs).jobOf(procfs.process(pid).orElseThrow());
  }

  @Test
  void name_ofAnyLength_isBoundedAndItsOwn() {
    String end = "x".repeat(JobNames.LONGEST);
    assertThat(JobNames.bounded(end)).isEqualTo(end);
    assertThat(JobNames.bounded(end + "a"))
        .hasSize(JobNames.LONGEST)
        .startsWith("xxxx")
        .isNotEqualTo(JobNames.bounded(end + "b"));
    assertThat(JobNames.bounded("a\n".repeat(100_000))).hasSize(JobNames.LONGEST);
    assertThat(JobNames.bounded("\u001b".repeat(40))).hasSize(JobNames.LONGEST);
    assertThat(JobNames.bounded("(others)")).isEqualTo("(others)~");
  }

  @ParameterizedTest
  @ValueSource(strings = {"cgroup", "tree", "pid", "env:SLURM_JOB_ID", "env:_x1"})
  void jobBy_whatIsAllowed_isSaidAgain(String text) {
    assertThat(JobBy.parse(text)).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "env", "env:", "env:1A", "env:A=B", "CGROUP", "user", "cgroup "})
  void jobBy_anythingElse_isRefusedWithWhatIsAllowed(String text) {
    assertThatThrownBy(() -> JobBy.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "'"
                + text
                + "' is not known: choose one of cgroup, tree, pid, env:NAME (such as"
                + " env:SLURM_JOB_ID)");
  }
}
