package io.holdfast.fs.watch.live;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.client.DaemonClient;
import io.holdfast.fs.control.ControlClient;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.NodeFigures;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.watch.Change;
import io.holdfast.fs.watch.Snapshot;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Looks at a mount again and again, also when its daemon hangs, ends or is followed by another. Not
 * thread-safe.
 */
public final class DaemonLook {
  private final RunningDaemon daemon;
  private final ControlClient client;
  private final boolean withPeers;
  private @Nullable Snapshot before;

  /**
   * Prepares to look.
   *
   * @param deadline how long a look may take
   * @param withPeers whether to look at the nodes of its cluster as well
   */
  public DaemonLook(RunningDaemon daemon, Duration deadline, boolean withPeers) {
    this.daemon = daemon;
    this.client = new ControlClient(daemon.socket(), deadline);
    this.withPeers = withPeers;
  }

  /**
   * Looks, and tells what happened since the last look that was answered.
   *
   * @throws FsException as of {@link ControlClient}
   */
  Change next() throws FsException {
    Snapshot now = look();
    Change change = new Change(before, now);
    before = now;
    return change;
  }

  private Snapshot look() throws FsException {
    Map<String, Object> stats = client.stats();
    long nanos = System.nanoTime();
    Figures figures = FiguresJson.figures(stats);
    List<NodeFigures> nodes =
        withPeers && figures.cluster().isPresent() ? FiguresJson.nodes(client.peers()) : List.of();
    return new Snapshot(figures, nodes, stats, nanos);
  }

  /** Tells whether the next look may be answered although this one was not. */
  static boolean mayPass(FsException trouble) {
    return trouble.code() != FsError.ACCESS_DENIED;
  }

  /** Says what is wrong, and that it is tried again. */
  String tryingAgain(FsException trouble) {
    return DaemonClient.explain(trouble, daemon).getMessage() + ": trying again";
  }

  CliException failure(FsException trouble) {
    return DaemonClient.explain(trouble, daemon);
  }
}
