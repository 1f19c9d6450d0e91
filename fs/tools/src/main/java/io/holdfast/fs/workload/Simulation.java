package io.holdfast.fs.workload;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalInt;

/**
 * Plays a workload under a policy. Time goes from event to event: a job arrives, ends, or begins a
 * pass with other hits than before. Between events all speeds are constant.
 *
 * <p>As in Synergy's simulator (Mohan et al., "Looking Beyond GPUs for DNN Scheduling on
 * Multi-Tenant Clusters", OSDI 2022, section 5) the speed of a job is that of its model, and jobs
 * begin in the order in which they arrive. Deviation: memory is empty at first, and memory that a
 * job gets is filled by what it misses. Synergy's jobs have their speed at once.
 *
 * <p>Cost: events times the jobs that run. Used once; not thread-safe.
 */
public final class Simulation {
  private final Workload workload;
  private final MemoryPolicy policy;
  private final ClusterState state;
  private final List<Job> waiting = new ArrayList<>();
  private final Outcome.Ended[] ended;
  private final List<Outcome.Speed> speeds = new ArrayList<>();
  private double now;

  private Simulation(Workload workload, MemoryPolicy policy) {
    this.workload = workload;
    this.policy = policy;
    this.state = new ClusterState(workload.cluster());
    this.ended = new Outcome.Ended[workload.jobs().size()];
  }

  /**
   * Plays it.
   *
   * @param policy from {@link MemoryPolicies#WORDS}
   */
  public static Outcome run(Workload workload, String policy) {
    return new Simulation(workload, MemoryPolicies.of(policy)).run();
  }

  private Outcome run() {
    List<Job> coming = new ArrayList<>(workload.jobs());
    coming.sort(Comparator.comparingDouble(Job::arrival));
    while (!coming.isEmpty() || !waiting.isEmpty() || !state.running().isEmpty()) {
      if (state.running().isEmpty() && waiting.isEmpty()) {
        now = coming.get(0).arrival();
      }
      while (!coming.isEmpty() && coming.get(0).arrival() <= now) {
        waiting.add(coming.remove(0));
      }
      boolean hasEnded = end();
      if (begin() || hasEnded) {
        policy.divide(state);
      }
      if (!state.running().isEmpty()) {
        advance(coming.isEmpty() ? Double.POSITIVE_INFINITY : coming.get(0).arrival());
      }
    }
    return new Outcome(policy.word(), List.of(ended), speeds);
  }

  private boolean end() {
    boolean any = false;
    for (Iterator<RunningJob> all = state.running().iterator(); all.hasNext(); ) {
      RunningJob each = all.next();
      if (each.hasEnded()) {
        all.remove();
        ended[workload.jobs().indexOf(each.job())] =
            new Outcome.Ended(each.job(), each.node(), each.begin(), now);
        any = true;
      }
    }
    if (state.running().isEmpty()) {
      speeds.add(new Outcome.Speed(now, 0));
    }
    return any;
  }

  private boolean begin() {
    boolean any = false;
    for (Iterator<Job> all = waiting.iterator(); all.hasNext(); ) {
      Job job = all.next();
      OptionalInt node = policy.place(job, state);
      if (node.isPresent()) {
        all.remove();
        state.running().add(new RunningJob(job, node.getAsInt(), now));
        any = true;
      } else if (!policy.overtakes()) {
        break;
      }
    }
    return any;
  }

  private void advance(double nextArrival) {
    double[] all = policy.speeds(state);
    double total = 0;
    double until = nextArrival - now;
    for (int i = 0; i < all.length; i++) {
      RunningJob each = state.running().get(i);
      each.setSpeed(all[i]);
      total += all[i];
      until = Math.min(until, each.untilNext());
    }
    speeds.add(new Outcome.Speed(now, total));
    double seconds = until;
    state.running().forEach(each -> each.run(seconds));
    now = until == nextArrival - now ? nextArrival : now + until;
  }
}
