package io.holdfast.fs.daemon;

import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.memory.Bounds;
import io.holdfast.fs.memory.CapacityRules;
import io.holdfast.fs.memory.MemoryGuard;
import io.holdfast.fs.memory.OwnMemory;
import io.holdfast.fs.memory.Rooms;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.transit.Transit;
import io.holdfast.fs.tree.Tree;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;

/** Applies {@code --memory} and {@code --memory-min} while a mount runs. Immutable. */
final class Ceiling {
  /**
   * The system property with the calm time in seconds; for tests, and for machines whose jobs come
   * and go in another rhythm.
   */
  static final String CALM = "holdfast.calm-seconds";

  private static final int USUAL_CALM = 60;

  private Ceiling() {}

  /** The parts that share the ceiling. */
  record Parts(
      Settings settings,
      LiveChanges live,
      Residency residency,
      Transit transit,
      Tree tree,
      ScheduledExecutorService thread) {}

  /** Creates the guard, which has not started. */
  static MemoryGuard guard(Parts parts) {
    Settings settings = parts.settings;
    OwnMemory own =
        new OwnMemory(
            Procfs.host(),
            new OwnMemory.Promised(
                settings.transitBytes(),
                settings.get(SettingTable.WINDOW),
                settings.heapBytes(),
                settings.connectionBytes()),
            () -> measured(parts));
    return new MemoryGuard(
        new CapacityRules(Duration.ofSeconds(Integer.getInteger(CALM, USUAL_CALM))),
        new MemoryGuard.Sources(
            () ->
                new Bounds(
                    parts.live.capacity(),
                    settings.get(SettingTable.MEMORY),
                    settings.get(SettingTable.MEMORY_MIN)),
            own::now,
            new Rooms(Procfs.host())::now,
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

    @Override
    public void available(long bytes) {
      residency.available(bytes);
    }
  }
}
