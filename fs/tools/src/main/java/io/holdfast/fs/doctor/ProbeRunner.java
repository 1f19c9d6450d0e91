package io.holdfast.fs.doctor;

import io.holdfast.fs.linux.NamedThreads;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs probes side by side, each on a thread of its own, and gives up those that have not ended in
 * time. Leaves their threads behind, which do not keep the process from ending. Thread-safe.
 */
final class ProbeRunner {
  private final Duration deadline;

  /**
   * Creates a runner.
   *
   * @param deadline the time for all probes together
   */
  ProbeRunner(Duration deadline) {
    this.deadline = deadline;
  }

  /** A probe and its scope. */
  record Task(String scope, Probe probe) {}

  /** Returns the findings of the probes, in the order of the probes. */
  List<Diagnosis> run(List<Task> tasks) {
    long end = System.nanoTime() + deadline.toNanos();
    List<CompletableFuture<List<Finding>>> running = new ArrayList<>();
    tasks.forEach(task -> running.add(start(task.probe())));
    List<Diagnosis> report = new ArrayList<>();
    for (int i = 0; i < tasks.size(); i++) {
      Task task = tasks.get(i);
      for (Finding finding : await(running.get(i), end)) {
        report.add(new Diagnosis(task.scope(), task.probe().name(), finding));
      }
    }
    return report;
  }

  private static CompletableFuture<List<Finding>> start(Probe probe) {
    CompletableFuture<List<Finding>> result = new CompletableFuture<>();
    NamedThreads.start(
        "probe " + probe.name(),
        () -> {
          try {
            result.complete(probe.run());
          } catch (IOException | InterruptedException | RuntimeException e) {
            result.completeExceptionally(e);
          }
        });
    return result;
  }

  private List<Finding> await(CompletableFuture<List<Finding>> result, long end) {
    try {
      return result.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      return List.of(Finding.warn("no answer in " + deadline.toSeconds() + " s", ""));
    } catch (ExecutionException e) {
      return List.of(Finding.warn("could not be looked at: " + e.getCause(), ""));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return List.of(Finding.warn("interrupted", ""));
    }
  }
}
