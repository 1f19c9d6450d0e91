package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Asks a mount what jobs wait for whose bottleneck is known: Python with two worker processes. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
class JobSplitIT {
  @RegisterExtension
  @Order(1)
  static final Bucket bucket = new Bucket();

  private static final int FILES = 600;
  private static final int FILE_BYTES = 4 << 10;
  private static final int WORKERS = 2;
  private static final int FEWEST_OPENS = 20;

  /** How long each request to the store takes. */
  private static final Duration DELAY = Duration.ofMillis(5);

  /** The CPU time of a file, and the time that the consumer of both workers takes for one. */
  private static final double BURN = 0.06;

  private static final double CONSUME = 0.1;

  /** The time of readers after which a verdict must be right. */
  private static final double ENOUGH = 4;

  private static final Duration DEADLINE = Duration.ofSeconds(60);

  /**
   * Workers that read all files again and again, burn CPU time for each, and put something into a
   * queue with room for two a worker, which the main process takes its time to empty. Ends with its
   * input.
   */
  private static final String JOB =
      """
      import multiprocessing, os, sys, threading, time

      root, workers, burn, consume = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
      paths = [os.path.join(root, name) for name in sys.argv[5:]]

      def work(number, queue):
          while True:
              for path in paths[number::workers]:
                  with open(path, "rb") as file:
                      size = len(file.read())
                  end = time.process_time() + burn
                  while time.process_time() < end:
                      pass
                  queue.put(size)

      queue = multiprocessing.Queue(2 * workers)
      for number in range(workers):
          multiprocessing.Process(target=work, args=(number, queue), daemon=True).start()

      def end():
          sys.stdin.read()
          for worker in multiprocessing.active_children():
              worker.kill()
          os._exit(0)

      threading.Thread(target=end).start()
      print("started", flush=True)
      while True:
          queue.get()
          time.sleep(consume)
      """;

  @RegisterExtension
  @Order(2)
  final Sandbox sandbox = new Sandbox();

  @Test
  void jobs_withAKnownBottleneck_areToldByIt() {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), FILES, i -> FILE_BYTES);
    bucket.putAll("split", dataset);
    String[] options = {"--policy", "none", "--window", "0", "--job-by", "env:JOB"};
    Mount mount = bucket.mount(sandbox, "split", options);
    mount.awaitStats("the scan's end", s -> Boolean.TRUE.equals(s.at("dataset.scanned")));
    bucket.proxy().delay(DELAY);

    Stats fetching = run(mount, dataset, "fetching", 0, 0);
    Stats burning = run(mount, dataset, "burning", BURN, 0);
    Stats consumed = run(mount, dataset, "consumed", 0, CONSUME);
    bucket.proxy().delay(Duration.ZERO);

    assertThat(fetching.at("verdict")).as("%s", fetching).isEqualTo("storage");
    assertThat(share(fetching, "fetch_origin")).isGreaterThan(0.5);
    assertThat(burning.at("verdict")).as("%s", burning).isEqualTo("preparation");
    assertThat(share(burning, "preparation")).isGreaterThan(0.5);
    assertThat(consumed.at("verdict")).as("%s", consumed).isEqualTo("accelerator");
    assertThat(share(consumed, "back_pressure")).isGreaterThan(0.5);
    for (Stats job : List.of(fetching, burning, consumed)) {
      Stats epoch = last(job);
      assertThat(epoch.number("readers")).as("%s", job).isEqualTo(WORKERS);
      assertThat(real(epoch, "origin_stall_seconds")).isEqualTo(real(epoch, "stall_seconds"));
      assertThat(epoch.number("peer_bytes")).isZero();
      assertThat(epoch.number("bytes")).isEqualTo(epoch.number("opens") * FILE_BYTES);
      double sum =
          share(job, "fetch_origin")
              + share(job, "fetch_peer")
              + share(job, "preparation")
              + share(job, "back_pressure");
      assertThat(sum).isCloseTo(1, within(1e-9));
    }
    assertThat(sandbox.holdfast("stats", "--jobs", mount.name()).mustSucceed().out())
        .containsPattern("fetching +storage +its readers are blocked by fetches \\d+ %")
        .containsPattern("burning +preparation +its readers work")
        .containsPattern("consumed +accelerator +its readers wait \\d+ %");
  }

  /** Runs a job until enough was seen of it, and returns its figures then. */
  private Stats run(Mount mount, Dataset dataset, String name, double burn, double consume) {
    List<String> command = new ArrayList<>(List.of("python3", "-c", JOB));
    command.add(mount.mountpoint().toString());
    command.addAll(
        List.of(Integer.toString(WORKERS), Double.toString(burn), Double.toString(consume)));
    command.addAll(dataset.files());
    Child job = sandbox.start(Map.of("JOB", name), command);
    job.awaitLine(1, DEADLINE);
    Stats stats = mount.awaitStats("the job " + name, s -> hasShownEnough(s, name));
    job.closeInput();
    job.await(DEADLINE).mustSucceed();
    return job(stats, name);
  }

  private static boolean hasShownEnough(Stats stats, String name) {
    return stats.list("jobs.jobs").stream()
        .filter(job -> name.equals(job.at("job")))
        .flatMap(job -> job.list("epochs").stream())
        .anyMatch(
            epoch ->
                epoch.at("reader_seconds") instanceof Number seconds
                    && seconds.doubleValue() >= ENOUGH
                    && epoch.number("opens") >= FEWEST_OPENS);
  }

  private static Stats job(Stats stats, String name) {
    return stats.list("jobs.jobs").stream()
        .filter(job -> name.equals(job.at("job")))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no job " + name + " in " + stats));
  }

  /** Returns the epoch of a job of which enough was seen. */
  private static Stats last(Stats job) {
    List<Stats> epochs = job.list("epochs");
    return epochs.stream()
        .filter(epoch -> epoch.at("reader_seconds") instanceof Number)
        .max(Comparator.comparingDouble(epoch -> real(epoch, "reader_seconds")))
        .orElseThrow(() -> new AssertionError("no epoch with readers in " + job));
  }

  private static double share(Stats job, String part) {
    return real(last(job), "shares." + part);
  }

  private static double real(Stats stats, String key) {
    if (stats.at(key) instanceof Number number) {
      return number.doubleValue();
    }
    throw new AssertionError("no " + key + " in " + stats);
  }
}
