package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.control.ControlServer;
import io.holdfast.fs.host.FakeHost;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.linux.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

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

  @AfterEach
  void end() {
    server.close();
  }

  private final class Commands extends FakeCommands {
    @Override
    @SuppressWarnings("unchecked")
    public Map<String, Object> task(Map<String, Object> request) {
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
    Process supervisor = new ProcessBuilder("sh", "-c", "read line; : holdfast-supervise").start();
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

  @Test
  void umount_whoseStoreIsLate_leavesTheMount() {
    assertThat(run.run("umount", "--timeout", "1s", NAME)).isEqualTo(124);
    assertThat(run.err.toString()).contains("the mount stays").hasLineCount(1);
  }
}
