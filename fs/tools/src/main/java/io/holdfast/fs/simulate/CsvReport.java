package io.holdfast.fs.simulate;

import io.holdfast.policy.simulator.Run;
import java.util.ArrayList;
import java.util.List;

/** A report with a line for each epoch of each run. No value needs quotes. Stateless. */
final class CsvReport {
  private static final List<String> COLUMNS =
      List.of(
          "policy",
          "capacity",
          "capacity_share",
          "nodes",
          "jobs",
          "order",
          "epoch",
          "hit_ratio",
          "byte_hit_ratio",
          "memory_bytes",
          "peer_bytes",
          "origin_bytes");

  private static final String PUSHED_COLUMN = "pushed_bytes";

  private static final List<String> TIME_COLUMNS = List.of("seconds", "speed");

  private CsvReport() {}

  static String of(Report report) {
    StringBuilder text = new StringBuilder();
    List<String> heading = new ArrayList<>(COLUMNS);
    if (report.hasPushes()) {
      heading.add(PUSHED_COLUMN);
    }
    if (report.prediction() != null) {
      heading.addAll(TIME_COLUMNS);
    }
    text.append(String.join(",", heading)).append('\n');
    for (Run run : report.runs()) {
      for (Run.Epoch epoch : run.epochs()) {
        text.append(line(report, run, epoch)).append('\n');
      }
    }
    return text.toString();
  }

  private static String line(Report report, Run run, Run.Epoch epoch) {
    List<Object> values = new ArrayList<>();
    values.add(run.policy());
    values.add(run.capacity());
    values.add(report.share(run));
    values.add(run.scenario().cluster().nodes());
    values.add(run.scenario().jobs());
    values.add(run.scenario().order().name());
    values.add(epoch.epoch());
    values.add(epoch.hitRatio());
    values.add(epoch.byteHitRatio());
    values.add(epoch.memoryBytes());
    values.add(epoch.peerBytes());
    values.add(epoch.originBytes());
    if (report.hasPushes()) {
      values.add(epoch.pushedBytes());
    }
    Prediction prediction = report.prediction();
    if (prediction != null) {
      values.add(prediction.seconds(epoch));
      values.add(prediction.speed(epoch));
    }
    return String.join(",", values.stream().map(Object::toString).toList());
  }
}
