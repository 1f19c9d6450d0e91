package io.holdfast.fs.stats;

import io.holdfast.fs.linux.Linux;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * What /proc says of processes. Nothing is kept; a process that is gone, or of another pid
 * namespace, has no answers. Thread-safe.
 */
final class Processes {
  /**
   * How long an environment is waited for: the kernel shows it only while nobody changes the
   * process's mappings, and who does may wait for a page of the mount, and so for whoever asks.
   */
  private static final int ENVIRONMENT_MILLIS = 100;

  private static final int ENVIRONMENT_THREADS = 4;
  private static final int IDLE_SECONDS = 10;

  private static final String PROCESS_LINE = "\nTgid:";

  /** In /proc/PID/stat, behind the command: 0 state, 1 parent, 3 session, 19 time of the start. */
  private static final int PARENT = 1;

  private static final int SESSION = 3;
  private static final int STARTED = 19;

  /** Bytes of an answer; an environment may be larger. */
  private static final int MOST = 256 << 10;

  private final Path proc;
  private final ExecutorService environments =
      new ThreadPoolExecutor(
          0,
          ENVIRONMENT_THREADS,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          Processes::thread);

  Processes(Path proc) {
    this.proc = proc;
  }

  private static Thread thread(Runnable task) {
    Thread thread = new Thread(task, "environment");
    thread.setDaemon(true);
    return thread;
  }

  /**
   * A process.
   *
   * @param command its name, at most 15 letters
   * @param parent the process that started it, or that has it now
   * @param session the process that leads its session
   * @param started when it was started, in ticks since the machine was: tells it from others that
   *     have had its number
   */
  record ProcessInfo(int pid, String command, int parent, int session, long started) {
    boolean isSessionLeader() {
      return session == pid;
    }
  }

  /** Returns the process that a thread belongs to, or 0 where it is gone. */
  int processOf(int thread) {
    String status = thread == 0 ? "" : text(thread, "status");
    int at = status.indexOf(PROCESS_LINE);
    int end = status.indexOf('\n', at + 1);
    return at < 0 || end < 0
        ? 0
        : Integer.parseInt(status.substring(at + PROCESS_LINE.length(), end).strip());
  }

  /** Returns a process, or null where it is gone. */
  @Nullable ProcessInfo process(int pid) {
    String stat = text(pid, "stat");
    int open = stat.indexOf('(');
    int close = stat.lastIndexOf(')');
    if (open < 0 || close < open) {
      return null;
    }
    String[] fields = stat.substring(close + 1).strip().split(" ", -1);
    return fields.length <= STARTED
        ? null
        : new ProcessInfo(
            pid,
            stat.substring(open + 1, close),
            Integer.parseInt(fields[PARENT]),
            Integer.parseInt(fields[SESSION]),
            Long.parseLong(fields[STARTED]));
  }

  /** Returns the lines of a process's control groups; none where it is gone. */
  List<String> cgroups(int pid) {
    return text(pid, "cgroup").lines().toList();
  }

  /**
   * Returns a variable of the environment that a process was started with; null where there is
   * none, or it cannot be had in time.
   */
  @Nullable String variable(int pid, String name) {
    String all = "\0" + environment(pid);
    String before = "\0" + name + "=";
    int at = all.indexOf(before);
    if (at < 0) {
      return null;
    }
    int end = all.indexOf('\0', at + before.length());
    return all.substring(at + before.length(), end < 0 ? all.length() : end);
  }

  private String environment(int pid) {
    try {
      return environments
          .submit(() -> text(pid, "environ"))
          .get(ENVIRONMENT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException | RejectedExecutionException e) {
      return "";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "";
    }
  }

  private String text(int process, String file) {
    String path = proc.resolve(Integer.toString(process)).resolve(file).toString();
    return new String(Linux.head(path, MOST), StandardCharsets.UTF_8);
  }
}
