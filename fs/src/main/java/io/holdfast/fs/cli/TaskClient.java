package io.holdfast.fs.cli;

import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlClient;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.NodeFigures;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Has a daemon do something that takes long, and follows it to its end. When this process is told
 * to end before that, the daemon is told to stop, too. Not thread-safe.
 */
final class TaskClient {
  private static final Duration DEADLINE = Duration.ofSeconds(10);
  private static final long FIRST_POLL_MILLIS = 10;
  private static final long POLL_MILLIS = 50;

  /** Each byte may be escaped in six, and a request has 64 KiB at most. */
  private static final int BATCH_BYTES = 8 * 1024;

  private static final int MOST_WAITING = 50_000;

  private final CliContext context;
  private final RunningDaemon daemon;
  private final ControlClient client;

  /** Sees how far a task has come, several times a second. */
  @FunctionalInterface
  interface Watcher {
    /** Takes what the daemon tells of it. */
    void see(TaskFigures figures);
  }

  TaskClient(CliContext context, RunningDaemon daemon) {
    this.context = context;
    this.daemon = daemon;
    this.client = new ControlClient(daemon.socket(), DEADLINE);
  }

  RunningDaemon daemon() {
    return daemon;
  }

  /** Asks for something else than a task of its own. */
  Map<String, Object> ask(Map<String, Object> request) {
    try {
      return client.task(request);
    } catch (FsException e) {
      throw DaemonTrouble.explain(e, daemon);
    }
  }

  /** Returns the daemon's figures. */
  Figures stats() {
    try {
      return FiguresJson.figures(client.stats());
    } catch (FsException e) {
      throw DaemonTrouble.explain(e, daemon);
    }
  }

  /** Returns a row for each node of the cluster; none without peers. */
  List<NodeFigures> peers() {
    try {
      return FiguresJson.nodes(client.peers());
    } catch (FsException e) {
      throw DaemonTrouble.explain(e, daemon);
    }
  }

  /**
   * Begins a task with all its names.
   *
   * @param names files and folders, below the root of the mount
   */
  TaskFigures begin(Map<String, Object> request, Iterator<String> names) {
    Map<String, Object> first = new LinkedHashMap<>(request);
    first.put("paths", batch(names));
    first.put("last", !names.hasNext());
    TaskFigures figures = new TaskFigures(ask(first));
    while (names.hasNext()) {
      Map<String, Object> more = new LinkedHashMap<>(Map.of("id", figures.id()));
      if (figures.number("names_waiting") < MOST_WAITING) {
        more.put("paths", batch(names));
        more.put("last", !names.hasNext());
      } else if (!context.pause(POLL_MILLIS)) {
        stop(figures.id());
      }
      figures = new TaskFigures(ask(more));
      if (figures.isOver()) {
        return figures;
      }
    }
    return figures;
  }

  private static List<String> batch(Iterator<String> names) {
    List<String> batch = new ArrayList<>();
    int bytes = 0;
    while (names.hasNext() && bytes < BATCH_BYTES) {
      String name = names.next();
      bytes += name.getBytes(StandardCharsets.UTF_8).length + 3;
      batch.add(name);
    }
    return batch;
  }

  /** Follows a task to its end; fails with what the daemon says where it failed. */
  TaskFigures follow(TaskFigures begun, Watcher watcher) {
    Thread atExit = new Thread(() -> stop(begun.id()), "stop-task");
    context.atExit(atExit);
    try {
      TaskFigures figures = begun;
      long pause = FIRST_POLL_MILLIS;
      while (!figures.isOver()) {
        watcher.see(figures);
        if (!context.pause(pause)) {
          stop(begun.id());
        }
        pause = Math.min(POLL_MILLIS, 2 * pause);
        figures = new TaskFigures(ask(Map.of("id", begun.id())));
      }
      watcher.see(figures);
      return figures.orFailure();
    } finally {
      context.forgetAtExit(atExit);
    }
  }

  private void stop(long id) {
    try {
      client.task(Map.of("id", id, "stop", true));
    } catch (FsException e) {
      // it stops by itself when nobody asks after it
    }
  }
}
