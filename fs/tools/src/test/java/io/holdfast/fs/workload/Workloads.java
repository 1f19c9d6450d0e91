package io.holdfast.fs.workload;

import io.holdfast.fs.allocate.Capacity;
import io.holdfast.fs.allocate.OriginShare;
import io.holdfast.fs.allocate.PlannedMount;
import io.holdfast.fs.allocate.Rates;
import io.holdfast.fs.figures.Bottleneck;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Jobs for tests, with rates in bytes per second. Stateless. */
final class Workloads {
  static final long MB = 1_000_000;
  static final long TB = 1_000_000 * MB;

  /** Memory that takes no time. */
  static final long INSTANT = 1_000_000_000_000_000L;

  private Workloads() {}

  static PlannedMount mount(
      String name, long dataset, @Nullable String origin, long rate, long memory, long demand) {
    return new PlannedMount(
        name,
        dataset,
        new Rates(
            origin == null ? null : new OriginShare(origin, 1),
            rate,
            memory,
            demand,
            Bottleneck.UNKNOWN),
        new Capacity(0, 0, Long.MAX_VALUE, 1));
  }

  static Job job(PlannedMount mount, double arrival, int epochs) {
    return new Job(mount, arrival, epochs, 1);
  }

  static Workload on(int nodes, long memory, int accelerators, Job... jobs) {
    return new Workload(new Cluster(nodes, memory, accelerators), List.of(jobs));
  }

  static Workload onANode(long memory, Job... jobs) {
    return on(1, memory, Cluster.UNBOUNDED, jobs);
  }

  static Outcome.Ended ended(Outcome outcome, String name) {
    return outcome.jobs().stream()
        .filter(each -> each.job().name().equals(name))
        .findFirst()
        .orElseThrow();
  }
}
