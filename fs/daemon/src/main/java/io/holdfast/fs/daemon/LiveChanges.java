package io.holdfast.fs.daemon;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.linux.Cgroups;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.residency.PinLimits;
import io.holdfast.fs.residency.Pins;
import io.holdfast.fs.settings.SettingRow;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.SettingsDocument;
import io.holdfast.fs.tasks.LiveCapacity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The capacity and the pins that users have changed while the mount runs. A file of the state
 * directory has them for the next daemon of the mount. The file goes when the mount ends.
 *
 * <p>Thread-safe. The monitor guards the fields and the writing of the file.
 */
public final class LiveChanges implements LiveCapacity {
  private static final Logger log = LoggerFactory.getLogger(LiveChanges.class);

  private static final String FILE = "changes.json";
  private static final String CAPACITY = "capacity";
  private static final String WITHIN_BUDGET = "within_budget";
  private static final String PATHS = "pinned_paths";
  private static final String GLOBS = "pinned_globs";

  private final Settings settings;
  private final @Nullable Path state;
  private final Runnable resized;
  private Map<String, Object> changes;

  /**
   * Takes over the changes that an earlier daemon has left.
   *
   * @param state the state directory, or null if there will be no next daemon
   * @param resized learns that {@link #capacity} is another one
   */
  LiveChanges(Settings settings, @Nullable Path state, Runnable resized) {
    this.settings = settings;
    this.state = state;
    this.resized = resized;
    this.changes = state == null ? new LinkedHashMap<>() : read(state);
  }

  private static Map<String, Object> read(Path state) {
    Path file = state.resolve(FILE);
    try {
      return Files.exists(file)
          ? new LinkedHashMap<>(JSON.std.mapFrom(Files.readAllBytes(file)))
          : new LinkedHashMap<>();
    } catch (IOException e) {
      log.warn("{}: what was changed since the mount is forgotten: {}", file, e.getMessage());
      return new LinkedHashMap<>();
    }
  }

  /** Returns the current capacity, in bytes. */
  synchronized long capacity() {
    return changes.get(CAPACITY) instanceof Number changed
        ? Math.min(changed.longValue(), largest())
        : settings.get(SettingTable.CAPACITY);
  }

  /**
   * Returns the bytes of a mount's capacity, as its next daemon would have it; empty where the
   * state directory does not tell, or this user may not read it.
   *
   * @param state the state directory of a mount
   */
  public static OptionalLong capacity(Path state) {
    try {
      Settings settings = SettingsDocument.read(state).settings();
      return OptionalLong.of(new LiveChanges(settings, state, () -> {}).capacity());
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  /** Tells whether the capacity is a part of the node's budget, and not set by a user. */
  synchronized boolean isCapacityOfNodeBudget() {
    return settings.isCapacityOfNodeBudget()
        && (!changes.containsKey(CAPACITY) || Boolean.TRUE.equals(changes.get(WITHIN_BUDGET)));
  }

  /**
   * Tells whether a mount's capacity is a part of the node's budget; false where the state
   * directory does not tell, or this user may not read it.
   *
   * @param state the state directory of a mount
   */
  public static boolean isCapacityOfNodeBudget(Path state) {
    try {
      Settings settings = SettingsDocument.read(state).settings();
      return new LiveChanges(settings, state, () -> {}).isCapacityOfNodeBudget();
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns {@link Settings#report} with these changes. */
  synchronized List<Map<String, Object>> settings() {
    List<Map<String, Object>> rows = new ArrayList<>(settings.report());
    if (changes.containsKey(CAPACITY)) {
      String source =
          isCapacityOfNodeBudget() ? settings.source(SettingTable.CAPACITY) : SettingRow.BY_COMMAND;
      Map<String, Object> changed = SettingRow.changedCapacity(capacity(), source);
      rows.replaceAll(row -> row.get("setting").equals(changed.get("setting")) ? changed : row);
    }
    return rows;
  }

  /** Returns the pinned names. */
  synchronized Pins.Names pins() {
    return new Pins.Names(texts(PATHS), texts(GLOBS));
  }

  private List<String> texts(String key) {
    return changes.get(key) instanceof List<?> list
        ? list.stream().map(String::valueOf).toList()
        : List.of();
  }

  /**
   * Forgets a changed capacity, so that the next daemon begins with the capacity of its options.
   *
   * @param state the state directory of a mount
   * @return the forgotten changes, for {@link #remember}; empty if there were none
   * @throws IOException if the file cannot be written
   */
  public static Map<String, Object> forgetCapacity(Path state) throws IOException {
    Map<String, Object> left = read(state);
    Map<String, Object> forgotten = new LinkedHashMap<>(left);
    left.keySet().removeAll(Set.of(CAPACITY, WITHIN_BUDGET));
    forgotten.keySet().removeAll(left.keySet());
    if (!forgotten.isEmpty()) {
      write(state, left);
    }
    return forgotten;
  }

  /**
   * Takes back that a capacity was forgotten, unless the capacity has changed again since.
   *
   * @param state the state directory of a mount
   * @param forgotten what {@link #forgetCapacity} has returned
   * @throws IOException if the file cannot be written
   */
  public static void remember(Path state, Map<String, Object> forgotten) throws IOException {
    Map<String, Object> all = read(state);
    if (!forgotten.isEmpty() && !all.containsKey(CAPACITY)) {
      all.putAll(forgotten);
      write(state, all);
    }
  }

  private static void write(Path state, Map<String, Object> changes) throws IOException {
    Path next = state.resolve(FILE + ".next");
    Files.write(next, JSON.std.asBytes(changes));
    Files.move(next, state.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
  }

  private void keep(Map<String, Object> more) {
    changes.putAll(more);
    if (state == null) {
      return;
    }
    try {
      write(state, changes);
    } catch (IOException e) {
      log.warn("the next daemon will not know what has changed: {}", e.getMessage());
    }
  }

  @Override
  public long memory() {
    return new Cgroups(Procfs.host()).usableMemory(Procfs.SELF);
  }

  @Override
  public long largest() {
    return settings.room();
  }

  @Override
  public PinLimits prepare(long capacity) {
    return PinLimits.raise(capacity);
  }

  @Override
  public synchronized void changed(long capacity, boolean withinBudget) {
    log.info("the capacity is {} bytes now", capacity);
    boolean stays = withinBudget && isCapacityOfNodeBudget();
    keep(Map.of(CAPACITY, capacity, WITHIN_BUDGET, stays));
    resized.run();
  }

  @Override
  public synchronized void pinned(Pins.Names names) {
    keep(Map.of(PATHS, names.paths(), GLOBS, names.globs()));
  }
}
