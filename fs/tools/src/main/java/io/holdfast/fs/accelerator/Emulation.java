package io.holdfast.fs.accelerator;

import io.holdfast.fs.linux.NamedThreads;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * A training of some accelerators, for a time. Each has its own data loader, as each process of a
 * distributed training has; the readers of all of them divide each epoch among themselves. Used
 * once, by one thread.
 */
final class Emulation {
  private final Storage storage;
  private final Training training;
  private final int accelerators;
  private final Clock clock;
  private final LongAdder bytesRead = new LongAdder();
  private final AtomicReference<@Nullable IOException> failure = new AtomicReference<>();

  Emulation(Storage storage, Training training, int accelerators, Clock clock) {
    this.storage = storage;
    this.training = training;
    this.accelerators = accelerators;
    this.clock = clock;
  }

  /**
   * The result of a run.
   *
   * @param usages one for each accelerator
   * @param bytesRead all that was read, those of the first steps and of batches ahead included
   */
  record Outcome(List<Accelerator.Usage> usages, long bytesRead) {
    /** Returns the mean AU, from 0 to 1; NaN if an accelerator had no step that counts. */
    double utilization() {
      return usages.stream()
          .mapToDouble(Accelerator.Usage::utilization)
          .average()
          .orElse(Double.NaN);
    }

    /** Returns bytes a second of all accelerators; NaN if one had no step that counts. */
    double bytesPerSecond() {
      return usages.stream().mapToDouble(Accelerator.Usage::bytesPerSecond).sum();
    }
  }

  /**
   * Runs it until the window is over, and waits for all reads to end.
   *
   * @param seed the seed of the orders
   * @throws IOException if a file cannot be read
   */
  Outcome run(long seed, Window window) throws IOException, InterruptedException {
    EpochOrders orders = new EpochOrders(storage.files(), seed);
    List<Accelerator> all = new ArrayList<>();
    ExecutorService threads = Executors.newCachedThreadPool(new NamedThreads("accelerator"));
    try {
      for (int a = 0; a < accelerators; a++) {
        List<Loader> loaders = loaders(a, orders, window);
        Accelerator accelerator = new Accelerator(training.computeNanos(), clock);
        all.add(accelerator);
        loaders.forEach(threads::execute);
        threads.execute(() -> drive(accelerator, loaders, window));
      }
      window.await();
    } finally {
      window.endNow();
      threads.shutdownNow();
      // The caller has a deadline for reads that hang.
      while (!threads.awaitTermination(1, TimeUnit.HOURS)) {}
    }
    IOException failed = failure.get();
    if (failed != null) {
      throw failed;
    }
    return new Outcome(
        all.stream().map(accelerator -> accelerator.usage(window.end())).toList(), bytesRead.sum());
  }

  private List<Loader> loaders(int accelerator, EpochOrders orders, Window window) {
    int readers = accelerators * training.workers();
    List<Loader> loaders = new ArrayList<>();
    for (int worker = 0; worker < training.workers(); worker++) {
      int first = accelerator * training.workers() + worker;
      Loader.Work work = new Loader.Work(first, readers, training.batch(), window);
      loaders.add(
          new Loader(
              storage,
              orders,
              work,
              bytesRead,
              e -> {
                failure.compareAndSet(null, e);
                window.endNow();
              }));
    }
    return loaders;
  }

  private static void drive(Accelerator accelerator, List<Loader> loaders, Window window) {
    try {
      accelerator.run(inTurn(loaders), window);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns the batches of the readers in turn, as PyTorch's DataLoader does by default. */
  private static Batches inTurn(List<Loader> loaders) {
    return new Batches() {
      private int next;

      @Override
      public Batch next() throws InterruptedException {
        Loader loader = loaders.get(next);
        next = (next + 1) % loaders.size();
        return loader.take();
      }
    };
  }
}
