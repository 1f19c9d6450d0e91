package io.holdfast.fs.cli;

import io.holdfast.fs.units.Human;
import java.util.Map;
import java.util.stream.Stream;

/** The figures of a checkpoint mount as text. Stateless. */
final class CheckpointText {
  private CheckpointText() {}

  /** Returns the lines. */
  static Stream<String> lines(Map<String, Object> stats) {
    Map<?, ?> figures = stats.get("checkpoint") instanceof Map<?, ?> map ? map : Map.of();
    Map<?, ?> advice = figures.get("advice") instanceof Map<?, ?> map ? map : Map.of();
    String lastError = String.valueOf(figures.get("last_error"));
    return Stream.of(
        "%s: checkpoints of %s".formatted(stats.get("mountpoint"), stats.get("store")),
        "state        " + figures.get("state"),
        "front        %s of %s in %s"
            .formatted(
                bytes(figures, "front_bytes"),
                bytes(figures, "front_capacity_bytes"),
                stats.get("front")),
        "pending      %s in %s, the oldest %.1f s old"
            .formatted(
                bytes(figures, "pending_bytes"),
                Human.count((long) number(figures, "pending_operations"), "operation"),
                number(figures, "oldest_pending_seconds")),
        "persisted    %s, last at %s/s"
            .formatted(
                bytes(figures, "persisted_bytes"), bytes(figures, "persist_bytes_per_second")),
        "writers      %.0f waiting for room".formatted(number(figures, "waiting_writers")),
        "errors       %.0f%s"
            .formatted(
                number(figures, "errors"), lastError.isEmpty() ? "" : ", last: " + lastError),
        number(advice, "interval_seconds") == 0
            ? "advice       none yet: nothing was saved"
            : "advice       save every %.1f s or less often: overhead %.2f %%"
                .formatted(number(advice, "interval_seconds"), 100 * number(advice, "overhead")));
  }

  private static String bytes(Map<?, ?> figures, String key) {
    return Human.bytes((long) number(figures, key));
  }

  private static double number(Map<?, ?> figures, String key) {
    return figures.get(key) instanceof Number number ? number.doubleValue() : 0;
  }
}
