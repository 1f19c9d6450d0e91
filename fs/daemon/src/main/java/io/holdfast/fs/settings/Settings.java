package io.holdfast.fs.settings;

import io.holdfast.fs.origin.s3.S3Settings;
import io.holdfast.fs.peers.PeerSettings;
import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.units.Durations;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The effective settings of one mount. Immutable, checked when built. Each value has its source.
 *
 * <p>Sizes are in bytes. A setting that is not given gets its default; the defaults of capacity and
 * memory follow from the memory of the machine. {@link Builder#build()} throws {@link
 * IllegalArgumentException} for a wrong value, with one line that names the option and says what to
 * do.
 */
public final class Settings {
  /** A time that never ends: 68 years, safe in every unit down to nanoseconds. */
  public static final Duration INDEFINITE = Durations.LONGEST;

  /** The source of a setting that nobody gave. */
  static final String DEFAULT = "default";

  /** The most time for one call of the origin, however long a reader waits. */
  private static final Duration LONGEST_CALL = Duration.ofSeconds(60);

  private final Map<Setting<?>, @Nullable Object> values;
  private final Map<Setting<?>, String> sources;
  private final long heapBytes;

  Settings(Builder builder) {
    values = new HashMap<>(builder.values);
    sources = new HashMap<>(builder.sources);
    heapBytes = builder.heapBytes;
  }

  /**
   * Creates a builder with the two places and every default.
   *
   * @param origin where the dataset is
   * @param mountpoint where the dataset is to appear, absolute; may be the origin itself
   * @param memory the machine's memory, in bytes
   */
  public static Builder builder(Source origin, Path mountpoint, long memory) {
    return new Builder(memory)
        .set(SettingTable.SOURCE, origin, Given.ARGUMENT)
        .set(SettingTable.MOUNTPOINT, mountpoint, Given.ARGUMENT);
  }

  /** Returns the value of a setting that always has one. */
  public <T> T get(Setting<T> setting) {
    return find(setting)
        .orElseThrow(() -> new IllegalStateException(setting.name() + " has no value"));
  }

  /** Returns the value of a setting, if there is one. */
  public <T> Optional<T> find(Setting<T> setting) {
    return Optional.ofNullable(value(values, setting));
  }

  @SuppressWarnings("unchecked") // the builder takes no value of another type
  private static <T> @Nullable T value(
      Map<Setting<?>, @Nullable Object> values, Setting<T> setting) {
    return values.containsKey(setting) ? (T) values.get(setting) : setting.otherwise();
  }

  /** Tells whether the user gave a value other than no. */
  boolean isSaid(Setting<?> setting) {
    return values.containsKey(setting) && !Boolean.FALSE.equals(values.get(setting));
  }

  /** Returns the rules for files by name. */
  public Selection selection() {
    return Selection.of(get(SettingTable.KEEP), get(SettingTable.EXCLUDE));
  }

  /** Returns the settings of a dataset in S3; empty if the dataset is a directory. */
  public Optional<S3Settings> s3() {
    return SettingsRules.s3(this);
  }

  /** Returns the settings of a cluster; empty without one. */
  public Optional<PeerSettings> peers() {
    return SettingsRules.peers(this);
  }

  /** Returns the most time for a call of the origin, from the time that a reader waits for it. */
  public Duration callDeadline() {
    Duration patience = get(SettingTable.SOURCE_TIMEOUT);
    return patience.compareTo(LONGEST_CALL) < 0 ? patience : LONGEST_CALL;
  }

  /** Returns the most bytes that the Java heap may take. */
  public long heapBytes() {
    return heapBytes;
  }

  /** Returns the bytes that connections with peers and with a store may take. */
  public long connectionBytes() {
    return SettingsRules.peerBytes(this) + SettingsRules.storeBytes(this);
  }

  /** Returns the bytes that the memory leaves for residents. */
  public long room() {
    return get(SettingTable.MEMORY) - transitBytes() - heapBytes - connectionBytes();
  }

  /** Returns the bytes of transit's memory, with those that are kept for other jobs. */
  public long transitBytes() {
    return get(SettingTable.TRANSIT) + get(SettingTable.CONVOY);
  }

  /** Returns the files that a daemon reads and writes for itself, except its log. */
  public List<Path> ownFiles() {
    return Stream.of(
            SettingTable.STATE_DIR,
            SettingTable.ACCESS_LOG,
            SettingTable.CLUSTER_SECRET_FILE,
            SettingTable.TLS_CERT,
            SettingTable.TLS_KEY,
            SettingTable.TLS_CA,
            SettingTable.PAGE_TOKEN_FILE)
        .flatMap(setting -> find(setting).stream())
        .toList();
  }

  /** Returns the source of a setting, such as {@code default} or {@code flag --capacity}. */
  public String source(Setting<?> setting) {
    return sources.getOrDefault(setting, DEFAULT);
  }

  /** Tells whether the capacity is a part of the node's memory for mounts. */
  public boolean isCapacityOfNodeBudget() {
    return Given.isNodeBudget(source(SettingTable.CAPACITY));
  }

  /** Returns a setting's value as text for people, such as {@code 64G}. */
  public <T> String text(Setting<T> setting) {
    return setting.kind().text(shown(setting));
  }

  /** Returns a setting's value so that the setting's parser reads the same; null where none is. */
  <T> @Nullable Object exact(Setting<T> setting) {
    return setting.kind().exact(value(values, setting));
  }

  private <T> @Nullable T shown(Setting<T> setting) {
    return SettingsRules.hasMeaning(setting.group(), this) ? value(values, setting) : null;
  }

  private <T> Map<String, Object> row(Setting<T> setting) {
    return SettingRow.of(setting, shown(setting), source(setting));
  }

  /** Returns a {@link SettingRow} for each setting, and for the heap. */
  public List<Map<String, Object>> report() {
    List<Map<String, Object>> rows = new ArrayList<>();
    SettingTable.rows().forEach(setting -> rows.add(row(setting)));
    rows.add(SettingRow.ofHeap(heapBytes));
    return rows;
  }

  @Override
  public String toString() {
    return SettingTable.rows().stream()
        .map(setting -> setting.name() + "=" + text(setting))
        .collect(Collectors.joining(" "));
  }

  /** Throws an exception if a condition does not hold. */
  static void require(boolean holds, String format, @Nullable Object... args) {
    if (!holds) {
      throw new IllegalArgumentException(String.format(Locale.ROOT, format, args));
    }
  }

  /** Collects settings. Not thread-safe. */
  public static final class Builder {
    private final long memory;
    private final Map<Setting<?>, @Nullable Object> values = new HashMap<>();
    private final Map<Setting<?>, String> sources = new HashMap<>();
    private long heapBytes = Runtime.getRuntime().maxMemory();

    Builder(long memory) {
      this.memory = memory;
    }

    /** Sets a value whose source does not matter. */
    public <T> Builder set(Setting<T> setting, T value) {
      values.put(setting, value);
      return this;
    }

    /**
     * Sets a value.
     *
     * @param value null for no value
     * @param source its source, for {@link Settings#source}
     */
    public <T> Builder set(Setting<T> setting, @Nullable T value, String source) {
      values.put(setting, value);
      sources.put(setting, source);
      return this;
    }

    /** Sets a value from its text; {@link #build} checks its rule. */
    <T> void set(Setting<T> setting, Given given) {
      set(setting, setting.kind().parser().parse(given.values(), memory), given.source());
    }

    /** Sets the source of a setting's value. */
    void source(Setting<?> setting, String source) {
      sources.put(setting, source);
    }

    /** Sets the most bytes of the Java heap; by default this process's limit. */
    public Builder heapBytes(long value) {
      heapBytes = value;
      return this;
    }

    /** Sets a value if there is none. */
    <T> void complete(Setting<T> setting, T value, String source) {
      if (get(setting) == null) {
        set(setting, value, source);
      }
    }

    <T> @Nullable T get(Setting<T> setting) {
      return value(values, setting);
    }

    /** Tells whether the user gave a value, or said that there is none. */
    boolean has(Setting<?> setting) {
      return values.containsKey(setting);
    }

    long memory() {
      return memory;
    }

    private <T> void check(Setting<T> setting) {
      T value = get(setting);
      if (value != null) {
        setting.check(value);
      }
    }

    /**
     * Fills in missing values, checks everything and builds.
     *
     * @throws IllegalArgumentException if a value is wrong, with one line for the user
     */
    public Settings build() {
      SettingsRules.complete(this);
      SettingTable.rows().forEach(this::check);
      Settings settings = new Settings(this);
      SettingsRules.check(settings, memory);
      return settings;
    }
  }
}
