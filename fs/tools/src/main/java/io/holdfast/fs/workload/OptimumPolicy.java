package io.holdfast.fs.workload;

import io.holdfast.fs.allocate.SharedOrigins;
import io.holdfast.fs.allocate.Split;
import java.util.Arrays;
import java.util.List;

/**
 * The most that the jobs that run could read together, if all nodes were one and what an origin
 * gives could be divided at will: a bound that no division reaches, see {@link LinearProgram}. As
 * for the others, nobody is slower than with the fair share.
 */
final class OptimumPolicy implements MemoryPolicy {
  static final String WORD = "optimum";

  @Override
  public String word() {
    return WORD;
  }

  @Override
  public void divide(ClusterState state) {
    List<RunningJob> running = state.running();
    if (running.isEmpty()) {
      return;
    }
    long[] shares = new long[running.size()];
    for (int node = 0; node < state.cluster().nodes(); node++) {
      List<RunningJob> jobs = state.on(node);
      long[] parts = ProportionalPolicy.shares(state, jobs);
      for (int i = 0; i < parts.length; i++) {
        shares[running.indexOf(jobs.get(i))] = parts[i];
      }
    }
    Split fair = new SharedOrigins(ClusterState.plan(Long.MAX_VALUE, running)).ofUseful(shares);
    LinearProgram program = program(running, fair);
    program.limitMemory((double) state.cluster().memory() * state.cluster().nodes());
    List<Double> parts = program.solve().shares();
    for (int i = 0; i < parts.size(); i++) {
      running.get(i).setCapacity((long) Math.ceil(parts.get(i) * running.get(i).mount().dataset()));
    }
  }

  @Override
  public double[] speeds(ClusterState state) {
    List<RunningJob> running = state.running();
    long[] residents = running.stream().mapToLong(each -> (long) each.resident()).toArray();
    LinearProgram program =
        program(
            running, new SharedOrigins(ClusterState.plan(Long.MAX_VALUE, running)).of(residents));
    for (int i = 0; i < residents.length; i++) {
      program.limitShare(i, 1 - running.get(i).missShare());
    }
    return program.solve().speeds().stream().mapToDouble(each -> each).toArray();
  }

  /** Returns the program for jobs of which none is to be slower than with a split. */
  private static LinearProgram program(List<RunningJob> running, Split least) {
    double[] floors = new double[running.size()];
    Arrays.setAll(floors, least::speed);
    double[] shares = new double[floors.length];
    Arrays.setAll(
        shares, i -> Math.min(1, (double) least.capacity(i) / running.get(i).mount().dataset()));
    return new LinearProgram(running.stream().map(RunningJob::mount).toList(), shares, floors);
  }
}
