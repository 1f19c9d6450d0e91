package io.holdfast.fs.cli;

import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.checkpoint.CheckpointFilesystem.FsyncPolicy;
import io.holdfast.fs.checkpoint.daemon.CheckpointDaemon;
import io.holdfast.fs.checkpoint.daemon.CheckpointSettings;
import io.holdfast.fs.checkpoint.daemon.StorePlace;
import io.holdfast.fs.daemon.Supervision;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.UserDirectories;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.log.DaemonLog;
import io.holdfast.fs.settings.LogFormat;
import io.holdfast.fs.settings.LogLevel;
import io.holdfast.fs.start.PipeReport;
import io.holdfast.peer.NodeAddress;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/**
 * {@code holdfast serve-checkpoint}, which {@code holdfast checkpoint} starts: becomes the daemon
 * of a checkpoint mount.
 */
@Command(
    name = CheckpointServeCommand.NAME,
    hidden = true,
    customSynopsis =
        "holdfast serve-checkpoint STATE NAME STORE MOUNTPOINT FRONT CAPACITY RATE FSYNC KEEP"
            + " [METRICS] [OPTIONS]",
    header = "Be the daemon of a checkpoint mount, with what its supervisor has open.",
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer =
        "  holdfast serve-checkpoint /run/holdfast/ckpt.state ckpt /nfs/run7 /ckpt /nvme/front"
            + " 200000000000 0.0 STORE 0")
final class CheckpointServeCommand implements Callable<Integer> {
  static final String NAME = "serve-checkpoint";

  private static final Logger LOG = LoggerFactory.getLogger(CheckpointServeCommand.class);

  private static final int LEAST_WORDS = 8;

  private final CliContext context;

  @Parameters(index = "0", paramLabel = "STATE", description = "The mount's state directory.")
  private String state = "";

  @Parameters(
      index = "1..*",
      arity = "8..9",
      paramLabel = "SETTINGS",
      description = "The mount's settings.")
  private List<String> words = List.of();

  @Mixin private final S3Options s3 = new S3Options();

  CheckpointServeCommand(CliContext context) {
    this.context = context;
  }

  /**
   * Returns the words that start the daemon of a mount.
   *
   * @param state its state directory
   */
  static List<String> words(Path state, CheckpointSettings settings) {
    List<String> words =
        new ArrayList<>(
            List.of(
                NAME,
                state.toString(),
                settings.name(),
                settings.store().toString(),
                settings.mountpoint().toString(),
                settings.front().toString(),
                Long.toString(settings.capacity()),
                Double.toString(settings.persistRate()),
                settings.fsync().name(),
                Integer.toString(settings.keep())));
    InetSocketAddress metrics = settings.metrics();
    if (metrics != null) {
      String host = metrics.getHostString();
      boolean isIpv6 = host.contains(":");
      words.add((isIpv6 ? "[" + host + "]" : host) + ":" + metrics.getPort());
    }
    if (settings.store() instanceof StorePlace.Bucket bucket) {
      words.addAll(S3Options.words(bucket));
    }
    return words;
  }

  private CheckpointSettings settings() {
    try {
      String store = words.get(1);
      return new CheckpointSettings(
          words.get(0),
          StorePlace.isBucket(store) ? s3.place(store) : new StorePlace.Directory(Path.of(store)),
          Path.of(words.get(2)),
          Path.of(words.get(3)),
          Long.parseLong(words.get(4)),
          Double.parseDouble(words.get(5)),
          FsyncPolicy.valueOf(words.get(6)),
          Integer.parseInt(words.get(7)),
          words.size() > LEAST_WORDS ? NodeAddress.parse(words.get(LEAST_WORDS)).resolve() : null);
    } catch (IllegalArgumentException e) {
      throw CliException.usage("a setting is wrong: " + e.getMessage(), e);
    }
  }

  @Override
  public Integer call() {
    CheckpointSettings settings = settings();
    Path log =
        UserDirectories.logs(0, context.host().environment()).resolve(settings.name() + ".log");
    PipeReport report = context.report(log);
    try {
      DaemonLog.toFile(log, LogLevel.INFO, LogFormat.TEXT);
      Thread.setDefaultUncaughtExceptionHandler(NamedThreads::logFailure);
      CheckpointDaemon daemon = new CheckpointDaemon(settings, Supervision.at(Path.of(state)));
      context.atExit(NamedThreads.named("stop-at-exit", daemon::stop));
      report.ready(daemon.plan());
      daemon.awaitStopped();
      return 0;
    } catch (IOException e) {
      LOG.error("the start failed: {}", e.getMessage());
      report.failed(CliException.COULD_NOT, String.valueOf(e.getMessage()));
    } catch (OutOfMemoryError e) {
      LOG.error("the start failed: {}", OutOfMemory.describe(e));
      report.failed(CliException.COULD_NOT, OutOfMemory.describe(e));
    } catch (RuntimeException | Error e) {
      LOG.error("the start failed in the daemon itself", e);
      report.failed(CliException.COULD_NOT, "internal error: " + e + ": see " + log);
    }
    return CliException.COULD_NOT;
  }
}
