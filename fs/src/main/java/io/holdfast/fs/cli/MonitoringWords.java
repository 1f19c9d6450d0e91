package io.holdfast.fs.cli;

import io.holdfast.fs.daemon.LogFormat;
import io.holdfast.fs.daemon.Monitoring;
import io.holdfast.fs.daemon.Settings;
import io.holdfast.fs.daemon.StatsAudience;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of mount that say how it can be watched. Not thread-safe. */
final class MonitoringWords {
  @Option(
      names = "--metrics",
      paramLabel = "[HOST:]PORT|none",
      description = {
        "Answer scrapes of Prometheus at http://HOST:PORT/metrics. Without HOST, those of this"
            + " machine only; with one, everybody's who can reach it. Default: none; they are in"
            + " .holdfast/metrics in any case."
      })
  private @Nullable String metrics;

  @Option(
      names = "--log-format",
      paramLabel = "text|json",
      description =
          "How the log is written: lines for people, or a JSON object each. Default: text.")
  private @Nullable String logFormat;

  @Option(
      names = "--access-log",
      paramLabel = "FILE|none",
      description = {
        "A JSON object a line for each read that reached the daemon, and each fetch: who, what,"
            + " from where, how long. At most 200 MB with its older files; or a Unix socket that a"
            + " program listens at. Default: none."
      })
  private @Nullable Path accessLog;

  @Option(
      names = "--access-log-sample",
      paramLabel = "1/N|N/s",
      description = {
        "Which of them: one of N, or N a second at most. Those left out are counted. Default:"
            + " 1000/s."
      })
  private @Nullable String sampling;

  @Option(
      names = "--stats-visible-to",
      paramLabel = "owner|all",
      description = {
        "Who is told of single jobs and processes, and of file names, in .holdfast: 'owner' root"
            + " and the user who mounts, while others, and scrapes, get sums; 'all' everybody."
            + " Default: owner."
      })
  private @Nullable String audience;

  /** Says what they mean. */
  void fill(MountOptions.Filling f) {
    Monitoring.Builder monitoring = f.builder().monitoring();
    f.set(Settings.Key.METRICS, metrics, monitoring::metrics);
    f.set(
        Settings.Key.LOG_FORMAT,
        logFormat,
        v -> monitoring.logFormat(MountOptions.one(LogFormat.values(), v)));
    f.set(
        Settings.Key.ACCESS_LOG,
        accessLog,
        v -> monitoring.accessLog(v.toString().equals(OptionTable.NONE) ? null : v));
    f.set(Settings.Key.ACCESS_LOG_SAMPLE, sampling, monitoring::sampling);
    f.set(
        Settings.Key.STATS_VISIBLE_TO,
        audience,
        v -> monitoring.audience(MountOptions.one(StatsAudience.values(), v)));
  }
}
