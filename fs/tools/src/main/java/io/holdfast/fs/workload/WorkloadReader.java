package io.holdfast.fs.workload;

import io.holdfast.fs.allocate.PlanObject;
import io.holdfast.fs.allocate.PlanReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Reads a workload from an object as JSON has it. Stateless. */
public final class WorkloadReader {
  private static final String MEMORY = "memory_bytes";
  private static final String NODES = "nodes";
  private static final String ACCELERATORS = "accelerators";
  private static final String JOBS = "jobs";
  private static final String ARRIVAL = "arrival_seconds";
  private static final String EPOCHS = "epochs";

  private static final int MOST_NODES = 1000;
  private static final int MOST_JOBS = 500;
  private static final int MOST_EPOCHS = 1_000_000;
  private static final int MOST_ACCELERATORS = 1_000_000;

  /** A hundred years. */
  private static final long MOST_SECONDS = 3_155_760_000L;

  private WorkloadReader() {}

  /**
   * Reads a workload.
   *
   * @param json an object, with numbers as they are written
   * @throws IllegalArgumentException with one line that names the key and says what to do
   */
  public static Workload read(Map<?, ?> json) {
    PlanObject all = new PlanObject("", json);
    all.requireKnown(List.of(MEMORY, NODES, ACCELERATORS, JOBS));
    Cluster cluster =
        new Cluster(
            (int) all.whole(NODES, 1, MOST_NODES, 1),
            all.whole(MEMORY, 1, Long.MAX_VALUE),
            (int) all.whole(ACCELERATORS, 1, MOST_ACCELERATORS, Cluster.UNBOUNDED));
    List<?> list = all.list(JOBS, "jobs");
    if (list.isEmpty() || list.size() > MOST_JOBS) {
      throw new IllegalArgumentException(
          "%s has %,d elements: give from 1 to %,d jobs".formatted(JOBS, list.size(), MOST_JOBS));
    }
    List<Job> jobs = new ArrayList<>();
    for (int i = 0; i < list.size(); i++) {
      jobs.add(job(PlanObject.of(JOBS + "[" + i + "]", "job", list.get(i))));
    }
    return new Workload(cluster, jobs);
  }

  private static Job job(PlanObject unnamed) {
    PlanObject job = unnamed.named(unnamed.text(PlanReader.NAME));
    List<String> known = new ArrayList<>(PlanReader.SPEED_KEYS);
    known.addAll(List.of(ARRIVAL, EPOCHS, ACCELERATORS));
    job.requireKnown(known);
    long accelerators = job.whole(ACCELERATORS, 1, MOST_ACCELERATORS, 1);
    return new Job(
        PlanReader.unbounded(job, accelerators),
        (double) job.whole(ARRIVAL, 0, MOST_SECONDS, 0),
        (int) job.whole(EPOCHS, 1, MOST_EPOCHS),
        (int) accelerators);
  }
}
