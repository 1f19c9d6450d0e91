package io.holdfast.fs.daemon;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlCommands;
import io.holdfast.fs.control.FiguresJson;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers the commands of the control socket. Thread-safe. */
final class DaemonCommands implements ControlCommands {
  private static final Logger log = LoggerFactory.getLogger(DaemonCommands.class);

  private final MountParts parts;
  private final ServiceManager manager;
  private final Runnable stop;

  /**
   * Creates the commands of a mount.
   *
   * @param stop begins to end the mount
   */
  DaemonCommands(MountParts parts, ServiceManager manager, Runnable stop) {
    this.parts = parts;
    this.manager = manager;
    this.stop = stop;
  }

  @Override
  public Map<String, Object> stats() {
    return FiguresJson.map(parts.report.stats());
  }

  @Override
  public List<Map<String, Object>> peers() {
    return FiguresJson.maps(parts.nodes());
  }

  @Override
  public long refresh(String path) throws IOException {
    return parts.changes.refresh(path);
  }

  @Override
  public Map<String, Object> task(Map<String, Object> request) throws FsException {
    return parts.tasks.request(request);
  }

  @Override
  public Map<String, Object> order(Map<String, Object> request) throws FsException {
    return parts.orders.request(request);
  }

  @Override
  public Map<String, Object> allocation(Map<String, Object> request) throws FsException {
    return FiguresJson.map(parts.allocation.take(request));
  }

  @Override
  public void stop() {
    stop.run();
  }

  @Override
  public Runnable restart() throws FsException {
    return handOver(parts.supervision, manager);
  }

  /**
   * Returns what ends this daemon in favour of another. Until that runs, nothing says that this
   * daemon makes way: a client that no longer waits for the answer is not to be served later.
   */
  static Runnable handOver(@Nullable Supervision supervision, ServiceManager manager)
      throws FsException {
    if (supervision == null) {
      throw new FsException(
          FsError.UNSUPPORTED,
          "it has no supervisor that would start another: only a mount with --binding kernel"
              + " has");
    }
    return () -> {
      try {
        supervision.restart();
      } catch (FsException e) {
        log.warn("the supervisor will take this for a failure: {}", e.getMessage());
      }
      manager.reloading();
      log.info("making way for another daemon");
      Runtime.getRuntime().halt(0);
    };
  }

  @Override
  public List<Map<String, Object>> config() {
    return parts.live.settings();
  }
}
