package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.host.FakeHost;
import io.holdfast.fs.log.DaemonLog;
import io.holdfast.fs.settings.BindingChoice;
import io.holdfast.fs.settings.GivenSettings;
import io.holdfast.fs.settings.LogFormat;
import io.holdfast.fs.settings.LogLevel;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.SettingsDocument;
import io.holdfast.fs.settings.Source;
import io.holdfast.fs.start.DaemonState;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The daemon's side of a mount, from the document on. */
class ServeCommandTest {
  @TempDir Path temp;
  private FakeHost host;
  private CliRun run;
  private Path state;

  @BeforeEach
  void prepare() throws IOException {
    temp = temp.toRealPath();
    host = new FakeHost(temp.resolve("run"));
    run = new CliRun(host);
    state = host.control.stateDirectory("n");
  }

  @AfterEach
  void restoreLog() {
    DaemonLog.toErrorOutput(LogLevel.WARN, LogFormat.TEXT, false);
  }

  @Test
  void ready_inTheBackground_reportsThePlanAndLeavesItsStarter() throws FsException {
    write(builder(), temp.resolve("log"));
    assertThat(serve()).isZero();
    assertThat(pipe()).isEqualTo("plan dataset 1 file\nplan and more\nready\n");
    assertThat(run.detached).containsExactly("[0]", "errors to log", "[1]");
    assertThat(run.out.toString()).isEmpty();
    assertThat(run.err.toString()).isEmpty();
  }

  @Test
  void ready_inTheForeground_printsThePlan() throws FsException {
    write(builder().set(SettingTable.FOREGROUND, true), Path.of("/dev/stderr"));
    assertThat(serve()).isZero();
    assertThat(run.out.toString()).isEqualTo("dataset 1 file\nand more\n");
    assertThat(run.detached).isEmpty();
  }

  @Test
  void notes_areLogged() throws Exception {
    write(builder(), temp.resolve("log"), "took away");
    serve();
    assertThat(Files.readString(temp.resolve("log"))).contains("INFO ").contains("took away");
  }

  @Test
  void failure_isReported() throws FsException {
    write(builder(), temp.resolve("log"));
    run.daemon.failure = new FsException(FsError.UNAVAILABLE, "no: luck");
    assertThat(serve()).isEqualTo(1);
    assertThat(pipe()).isEqualTo("error 1 no: luck\n");
  }

  @Test
  void logThatCannotBeWritten_isReported() throws FsException {
    write(builder(), temp);
    assertThat(serve()).isEqualTo(1);
    assertThat(pipe())
        .isEqualTo(
            "error 1 the log file '"
                + temp
                + "' cannot be written: choose another with --log-file\n");
  }

  /** The next daemon reads the same. */
  @Test
  void kernelBinding_isSupervisedAndKeepsTheDocument() throws FsException {
    write(builder().set(SettingTable.BINDING, BindingChoice.KERNEL), temp.resolve("log"));
    assertThat(serve()).isZero();
    assertThat(run.daemon.supervision).isNotNull();
    assertThat(SettingsDocument.file(state)).exists();
  }

  @Test
  void jnrFuseBinding_hasNoNextDaemonAndRemovesTheDocument() throws FsException {
    write(builder(), temp.resolve("log"));
    assertThat(serve()).isZero();
    assertThat(run.daemon.supervision).isNull();
    assertThat(state).doesNotExist();
  }

  @Test
  void noDocument_isOneLine() {
    assertThat(serve()).isEqualTo(1);
    assertThat(run.err.toString())
        .isEqualTo(
            "holdfast: there is no '%s/settings.json', which tells a daemon its settings: start it with 'holdfast mount'\n"
                .formatted(state));
    assertThat(run.daemon.settings).isNull();
  }

  @Test
  void tornDocument_isOneLine() throws Exception {
    write(builder(), temp.resolve("log"));
    Path file = SettingsDocument.file(state);
    Files.writeString(file, Files.readString(file).substring(0, 500));
    assertThat(serve()).isEqualTo(1);
    assertThat(run.err.toString())
        .isEqualTo(
            "holdfast: '%s' is damaged (it is no whole JSON text): unmount and mount again\n"
                .formatted(file));
    assertThat(run.daemon.settings).isNull();
    assertThat(file).exists();
  }

  private Settings.Builder builder() {
    Source source = new Source.Directory(temp.resolve("source"));
    return Settings.builder(source, temp.resolve("mnt"), host.memory).set(SettingTable.NAME, "n");
  }

  private void write(Settings.Builder settings, Path log, String... notes) throws FsException {
    DaemonState.create(
        host.control,
        new SettingsDocument(settings.build(), GivenSettings.NOTHING, log, List.of(notes)));
  }

  private int serve() {
    return run.run("serve", state.toString());
  }

  private String pipe() {
    return run.pipe.toString(StandardCharsets.UTF_8);
  }
}
