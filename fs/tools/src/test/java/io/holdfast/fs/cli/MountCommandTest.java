package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ConfigText;
import io.holdfast.fs.host.FakeHost;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.log.DaemonLog;
import io.holdfast.fs.settings.Given;
import io.holdfast.fs.settings.LogFormat;
import io.holdfast.fs.settings.LogLevel;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.SettingsDocument;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The two sides of a mount, each without the other. */
class MountCommandTest {
  @TempDir Path temp;
  private FakeHost host;
  private CliRun run;
  private Path source;

  @BeforeEach
  void prepare() throws IOException {
    temp = temp.toRealPath();
    host = new FakeHost(Files.createDirectory(temp.resolve("run")));
    run = new CliRun(host);
    source = Files.createDirectory(temp.resolve("source"));
  }

  @AfterEach
  void restoreLog() {
    DaemonLog.toErrorOutput(LogLevel.WARN, LogFormat.TEXT, false);
  }

  @Test
  void background_start_writesTheDocumentAndPrintsThePlan() throws IOException {
    Path words = temp.resolve("words");
    Path link = Files.createSymbolicLink(temp.resolve("link"), source);
    Path mountpoint = Files.createDirectory(temp.resolve("mount point"));
    host.mount(mountpoint, "fuse.holdfast", Host.PathState.NOT_CONNECTED);
    run.ownCommand =
        List.of(
            "sh",
            "-c",
            "printf '%s\\n' \"$@\" > " + words + "; echo 'plan dataset 645 GB'; echo ready",
            "sh");
    int exitCode =
        run.run(
            "mount",
            "--name=n",
            "--capacity=50%",
            "--binding=jnr-fuse",
            "--log-file",
            temp.resolve("log").toString(),
            link.toString(),
            mountpoint.toString());
    assertThat(exitCode).as(run.err.toString()).isZero();
    assertThat(run.out.toString()).isEqualTo("dataset 645 GB\n");
    String note = "took away a stale mount at " + mountpoint + ", whose daemon had died";
    assertThat(run.err.toString()).isEqualTo("holdfast: " + note + "\n");
    Path state = host.control.stateDirectory("n");
    assertThat(Files.readAllLines(words)).containsExactly("serve", state.toString());
    SettingsDocument document = SettingsDocument.read(state);
    assertThat(document.notes()).containsExactly(note);
    assertThat(document.log()).isEqualTo(temp.resolve("log"));
    assertThat(document.settings().get(SettingTable.CAPACITY)).isEqualTo(50_000_000_000L);
    assertThat(document.given().all())
        .containsExactly(
            Given.argument(SettingTable.SOURCE, source.toString()),
            Given.argument(SettingTable.MOUNTPOINT, mountpoint.toString()),
            Given.flag(SettingTable.CAPACITY, List.of("50%")),
            Given.flag(SettingTable.NAME, List.of("n")),
            Given.flag(SettingTable.BINDING, List.of("jnr-fuse")),
            Given.flag(SettingTable.LOG_FILE, List.of(temp.resolve("log").toString())));
    assertThat(run.atExit).isEmpty();
  }

  @Test
  void background_daemon_hasTheSameSettings() {
    run.ownCommand = List.of("sh", "-c", "echo ready");
    String[] given = {
      "mount",
      "--capacity=1G",
      "--memory=50%",
      "--policy=none",
      "--item-size=16M",
      "--metadata-ttl=indefinite",
      "--name=imagenet",
      "--pin=soft",
      "--window=0",
      "--window-age=500ms",
      "--transit=128M",
      "--count-opens=message",
      "--binding=jnr-fuse",
      "--allow-other",
      "--state-dir=state",
      "--log-level=debug",
      log(),
      source.toString()
    };
    assertThat(run.run(given)).isZero();
    CliRun daemon = new CliRun(host);
    Path state = host.control.stateDirectory("imagenet");
    assertThat(daemon.run("serve", state.toString())).isZero();
    // for a next daemon, which this one has not
    assertThat(state).doesNotExist();
    given[0] = "--foreground";
    CliRun foreground = new CliRun(host);
    assertThat(
            foreground.run(
                Stream.concat(Stream.of("mount"), Arrays.stream(given)).toArray(String[]::new)))
        .isZero();
    assertThat(daemon.daemon.settings).isNotNull();
    assertThat(foreground.daemon.settings).isNotNull();
    assertThat(shown(daemon.daemon.settings)).isEqualTo(shown(foreground.daemon.settings));
  }

  private static String shown(Settings settings) {
    return ConfigText.of(settings.report()).replaceAll("foreground .*", "");
  }

  @Test
  void background_failure_cleansUpWhatTheDaemonLeft() throws IOException {
    Path socket = host.control.socket("n");
    run.ownCommand = List.of("sh", "-c", "touch " + socket + "; echo 'error 1 no: luck'; exit 1");
    host.mount(source, "fuse.sshfs", Host.PathState.DIRECTORY);
    assertThat(run.run("mount", "--name=n", "--binding=jnr-fuse", source.toString())).isEqualTo(1);
    assertThat(run.err.toString()).isEqualTo("holdfast: no: luck\n");
    assertThat(host.control.path()).isEmptyDirectory();
    assertThat(host.detached).isEmpty();
  }

  @Test
  void background_preflightFailure_startsNothing() {
    host.libfuse = false;
    run.ownCommand = List.of("touch", temp.resolve("started").toString());
    assertThat(run.run("mount", "--binding=jnr-fuse", source.toString())).isEqualTo(1);
    assertThat(temp.resolve("started")).doesNotExist();
    assertThat(run.err.toString()).contains("libfuse2").hasLineCount(1);
  }

  @Test
  void background_kernelBinding_startsTheSupervisor() throws IOException {
    host.libfuse = false;
    run.ownCommand = List.of("java", "it's");
    run.supervisor =
        List.of(
            "sh",
            "-c",
            ". $0/command; echo \"plan $origin $mountpoint\"; echo \"plan $*\"; echo ready");
    Path odd = Files.createDirectory(temp.resolve("a b'c$d"));
    assertThat(run.run("mount", "--name=n", log(), odd.toString())).as(run.err.toString()).isZero();
    assertThat(run.out.toString())
        .isEqualTo(
            "%s/. %s\njava it's serve %s\n".formatted(odd, odd, host.control.stateDirectory("n")));
    Path state = host.control.stateDirectory("n");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(state)))
        .isEqualTo("rwx------");
  }

  @Test
  void foreground_kernelBinding_becomesTheSupervisor() {
    run.ownCommand = List.of("java");
    assertThat(run.run("mount", "--foreground", "--name=n", source.toString())).isEqualTo(1);
    assertThat(run.became).containsExactly("false", host.control.stateDirectory("n").toString());
    assertThat(run.err.toString()).startsWith("holdfast: the supervisor cannot be started: ");
  }

  @Test
  void kernelBinding_asUser_isRefused() {
    host.uid = 1000;
    assertThat(run.run("mount", "--binding=kernel", source.toString())).isEqualTo(1);
    assertThat(run.err.toString())
        .isEqualTo(
            "holdfast: --binding kernel is not permitted to user 1000: run as root, or use"
                + " --binding jnr-fuse\n");
  }

  @Test
  void foreground_ready_printsThePlan() {
    assertThat(run.run("mount", "--foreground", "--binding=jnr-fuse", source.toString())).isZero();
    assertThat(run.out.toString()).isEqualTo("dataset 1 file\nand more\n");
    assertThat(run.detached).isEmpty();
  }

  @Test
  void signal_whileMounted_unmountsAndEndsWithSuccess() throws InterruptedException {
    run.run("mount", "--foreground", "--binding=jnr-fuse", source.toString());
    assertThat(run.atExit).hasSize(1);
    run.atExit.get(0).start();
    run.atExit.get(0).join();
    assertThat(run.daemon.stopped).isTrue();
    assertThat(run.halts).containsExactly(0);
  }

  @Test
  void exit_afterAFailedStart_keepsTheExitCode() throws InterruptedException {
    run.daemon.failure = new FsException(FsError.UNAVAILABLE, "no: luck");
    run.run("mount", "--foreground", "--binding=jnr-fuse", source.toString());
    run.atExit.get(0).start();
    run.atExit.get(0).join();
    assertThat(run.daemon.stopped).isFalse();
    assertThat(run.halts).isEmpty();
  }

  private String log() {
    return "--log-file=" + temp.resolve("log");
  }
}
