package io.holdfast.fs.simulate;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.policy.simulator.Run;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** A report as one JSON object, {@code {"runs": [...]}}. Stateless. */
final class JsonReport {
  private JsonReport() {}

  static String of(Report report) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("runs", report.runs().stream().map(run -> run(report, run)).toList());
    Prediction prediction = report.prediction();
    if (prediction != null) {
      object.put("sufficient_capacity", prediction.sufficientCapacity());
    }
    try {
      return JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(object);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Map<String, Object> run(Report report, Run run) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("policy", run.policy());
    object.put("capacity", run.capacity());
    object.put("capacity_share", report.share(run));
    object.put("nodes", run.scenario().cluster().nodes());
    object.put("jobs", run.scenario().jobs());
    object.put("order", run.scenario().order().name());
    object.put("epochs", run.epochs().stream().map(epoch -> epoch(report, epoch)).toList());
    return object;
  }

  private static Map<String, Object> epoch(Report report, Run.Epoch epoch) {
    Map<String, Object> bytes = new LinkedHashMap<>();
    bytes.put("memory", epoch.memoryBytes());
    bytes.put("peer", epoch.peerBytes());
    bytes.put("origin", epoch.originBytes());
    if (report.hasPushes()) {
      bytes.put("pushed", epoch.pushedBytes());
    }
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("epoch", epoch.epoch());
    object.put("hit_ratio", epoch.hitRatio());
    object.put("byte_hit_ratio", epoch.byteHitRatio());
    object.put("bytes", bytes);
    Prediction prediction = report.prediction();
    if (prediction != null) {
      object.put("seconds", prediction.seconds(epoch));
      object.put("speed", prediction.speed(epoch));
    }
    return object;
  }
}
