package io.holdfast.chaos;

import io.holdfast.it.Cluster;
import io.holdfast.it.Mount;
import io.holdfast.it.ProcessTable;
import io.holdfast.it.Sandbox;
import io.holdfast.it.Stats;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Looks all the time at what must hold: the readers' reports, that daemons answer in time, that
 * none takes more memory than it may, and that nobody sleeps for ever. Ended by {@link #end}.
 */
final class Watch {
  private static final long PERIOD_MILLIS = 500;
  private static final Duration ANSWER = Duration.ofSeconds(1);
  private static final Duration LAST_ROUND = Duration.ofSeconds(30);

  /**
   * A script that prints the stack of each thread of a process in the kernel and, if possible, in
   * Java.
   */
  private static final String THREADS =
      """
      for thread in /proc/$1/task/*; do
        echo "$thread: $(cat "$thread/comm") $(cat "$thread/wchan") $(cat "$thread/syscall")"
        cat "$thread/stack"
      done
      timeout 5 "$2" "$1" Thread.print
      """;

  /** How long a daemon that was away may be busy with coming back. */
  private static final long RECOVERY_MILLIS = 5000;

  private final Cluster cluster;
  private final Limits limits;
  private final Timeline timeline;
  private final Findings findings;
  private final VerifyingReaders readers;
  private final SleepWatch sleeps;
  private final AtomicLongArray peaks;
  private final AtomicLongArray slowestAnswers;
  private final Sandbox sandbox;
  private final AtomicBoolean described = new AtomicBoolean();
  private final ExecutorService askers =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "asker");
            thread.setDaemon(true);
            return thread;
          });
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean ended;

  /** The bytes that a daemon may take; {@code memory} is everything but the page cache. */
  record Limits(long capacity, long transit, long memory) {}

  Watch(VerifyingReaders.Setting setting, VerifyingReaders readers, Limits limits) {
    sandbox = setting.sandbox();
    cluster = setting.cluster();
    timeline = setting.timeline();
    findings = setting.findings();
    this.readers = readers;
    this.limits = limits;
    sleeps = new SleepWatch(sandbox.id(), findings);
    int nodes = cluster.nodes().size();
    peaks = new AtomicLongArray(nodes);
    slowestAnswers = new AtomicLongArray(nodes);
    start("processes", this::lookAtProcesses);
    for (int node = 0; node < nodes; node++) {
      int each = node;
      start("node " + node, () -> ask(each));
    }
  }

  private void start(String name, Runnable look) {
    Thread thread =
        new Thread(
            () -> {
              while (!ended) {
                try {
                  look.run();
                  TimeUnit.MILLISECONDS.sleep(PERIOD_MILLIS);
                } catch (InterruptedException e) {
                  return;
                } catch (RuntimeException e) {
                  findings.violation("the watch of " + name + " failed: " + e);
                  return;
                }
              }
            },
            "watch of " + name);
    thread.setDaemon(true);
    thread.start();
    threads.add(thread);
  }

  private void lookAtProcesses() {
    readers.listen();
    long now = System.currentTimeMillis();
    if (timeline.wasAny(FaultKind::freezes, Timeline.ANY_NODE, now, now, RECOVERY_MILLIS)) {
      sleeps.heldUp();
    }
    sleeps.look();
  }

  private void ask(int node) {
    Mount mount = cluster.node(node).mount();
    long begin = System.currentTimeMillis();
    Future<Stats> answer = askers.submit(mount::stats);
    String trouble = "";
    try {
      check(node, answer.get(ANSWER.toMillis(), TimeUnit.MILLISECONDS));
    } catch (TimeoutException e) {
      trouble = "no answer within " + ANSWER;
    } catch (ExecutionException e) {
      trouble = String.valueOf(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    long end = System.currentTimeMillis();
    if (timeline.wasAny(FaultKind::silencesDaemon, node, begin, end, RECOVERY_MILLIS)) {
      return;
    }
    slowestAnswers.accumulateAndGet(node, end - begin, Math::max);
    if (!trouble.isEmpty()) {
      findings.violation("stats of node " + node + ": " + trouble);
      describe(mount.pid());
    }
  }

  /** Has the first daemon that is stuck described, in the output of a command. */
  private void describe(long pid) {
    if (!described.getAndSet(true)) {
      String jcmd = Path.of(System.getProperty("java.home"), "bin/jcmd").toString();
      sandbox.command("sh", "-c", THREADS, "sh", Long.toString(pid), jcmd);
    }
  }

  private void check(int node, Stats stats) {
    Mount mount = cluster.node(node).mount();
    long memory = ProcessTable.statusBytes(mount.pid(), "RssAnon");
    peaks.accumulateAndGet(node, memory, Math::max);
    limit(node, "anonymous memory", memory, limits.memory());
    limit(node, "transit", stats.number("transit.used_bytes"), limits.transit());
    limit(node, "residents", stats.residentBytes(), limits.capacity());
  }

  private void limit(int node, String what, long bytes, long most) {
    if (bytes > most) {
      findings.violation("%s of node %d: %d bytes, of %d".formatted(what, node, bytes, most));
    }
  }

  void end() {
    ended = true;
    try {
      for (Thread thread : threads) {
        thread.join(LAST_ROUND.toMillis());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    askers.shutdownNow();
  }

  String summary() {
    StringBuilder text = new StringBuilder();
    for (int node = 0; node < peaks.length(); node++) {
      text.append(
          "node %d: peak of anonymous memory %d MB of %d, slowest stats %d ms%n"
              .formatted(
                  node,
                  peaks.get(node) / 1_000_000,
                  limits.memory() / 1_000_000,
                  slowestAnswers.get(node)));
    }
    return text.toString();
  }
}
