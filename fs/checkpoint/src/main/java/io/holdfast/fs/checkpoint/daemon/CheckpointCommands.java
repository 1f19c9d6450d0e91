package io.holdfast.fs.checkpoint.daemon;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.checkpoint.ErrnoException;
import io.holdfast.fs.checkpoint.FileTree;
import io.holdfast.fs.checkpoint.FollowedPath;
import io.holdfast.fs.checkpoint.SaveMeter;
import io.holdfast.fs.control.ControlCommands;
import io.holdfast.fs.control.FiguresJson;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Answers the commands of the control socket. Requests of {@code task}:
 *
 * <pre>
 * {"last": PATH}                     {"sequence": n}: the last operation on a path, or below or above it, and
 *                                    on the symlinks that lead there,
 *                                    {"missing": true or false}: whether there is none, and was none lately,
 *                                    {"failures": n}: of the store until now
 * {"await": n, "failures": n}        {"durable": true or false, "pending_bytes": n, "error": why, if the store
 *                                    has failed since and fails, "waited": false if there was no room for that}
 * {"advice": true, "iteration_seconds": s, "bound": p}
 *                                    the advice, and what it was made of. The last two can be left out:
 *                                    what was told last goes on to count
 * {"unmount": true}                  {"errno": 0 or an errno}
 * </pre>
 *
 * <p>Thread-safe.
 */
final class CheckpointCommands implements ControlCommands {
  /** How long a request may wait: the command asks again, also the next daemon. */
  private static final long WAIT = TimeUnit.MILLISECONDS.toNanos(500);

  /** Requests that may wait at a time; the socket's other threads are for those that do not. */
  private static final int MOST_WAITING = 2;

  private final CheckpointDaemon daemon;
  private final Semaphore waiting = new Semaphore(MOST_WAITING);

  CheckpointCommands(CheckpointDaemon daemon) {
    this.daemon = daemon;
  }

  @Override
  public Map<String, Object> stats() {
    CheckpointSettings settings = daemon.settings();
    Map<String, Object> stats = new LinkedHashMap<>();
    stats.put("name", settings.name());
    stats.put("mountpoint", settings.mountpoint().toString());
    stats.put("store", settings.store().toString());
    stats.put("front", settings.front().toString());
    stats.put("checkpoint", FiguresJson.map(daemon.figures()));
    return stats;
  }

  @Override
  public Map<String, Object> task(Map<String, Object> request) throws IOException {
    Map<String, Object> answer = new LinkedHashMap<>();
    if (request.get("last") instanceof String path) {
      String mountpoint = textOf(daemon.settings().mountpoint().toString());
      List<String> followed = FollowedPath.of(daemon.front(), mountpoint, textOf(path));
      answer.put("missing", !daemon.front().isKnown(followed.get(followed.size() - 1)));
      answer.put("sequence", followed.stream().mapToLong(daemon.front()::lastOf).max().orElse(0));
      answer.put("failures", daemon.persister().failures());
    } else if (request.get("await") instanceof Number sequence
        && request.get("failures") instanceof Number failures) {
      answer.putAll(await(sequence.longValue(), failures.longValue()));
    } else if (Boolean.TRUE.equals(request.get("advice"))) {
      if (request.get("iteration_seconds") instanceof Number seconds) {
        daemon.setIteration(seconds.doubleValue());
      }
      if (request.get("bound") instanceof Number bound) {
        daemon.setBound(bound.doubleValue());
      }
      SaveMeter.Seconds measured = daemon.meter().seconds();
      answer.put("persist_seconds", measured.total());
      answer.put("blocked_seconds", measured.blocked());
      answer.put("work_seconds", measured.work());
      answer.put("bound", daemon.bound());
      answer.putAll(FiguresJson.map(daemon.figures().advice()));
    } else if (Boolean.TRUE.equals(request.get("unmount"))) {
      answer.put("errno", daemon.unmount());
    } else {
      throw unsupported();
    }
    return answer;
  }

  private static String textOf(String path) {
    return FileTree.bytesAsText(path.getBytes(StandardCharsets.UTF_8));
  }

  private Map<String, Object> await(long sequence, long failures) throws FsException {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("durable", false);
    boolean waits = waiting.tryAcquire();
    try {
      answer.put("durable", daemon.persister().await(sequence, waits ? WAIT : 0, failures));
    } catch (ErrnoException e) {
      answer.put("error", String.valueOf(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      if (waits) {
        waiting.release();
      }
    }
    answer.put("waited", waits);
    answer.put("pending_bytes", daemon.figures().pendingBytes());
    return answer;
  }

  @Override
  public void stop() {
    daemon.stop();
  }

  @Override
  public List<Map<String, Object>> peers() {
    return List.of();
  }

  @Override
  public List<Map<String, Object>> config() {
    return List.of();
  }

  @Override
  public long refresh(String path) throws FsException {
    throw unsupported();
  }

  @Override
  public Map<String, Object> order(Map<String, Object> request) throws FsException {
    throw unsupported();
  }

  @Override
  public Map<String, Object> allocation(Map<String, Object> request) throws FsException {
    throw unsupported();
  }

  @Override
  public Runnable restart() throws FsException {
    throw unsupported();
  }

  private static FsException unsupported() {
    return new FsException(
        FsError.UNSUPPORTED, "this is a checkpoint mount, which has no such task");
  }
}
