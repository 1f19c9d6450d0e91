package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.control.ControlServer;
import io.holdfast.fs.daemon.SupervisedMount;
import io.holdfast.fs.host.FakeHost;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.linux.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** checkpoint wait, and umount of a checkpoint mount, against a daemon without a mount. */
@Timeout(60)
@Execution(ExecutionMode.CONCURRENT)
class CheckpointWaitTest {
  private static final String NAME = "ckpt";
  private static final Path MOUNTPOINT = Path.of("/mnt/ckpt");

  /** Seconds: what is waited for otherwise takes 10 s. */
  private static final long FAR_BELOW_OTHER_DEADLINES = 7;

  @TempDir Path temp;
  private final Map<String, Object> answers = new HashMap<>();
  private FakeHost host;
  private CliRun run;
  private final List<Map<String, Object>> requests = new CopyOnWriteArrayList<>();
  private volatile boolean stopped;
  private ControlServer server;

  @BeforeEach
  void start() throws IOException {
    host = new FakeHost(temp.toRealPath().resolve("run"));
    run = new CliRun(host);
    host.mounts.add(
        new MountTable.Mount(
            1,
            MOUNTPOINT,
            "0:77",
            "fuse.holdfast",
            MountTable.CHECKPOINT_SOURCE + "/store",
            "rw,user_id=0,group_id=0"));
    host.states.put(MOUNTPOINT, Host.PathState.DIRECTORY);
    answers.put("last", Map.of("sequence", 7, "failures", 3));
    answers.put("await", Map.of("durable", false, "pending_bytes", 5));
    answers.put("unmount", Map.of("errno", 0));
    server = ControlServer.start(host.control, NAME, MOUNTPOINT, new Commands());
  }

  /** Makes the state directory of a checkpoint mount. */
  private void mark(String name) throws IOException {
    SupervisedMount.markForCheckpoints(Files.createDirectories(host.control.stateDirectory(name)));
  }

  @AfterEach
  void end() {
    server.close();
  }

  private final class Commands extends FakeCommands {
    @Override
    public void stop() {
      stopped = true;
    }

    @Override
    @SuppressWarnings("unchecked")
    public Map<String, Object> task(Map<String, Object> request) {
      requests.add(request);
      return answers.entrySet().stream()
          .filter(each -> request.containsKey(each.getKey()))
          .map(each -> (Map<String, Object>) each.getValue())
          .findFirst()
          .orElseThrow();
    }
  }

  @Test
  void wait_endsAfterItsTimeout() {
    assertThat(run.run("checkpoint", "wait", "--timeout", "1s", "/mnt/ckpt/a"))
        .as(run.err.toString())
        .isEqualTo(124);
  }

  /** A daemon that was killed may not end while its store hangs, and the next one waits for it. */
  @Test
  @Timeout(FAR_BELOW_OTHER_DEADLINES)
  void wait_endsAfterItsTimeout_whileNoDaemonAnswers() throws IOException {
    Path state = Files.createDirectories(host.control.stateDirectory(NAME));
    Process supervisor =
        new ProcessBuilder("sh", "-c", "read line; : holdfast-supervise", "sh", state.toString())
            .start();
    try {
      Files.writeString(state.resolve("supervisor"), supervisor.pid() + "\n");
      run.whenPaused = server;

      assertThat(run.run("checkpoint", "wait", "--timeout", "1s")).isEqualTo(124);
      assertThat(run.err.toString()).isEmpty();
    } finally {
      supervisor.destroy();
    }
  }

  /** A store that hangs when it is given free kept the command for ever, without a word. */
  @Test
  @Timeout(FAR_BELOW_OTHER_DEADLINES)
  void umount_endsAfterItsTimeout_whileTheDaemonDoesNotEnd() {
    answers.put("await", Map.of("durable", true, "pending_bytes", 0));

    assertThat(run.run("umount", "--timeout", "1s", NAME)).isEqualTo(124);

    assertThat(run.err.toString())
        .startsWith("holdfast: '/mnt/ckpt' is unmounted, but its daemon (pid ")
        .contains("is not done with the store yet: it goes on")
        .hasLineCount(1);
  }

  /**
   * A daemon that goes on with the store after an unmount was taken for a dataset's, and ended at
   * once: with changes pending, and exit code 0.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void umount_ofADaemonWithoutItsMount_waitsForTheStore(boolean durable) throws IOException {
    host.mounts.clear();
    mark(NAME);
    answers.put("await", Map.of("durable", durable, "pending_bytes", 5));

    assertThat(run.run("umount", "--timeout", "1s", NAME)).isEqualTo(124);

    assertThat(run.err.toString())
        .startsWith("holdfast: '/mnt/ckpt' is unmounted, but its daemon (pid ")
        .contains("it goes on")
        .hasLineCount(1);
    assertThat(stopped).isFalse();
    assertThat(run.run("checkpoint", "wait", "--timeout", "1s")).isEqualTo(durable ? 0 : 124);
  }

  /** The mount is at the real path, and the command compared texts. */
  @Test
  void wait_ofAPathThatLeadsToTheMountByASymlink_asksForItThere() throws IOException {
    answers.put("await", Map.of("durable", true, "pending_bytes", 0));
    Path real = Files.createDirectories(temp.toRealPath().resolve("real/run"));
    Path link = Files.createSymbolicLink(temp.resolve("link"), real.getParent());
    Path inside = Files.createSymbolicLink(temp.resolve("inside"), real);
    mark("two");
    try (ControlServer two =
        ControlServer.start(host.control, "two", real.getParent(), new Commands())) {
      for (Path path : List.of(real, link.resolve("run"), inside)) {
        assertThat(run.run("checkpoint", "wait", path.resolve("step").toString()))
            .as("%s of %s: %s", path, two, run.err)
            .isZero();
      }
      assertThat(requests.stream().map(request -> request.get("last")).filter(Objects::nonNull))
          .containsExactly("run/step", "run/step", "run/step");
    }
  }

  /** The exit code was that of a store that fails, and the hint was a file of datasets. */
  @ParameterizedTest
  @ValueSource(strings = {"checkpoint wait --timeout 1s", "checkpoint advice", "stats ckpt"})
  void otherUser_isToldWhoMayAsk(String words) {
    host.uid = 1000;

    assertThat(run.run(words.split(" ", -1))).isEqualTo(2);

    assertThat(run.err.toString())
        .startsWith("holdfast: the daemon of 'ckpt' answers root only: ")
        .contains("getfattr -n user.holdfast.durable PATH")
        .hasLineCount(1);
  }

  @Test
  void umount_whoseStoreIsLate_leavesTheMount() {
    assertThat(run.run("umount", "--timeout", "1s", NAME)).isEqualTo(124);
    assertThat(run.err.toString()).contains("the mount stays").hasLineCount(1);
  }
}
