package io.holdfast.fs.daemon;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.control.ConfigText;
import io.holdfast.fs.control.PeersText;
import io.holdfast.fs.control.StatsText;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** What the files in {@code .holdfast} say. Stateless. */
final class DaemonFiles {
  private DaemonFiles() {}

  /** Returns what makes the content of each, by name, in the order of the listing. */
  static Map<String, Supplier<byte[]>> of(
      LiveChanges live,
      StatsReport report,
      Supplier<byte[]> metrics,
      Supplier<List<Map<String, Object>>> peers) {
    Map<String, Supplier<byte[]>> files = new LinkedHashMap<>();
    files.put("stats", () -> utf8(StatsText.of(report.stats())));
    files.put("stats.json", () -> json(report.stats()));
    files.put("peers", () -> utf8(PeersText.of(peers.get())));
    files.put("peers.json", () -> json(peers.get()));
    files.put("metrics", metrics);
    files.put("config", () -> utf8(ConfigText.of(live.settings())));
    return files;
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] json(Object value) {
    try {
      return utf8(JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(value) + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
