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
 * The effective settings of one mount: immutable, checked when built, each with the place that it
 * came from.
 *
 * <p>Sizes are bytes. What is not given gets its default; those of capacity and memory are derived
 * from the memory of the machine. Wrong values raise {@link IllegalArgumentException} in {@link
 * Builder#build()}, with one line that names the option and says what to do.
 */
public final class Settings {
  /** A time that never ends: 68 years, safe in every unit down to nanoseconds. */
  public static final Duration INDEFINITE = Durations.LONGEST;

  /** Where a setting came from that nobody gave. */
  static final String DEFAULT = "default";

  /** How long one call of the origin may take, however long a reader waits. */
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
   * Starts with the two places and every default.
   *
   * @param origin where the dataset is
   * @param mountpoint where it is to appear, absolute; may be the origin itself
   * @param memory of the machine, in bytes
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

  @SuppressWarnings("unchecked") // the builder takes no other
  private static <T> @Nullable T value(
      Map<Setting<?>, @Nullable Object> values, Setting<T> setting) {
    return values.containsKey(setting) ? (T) values.get(setting) : setting.otherwise();
  }

  /** Tells whether somebody said something of a setting, other than no. */
  boolean isSaid(Setting<?> setting) {
    return values.containsKey(setting) && !Boolean.FALSE.equals(values.get(setting));
  }

  /** Returns what is said of files by name. */
  public Selection selection() {
    return Selection.of(get(SettingTable.KEEP), get(SettingTable.EXCLUDE));
  }

  /** Returns how a dataset in S3 is reached and shown; empty where it is a directory. */
  public Optional<S3Settings> s3() {
    return SettingsRules.s3(this);
  }

  /** Returns how this node takes part in a cluster; empty where it does not. */
  public Optional<PeerSettings> peers() {
    return SettingsRules.peers(this);
  }

  /** Returns how long a call of the origin may take, where readers wait so long for it. */
  public Duration callDeadline() {
    Duration patience = get(SettingTable.SOURCE_TIMEOUT);
    return patience.compareTo(LONGEST_CALL) < 0 ? patience : LONGEST_CALL;
  }

  /** Returns the most bytes that the Java heap may take. */
  public long heapBytes() {
    return heapBytes;
  }

  /** Returns what connections with peers and with a store may take, in bytes. */
  public long connectionBytes() {
    return SettingsRules.peerBytes(this) + SettingsRules.storeBytes(this);
  }

  /** Returns what there is room for besides everything else, in bytes. */
  public long room() {
    return get(SettingTable.MEMORY) - get(SettingTable.TRANSIT) - heapBytes - connectionBytes();
  }

  /** Returns what a daemon reads and writes for itself, but for its log. */
  public List<Path> ownFiles() {
    return Stream.of(
            SettingTable.STATE_DIR,
            SettingTable.ACCESS_LOG,
            SettingTable.CLUSTER_SECRET_FILE,
            SettingTable.TLS_CERT,
            SettingTable.TLS_KEY,
            SettingTable.TLS_CA)
        .flatMap(setting -> find(setting).stream())
        .toList();
  }

  /** Returns where a setting came from, such as {@code default} or {@code flag --capacity}. */
  public String source(Setting<?> setting) {
    return sources.getOrDefault(setting, DEFAULT);
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

  /** Refuses what does not hold. */
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

    /** Sets a value that nobody needs to know the source of. */
    public <T> Builder set(Setting<T> setting, T value) {
      values.put(setting, value);
      return this;
    }

    /**
     * Sets a value.
     *
     * @param value null where there is to be none
     * @param source where it came from, for {@link Settings#source}
     */
    public <T> Builder set(Setting<T> setting, @Nullable T value, String source) {
      values.put(setting, value);
      sources.put(setting, source);
      return this;
    }

    /** Sets a value as it was written; the rule that it must obey is looked at later. */
    <T> void set(Setting<T> setting, Given given) {
      set(setting, setting.kind().parser().parse(given.values(), memory), given.source());
    }

    /** Says where the value of a setting came from. */
    void source(Setting<?> setting, String source) {
      sources.put(setting, source);
    }

    /** Most bytes of the Java heap; by default this process's limit. */
    public Builder heapBytes(long value) {
      heapBytes = value;
      return this;
    }

    /** Sets a value where there is none. */
    <T> void complete(Setting<T> setting, T value, String source) {
      if (get(setting) == null) {
        set(setting, value, source);
      }
    }

    <T> @Nullable T get(Setting<T> setting) {
      return value(values, setting);
    }

    /** Tells whether somebody gave a value, or said that there is to be none. */
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
     * Fills in what was not given, checks everything and builds.
     *
     * @throws IllegalArgumentException when a value is wrong, with one line for the user
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
