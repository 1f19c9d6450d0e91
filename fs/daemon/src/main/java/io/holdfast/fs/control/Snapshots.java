package io.holdfast.fs.control;

import com.github.benmanes.caffeine.cache.Ticker;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The snapshots of one directory, by node and by name. A snapshot is forgotten 30 s after it was
 * made. When all contents exceed {@link #MOST_BYTES}, the oldest snapshots are forgotten, but never
 * the newest one. Thread-safe; the monitor guards all fields.
 */
final class Snapshots {
  /** Bytes of all contents together; one larger snapshot is kept alone. */
  static final long MOST_BYTES = 16 << 20;

  private static final Duration KEEP = Duration.ofSeconds(30);

  private final Ticker ticker;

  /** In the order in which they were made. */
  private final Map<Long, FileSnapshot> byNode = new LinkedHashMap<>();

  private final Map<String, FileSnapshot> byName = new HashMap<>();
  private long bytes;

  Snapshots(Ticker ticker) {
    this.ticker = ticker;
  }

  synchronized void put(FileSnapshot snapshot) {
    byNode.put(snapshot.node(), snapshot);
    byName.put(snapshot.name(), snapshot);
    bytes = Math.addExact(bytes, snapshot.content().length);
    Iterator<FileSnapshot> oldest = byNode.values().iterator();
    while (byNode.size() > 1 && bytes > MOST_BYTES) {
      forget(oldest.next(), oldest);
    }
  }

  synchronized @Nullable FileSnapshot at(long node) {
    forgetOld();
    return byNode.get(node);
  }

  synchronized @Nullable FileSnapshot named(String name) {
    forgetOld();
    return byName.get(name);
  }

  private void forgetOld() {
    Iterator<FileSnapshot> oldest = byNode.values().iterator();
    while (oldest.hasNext()) {
      FileSnapshot next = oldest.next();
      if (ticker.read() - next.made() < KEEP.toNanos()) {
        return;
      }
      forget(next, oldest);
    }
  }

  private void forget(FileSnapshot snapshot, Iterator<FileSnapshot> position) {
    position.remove();
    byName.remove(snapshot.name());
    bytes -= snapshot.content().length;
  }
}
