package io.holdfast.fs.start;

import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.daemon.Supervision;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.linux.TrustedPlace;
import io.holdfast.fs.log.DaemonLog;
import io.holdfast.fs.log.Journal;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.SettingsDocument;
import io.holdfast.fs.units.Visible;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** This process as the daemon of a mount: its log, its report, and its end. For one run. */
public final class DaemonProcess {
  private final Serve serve;
  private final PipeReport starter;
  private final Map<String, String> environment;
  private final SettingsDocument document;
  private final @Nullable Supervision supervision;

  /**
   * Prepares a daemon.
   *
   * @param serve runs it
   * @param starter tells the process that started this one, in the background
   * @param environment of this process
   * @param supervision what it has from its supervisor, or null where it has none
   */
  public DaemonProcess(
      Serve serve,
      PipeReport starter,
      Map<String, String> environment,
      SettingsDocument document,
      @Nullable Supervision supervision) {
    this.serve = serve;
    this.starter = starter;
    this.environment = environment;
    this.document = document;
    this.supervision = supervision;
  }

  /**
   * Mounts, and returns the exit code when the mount has ended. In the background the process that
   * started this one is told what went wrong.
   *
   * @param out where the plan is printed in the foreground
   * @throws FsException when the mount could not be started in the foreground
   */
  public int serve(PrintWriter out) throws FsException {
    return document.settings().get(SettingTable.FOREGROUND)
        ? serveInForeground(out, () -> {})
        : serveInBackground();
  }

  /**
   * Mounts in the foreground, and returns the exit code when the mount has ended.
   *
   * @param whenReady runs when the mount answers
   */
  public int serveInForeground(PrintWriter out, Runnable whenReady) throws FsException {
    openLog();
    run(
        plan -> {
          whenReady.run();
          plan.lines().map(Visible::of).forEach(out::println);
          out.flush();
        });
    return 0;
  }

  private int serveInBackground() {
    try {
      openLog();
      run(starter);
      return 0;
    } catch (CliException e) {
      starter.failed(e.exitCode(), String.valueOf(e.getMessage()));
    } catch (FsException e) {
      starter.failed(CliException.COULD_NOT, String.valueOf(e.getMessage()));
    } catch (OutOfMemoryError e) {
      starter.failed(CliException.COULD_NOT, OutOfMemory.describe(e));
    } catch (RuntimeException | Error e) {
      starter.failed(CliException.COULD_NOT, "internal error: " + e + ": see " + document.log());
    }
    return CliException.COULD_NOT;
  }

  private void run(Report report) throws FsException {
    serve.run(document, supervision, report);
  }

  private void openLog() {
    Settings settings = document.settings();
    if (LogPath.isErrorOutput(settings)) {
      DaemonLog.toErrorOutput(
          settings.get(SettingTable.LOG_LEVEL),
          settings.get(SettingTable.LOG_FORMAT),
          Journal.isErrorOutput(environment));
      return;
    }
    try {
      DaemonLog.toFile(
          document.log(),
          settings.get(SettingTable.LOG_LEVEL),
          settings.get(SettingTable.LOG_FORMAT));
    } catch (TrustedPlace.Untrusted e) {
      throw CliException.couldNot(e.getMessage(), e);
    } catch (IOException e) {
      throw CliException.couldNot(
          "the log file '" + document.log() + "' cannot be written: choose another with --log-file",
          e);
    }
  }
}
