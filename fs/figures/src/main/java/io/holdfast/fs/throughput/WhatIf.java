package io.holdfast.fs.throughput;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/**
 * The speed of a job if something were other than it is. Immutable.
 *
 * @param value what it would be: the share of the dataset in each node's memory for {@link
 *     Change#CAPACITY} and {@link Change#WARM}, a number of nodes or readers, or how many times as
 *     fast
 * @param speed bytes per second
 * @param isAtLeast whether the speed may also be higher, and the time lower: it depends on an
 *     origin whose rate is not told
 * @param epochSeconds of the mean epoch; of the first one for {@link Change#WARM}
 */
public record WhatIf(
    Change change, double value, double speed, boolean isAtLeast, double epochSeconds) {
  /** What would be other. */
  public enum Change {
    /** The memory of each node. */
    CAPACITY,
    /** Nodes that share the dataset, with as much memory each. */
    NODES,
    /** The origin. */
    ORIGIN,
    /** Processes that read. */
    WORKERS,
    /** What takes the files. */
    ACCELERATOR,
    /** The dataset is brought into memory before the job begins. */
    WARM;

    /** Returns the word for people and programs. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** DS-Analyzer's steps. */
  private static final int STEPS = 20;

  /** Returns all changes whose effect can be told. */
  public static List<WhatIf> all(JobModel model) {
    List<WhatIf> all = new ArrayList<>();
    Setup now = model.setup();
    for (int i = 0; i <= STEPS; i++) {
      double share = (double) i / STEPS;
      add(all, model, Change.CAPACITY, share, now.withCapacityShare(share));
    }
    int nodes = now.nodes();
    List.of(nodes + 1, 2 * nodes, 4 * nodes).stream()
        .distinct()
        .forEach(each -> add(all, model, Change.NODES, each, now.withNodes(each)));
    add(all, model, Change.ORIGIN, 2, now.withOriginFactor(2));
    if (model.now().epoch().readers() > 0) {
      addWorkers(all, model, now);
    }
    add(all, model, Change.ACCELERATOR, 2, now.withAcceleratorFactor(2));
    add(all, model, Change.WARM, now.hitShare(), now);
    return List.copyOf(all);
  }

  private static void addWorkers(List<WhatIf> all, JobModel model, Setup now) {
    int readers = now.readers();
    if (readers > 1) {
      int half = readers / 2;
      add(all, model, Change.WORKERS, half, now.withReaders(half));
    }
    add(all, model, Change.WORKERS, 2.0 * readers, now.withReaders(2 * readers));
  }

  private static void add(
      List<WhatIf> all, JobModel model, Change change, double value, Setup with) {
    OptionalDouble speed = model.speed(with);
    speed.ifPresent(
        told ->
            all.add(
                new WhatIf(
                    change,
                    value,
                    told,
                    model.isAtLeast(with),
                    model.now().epoch().bytes() / told)));
  }
}
