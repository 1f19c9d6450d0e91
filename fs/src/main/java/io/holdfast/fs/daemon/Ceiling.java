package io.holdfast.fs.daemon;

import io.holdfast.fs.memory.Bounds;
import io.holdfast.fs.memory.CapacityRules;
import io.holdfast.fs.memory.MemoryGuard;
import io.holdfast.fs.memory.OwnMemory;
import io.holdfast.fs.memory.OwnUse;
import io.holdfast.fs.memory.Room;
import io.holdfast.fs.memory.Rooms;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.transit.Transit;
import io.holdfast.fs.tree.Tree;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;

/** What {@code --memory} and {@code --memory-min} mean while a mount runs. Immutable. */
final class Ceiling {
  /** Seconds; for tests, and for machines whose jobs come and go in another rhythm. */
  static final String CALM = "holdfast.calm-seconds";

  private static final int USUAL_CALM = 60;
  private static final Path ROOT = Path.of("/");

  private Ceiling() {}

  /** What the ceiling is about. */
  record Parts(
      Settings settings,
      LiveChanges live,
      Residency residency,
      Transit transit,
      Tree tree,
      ScheduledExecutorService thread) {}

  /** Makes the guard, which does not look yet. */
  static MemoryGuard guard(Parts parts) {
    Settings settings = parts.settings;
    OwnMemory own =
        new OwnMemory(
            ROOT,
            new OwnMemory.Promised(
                settings.transitBytes(),
                settings.windowBytes(),
                settings.heapBytes(),
                SettingsRules.connections(settings)),
            () -> measured(parts));
    return new MemoryGuard(
        new CapacityRules(Duration.ofSeconds(Integer.getInteger(CALM, USUAL_CALM))),
        new MemoryGuard.Sources(
            () ->
                new Bounds(
                    parts.live.capacity(), settings.memoryBytes(), settings.memoryMinBytes()),
            own::now,
            new Rooms(ROOT)::now,
            new Limited(parts.live, parts.residency),
            System::nanoTime),
        parts.thread);
  }

  private static OwnMemory.Parts measured(Parts parts) {
    Residency.Figures figures = parts.residency.figures();
    return new OwnMemory.Parts(
        figures.residentBytes(),
        figures.residentItems(),
        figures.windowBytes(),
        parts.transit.used(),
        parts.tree.bytes());
  }

  /** The residents of a mount. */
  private record Limited(LiveChanges live, Residency residency) implements MemoryGuard.Residents {
    @Override
    public long capacity() {
      return residency.figures().capacityBytes();
    }

    @Override
    public long resize(long capacity) {
      return residency.resize(capacity, live.prepare(live.capacity()).mappings());
    }
  }

  /** Returns {@code memory} of {@code stats.json}. */
  static Map<String, Object> figures(MemoryGuard.Figures now) {
    OwnUse use = now.use();
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("limit_bytes", now.bounds().memory());
    all.put("used_bytes", use.total());
    all.put("peak_bytes", now.peak());
    all.put("resident_bytes", use.residents());
    all.put("window_bytes", use.window());
    all.put("transit_bytes", use.transit());
    all.put("metadata_bytes", use.metadata());
    all.put("heap_bytes", use.heap());
    all.put("virtual_machine_bytes", use.virtualMachine());
    all.put("kernel_bytes", use.kernel());
    all.put("other_bytes", use.other());
    all.put("state", now.state().phase().text());
    all.put("cause", now.state().cause());
    all.put("capacity_bytes", now.bounds().capacity());
    all.put("min_bytes", now.bounds().least());
    boolean limited = now.state().phase() != CapacityRules.Phase.OK;
    all.put("allowed_bytes", limited ? now.state().capacity() : now.bounds().capacity());
    all.put("given_up_bytes", now.givenUpBytes());
    all.put("given_up_items", now.givenUpItems());
    all.put("given_up_times", now.episodes());
    all.put("rooms", now.rooms().stream().map(Ceiling::room).toList());
    return all;
  }

  private static Map<String, Object> room(Room room) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("place", room.place());
    row.put("total_bytes", room.total());
    row.put("available_bytes", room.available());
    row.put("reserve_bytes", room.reserve());
    row.put("stalled_percent", room.stalled());
    return row;
  }
}
