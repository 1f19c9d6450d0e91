package io.holdfast.docs;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** One run of {@code holdfast simulate}, in a process of its own as a user has it. Immutable. */
final class Simulation {
  /** Epochs of which means are taken: the last ones, when the page cache has settled. */
  private static final int SETTLED = 4;

  private final List<Run> runs;

  private Simulation(List<Run> runs) {
    this.runs = runs;
  }

  /**
   * The result of one policy at one capacity: means of the last epochs; bytes are shares of the
   * bytes that one job reads in an epoch.
   */
  record Run(
      String policy,
      int percent,
      double hitRatio,
      double peerShare,
      double originShare,
      double pushedShare) {}

  /**
   * Runs a command.
   *
   * @param options of it, as one would type them
   */
  static Simulation of(String options) {
    return of(options, SETTLED);
  }

  /**
   * Runs a command.
   *
   * @param settled of how many epochs, the last ones, means are taken
   */
  static Simulation of(String options, int settled) {
    List<String> words = new ArrayList<>(List.of(options.split(" ", -1)));
    words.add("--json");
    try {
      List<Run> runs = new ArrayList<>();
      for (Object run : (List<?>) JSON.std.mapFrom(run(words)).get("runs")) {
        runs.add(read((Map<?, ?>) run, settled));
      }
      return new Simulation(runs);
    } catch (IOException e) {
      throw new IllegalStateException("holdfast simulate " + options, e);
    }
  }

  /** Draws a plot. */
  static void plot(String options, Path file) {
    List<String> words = new ArrayList<>(List.of(options.split(" ", -1)));
    words.addAll(List.of("--json", "--plot", file.toString()));
    run(words);
  }

  /** Returns the run of a policy at a capacity, in percent of the dataset. */
  Run at(String policy, int percent) {
    return runs.stream()
        .filter(run -> run.policy().equals(policy) && run.percent() == percent)
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException(policy + " at " + percent + "%"));
  }

  private static String run(List<String> words) {
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // over before the second compiler's work is paid back
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-Djava.awt.headless=true", "-cp", classPath));
    command.addAll(List.of("io.holdfast.fs.cli.Holdfast", "simulate"));
    command.addAll(words);
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      String out = new String(process.getInputStream().readAllBytes(), UTF_8);
      if (process.waitFor() != 0) {
        throw new IllegalStateException("failed: holdfast simulate " + words);
      }
      return out;
    } catch (IOException e) {
      throw new IllegalStateException("holdfast simulate " + words, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private static Run read(Map<?, ?> run, int last) {
    List<?> epochs = (List<?>) run.get("epochs");
    List<?> settled = epochs.subList(Math.max(0, epochs.size() - last), epochs.size());
    // a share of one job's bytes; the report has the bytes of all jobs
    double jobs = number(run, "jobs");
    return new Run(
        String.valueOf(run.get("policy")),
        (int) Math.round(100 * number(run, "capacity_share")),
        mean(settled, epoch -> number(epoch, "hit_ratio")),
        mean(settled, epoch -> jobs * share(epoch, "peer")),
        mean(settled, epoch -> jobs * share(epoch, "origin")),
        mean(settled, epoch -> jobs * share(epoch, "pushed")));
  }

  private static double mean(List<?> epochs, ToDoubleFunction<Map<?, ?>> figure) {
    return epochs.stream()
        .mapToDouble(epoch -> figure.applyAsDouble((Map<?, ?>) epoch))
        .average()
        .orElseThrow();
  }

  private static double share(Map<?, ?> epoch, String source) {
    Map<?, ?> bytes = (Map<?, ?>) epoch.get("bytes");
    double all = number(bytes, "memory") + number(bytes, "peer") + number(bytes, "origin");
    // only nodes that know the orders push
    return bytes.containsKey(source) ? number(bytes, source) / all : 0;
  }

  private static double number(Map<?, ?> map, String key) {
    return ((Number) map.get(key)).doubleValue();
  }
}
