package io.holdfast.fs.workload;

import io.holdfast.fs.allocate.Allocation;
import io.holdfast.fs.allocate.Allocator;
import io.holdfast.fs.allocate.Objective;
import io.holdfast.fs.allocate.Plan;
import io.holdfast.fs.allocate.PlannedMount;
import io.holdfast.fs.allocate.Rates;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What {@code holdfast allocate} proposes on each node, for an objective, with rates that it knows
 * at once. Each node decides for itself, when a job begins or ends there, or an origin changes. Of
 * an origin that jobs of other nodes read too, it reckons with the part of its own jobs by their
 * number. Memory that would make nobody faster stays where it is. Used for one simulation; not
 * thread-safe.
 */
final class HoldfastPolicy implements MemoryPolicy {
  /** A smaller change of an origin's rate is none, as for {@code --watch}. */
  private static final double NOTABLE = 0.05;

  private final Map<Integer, List<PlannedMount>> seen = new HashMap<>();
  private final String word;
  private final Objective objective;

  HoldfastPolicy(String word, Objective objective) {
    this.word = word;
    this.objective = objective;
  }

  @Override
  public String word() {
    return word;
  }

  @Override
  public void divide(ClusterState state) {
    for (int node = 0; node < state.cluster().nodes(); node++) {
      List<RunningJob> jobs = state.on(node);
      if (jobs.isEmpty()) {
        continue;
      }
      List<PlannedMount> mounts = new ArrayList<>();
      for (RunningJob job : jobs) {
        mounts.add(seenFrom(node, job.mount(), state));
      }
      List<PlannedMount> before = seen.getOrDefault(node, List.of());
      if (isSame(mounts, before)) {
        continue;
      }
      seen.put(node, mounts);
      List<Allocation.Share> shares =
          Allocator.allocate(new Plan(state.cluster().memory(), mounts), objective).mounts();
      divide(state.cluster().memory(), jobs, shares);
    }
  }

  private static void divide(long memory, List<RunningJob> jobs, List<Allocation.Share> shares) {
    double left = (double) memory;
    double surplus = 0;
    for (int i = 0; i < shares.size(); i++) {
      long proposed = shares.get(i).capacities().proposed();
      left -= proposed;
      surplus += Math.max(0, jobs.get(i).capacity() - proposed);
    }
    double kept = surplus > 0 ? Math.min(1, Math.max(0, left) / surplus) : 0;
    for (int i = 0; i < shares.size(); i++) {
      long proposed = shares.get(i).capacities().proposed();
      long more = Math.max(0, jobs.get(i).capacity() - proposed);
      jobs.get(i).setCapacity(proposed + (long) (kept * more));
    }
  }

  private static boolean isSame(List<PlannedMount> mounts, List<PlannedMount> before) {
    for (int i = 0; i < mounts.size() && mounts.size() == before.size(); i++) {
      double rate = (double) mounts.get(i).rates().origin();
      if (!mounts.get(i).name().equals(before.get(i).name())
          || Math.abs(rate - before.get(i).rates().origin()) > NOTABLE * rate) {
        return false;
      }
    }
    return mounts.size() == before.size();
  }

  private static PlannedMount seenFrom(int node, PlannedMount mount, ClusterState state) {
    Rates rates = mount.rates();
    String origin = rates.sharedOrigin();
    if (origin == null) {
      return mount;
    }
    long here = 0;
    long all = 0;
    for (RunningJob job : state.readers(origin)) {
      long readers = job.mount().rates().readers();
      here += job.node() == node ? readers : 0;
      all += readers;
    }
    double rate = (double) rates.origin() * here / all;
    return new PlannedMount(
        mount.name(),
        mount.dataset(),
        rates.withOrigin(Math.max(1, Math.round(rate))),
        mount.capacity());
  }
}
