package io.holdfast.fs.daemon;

import io.holdfast.fs.origin.s3.S3Settings;
import io.holdfast.fs.peers.PeerSettings;
import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.stats.JobBy;
import io.holdfast.fs.units.Durations;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Sizes;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.membership.Discovery;
import io.holdfast.policy.Policies;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The effective settings of one mount: immutable, checked when built, each with the place that it
 * came from.
 *
 * <p>Sizes are bytes. What is not given gets its default; the defaults of capacity and memory are
 * derived from the memory of the machine (see {@link SystemMemory}). Wrong values raise {@link
 * IllegalArgumentException} in {@link Builder#build()}, with one line that names the value and says
 * what to do.
 */
public final class Settings {
  /** A {@link #metadataTtl()} that never ends: 68 years, safe in every unit down to nanoseconds. */
  public static final Duration INDEFINITE = Durations.LONGEST;

  public static final int DEFAULT_CAPACITY_PERCENT = 50;
  public static final int DEFAULT_MEMORY_PERCENT = 80;
  public static final long DEFAULT_TRANSIT_BYTES = 256L << 20;
  public static final String DEFAULT_POLICY = "minio";
  public static final int DEFAULT_ITEM_SIZE = 8 << 20;
  public static final Duration DEFAULT_METADATA_TTL = Duration.ofHours(1);
  public static final Duration DEFAULT_SOURCE_TIMEOUT = Duration.ofMinutes(1);
  public static final long DEFAULT_WINDOW_BYTES = 64L << 20;
  public static final Duration DEFAULT_WINDOW_AGE = Duration.ofSeconds(2);

  /** What {@link #isItemSize} allows, for messages. */
  public static final String ITEM_SIZES = "1M, 2M, 4M, 8M, 16M, 32M or 64M";

  /** The text of what is not there. */
  static final String NOTHING = "-";

  private static final int SMALLEST_ITEM_SIZE = 1 << 20;
  private static final int LARGEST_ITEM_SIZE = 64 << 20;

  /** Longest name: with it the socket's path stays below the kernel's limit of 107 bytes. */
  public static final int LONGEST_NAME = 64;

  /** What is said of a mount, by the names that users know. */
  public enum Key {
    SOURCE,
    MOUNTPOINT,
    NAME,
    CONFIG,
    CAPACITY,
    MEMORY,
    MEMORY_MIN,
    TRANSIT,
    POLICY,
    KEEP,
    EXCLUDE,
    ITEM_SIZE,
    METADATA_TTL,
    SOURCE_TIMEOUT,
    XATTR,
    PIN,
    WINDOW,
    WINDOW_AGE,
    COUNT_OPENS,
    JOB_BY,
    BINDING,
    ALLOW_OTHER,
    S3_ENDPOINT,
    S3_REGION,
    S3_PATH_STYLE,
    S3_ANONYMOUS,
    S3_REQUESTER_PAYS,
    UID,
    GID,
    FILE_MODE,
    DIR_MODE,
    LISTEN,
    PEERS,
    CLUSTER_SECRET_FILE,
    TLS_CERT,
    TLS_KEY,
    TLS_CA,
    DATASET_ID,
    FOREGROUND,
    LOG_LEVEL,
    LOG_FILE,
    LOG_FORMAT,
    METRICS,
    ACCESS_LOG,
    ACCESS_LOG_SAMPLE,
    STATE_DIR;

    /** Returns the name in texts and, behind two dashes, on the command line: {@code item-size}. */
    public String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  private final Source origin;
  private final Path mountpoint;
  private final String name;
  private final @Nullable Path configFile;
  private final long capacityBytes;
  private final long memoryBytes;
  private final long memoryMinBytes;
  private final long transitBytes;
  private final String policy;
  private final List<String> keep;
  private final List<String> exclude;
  private final int itemSize;
  private final Duration metadataTtl;
  private final Duration sourceTimeout;
  private final XattrChoice xattr;
  private final PinMode pin;
  private final long windowBytes;
  private final Duration windowAge;
  private final OpenCounting openCounting;
  private final JobBy jobBy;
  private final BindingChoice binding;
  private final boolean allowOther;
  private final @Nullable S3Settings s3;
  private final @Nullable PeerSettings peers;
  private final boolean foreground;
  private final Monitoring monitoring;
  private final LogLevel level;
  private final @Nullable Path logFile;
  private final @Nullable Path stateDirectory;
  private final long heapBytes;
  private final Map<Key, String> sources;

  private Settings(Builder builder) {
    origin = builder.origin;
    mountpoint = builder.mountpoint;
    name = Objects.requireNonNull(builder.name);
    configFile = builder.configFile;
    capacityBytes = Objects.requireNonNull(builder.capacityBytes);
    memoryBytes = Objects.requireNonNull(builder.memoryBytes);
    memoryMinBytes = builder.memoryMinBytes;
    transitBytes = builder.transitBytes;
    policy = builder.policy;
    keep = List.copyOf(builder.keep);
    exclude = List.copyOf(builder.exclude);
    itemSize = (int) builder.itemSize;
    metadataTtl = builder.metadataTtl;
    sourceTimeout = builder.sourceTimeout;
    xattr = builder.xattr;
    pin = builder.pin;
    windowBytes = builder.windowBytes;
    windowAge = builder.windowAge;
    openCounting = builder.openCounting;
    jobBy = builder.jobBy;
    binding = builder.binding;
    allowOther = builder.allowOther;
    s3 = builder.s3.settings(builder.origin, Composition.callDeadline(sourceTimeout));
    peers = PeerRules.settings(builder);
    foreground = builder.foreground;
    monitoring = builder.monitoring.build();
    level = builder.level;
    logFile = builder.logFile;
    stateDirectory = builder.stateDirectory;
    heapBytes = builder.heapBytes;
    sources = new EnumMap<>(builder.sources);
  }

  /**
   * Starts with the two places and every default.
   *
   * @param origin where the dataset is
   * @param mountpoint where it is to appear, absolute; may be the origin itself
   */
  public static Builder builder(Source origin, Path mountpoint) {
    return new Builder(origin, mountpoint);
  }

  /** Returns where the dataset is. */
  public Source origin() {
    return origin;
  }

  /** Returns the directory where the dataset appears. */
  public Path mountpoint() {
    return mountpoint;
  }

  /** Returns the name of the mount, unique on the machine, fit for file names. */
  public String name() {
    return name;
  }

  /** Returns the bytes that residents may take. */
  public long capacityBytes() {
    return capacityBytes;
  }

  /** Returns the ceiling for residents, transit, metadata and heap together, in bytes. */
  public long memoryBytes() {
    return memoryBytes;
  }

  /** Returns the bytes that residents keep when others need memory. */
  public long memoryMinBytes() {
    return memoryMinBytes;
  }

  /** Returns the bytes of off-heap memory that hold items between fetch and use. */
  public long transitBytes() {
    return transitBytes;
  }

  /** Tells whether larger files may be kept in pieces of this size, in bytes. */
  public static boolean isItemSize(long size) {
    return size >= SMALLEST_ITEM_SIZE && size <= LARGEST_ITEM_SIZE && Long.bitCount(size) == 1;
  }

  /** Returns what is said of files by name. */
  public Selection selection() {
    return Selection.of(keep, exclude);
  }

  /** Returns the policy's name, one of {@link Policies#mountable()}. */
  public String policy() {
    return policy;
  }

  /** Returns the bytes of an item of a large file: a power of two from 1 MiB to 64 MiB. */
  public int itemSize() {
    return itemSize;
  }

  /**
   * Returns how long the kernel may keep names and attributes; 0 for not at all, {@link
   * #INDEFINITE} for ever.
   */
  public Duration metadataTtl() {
    return metadataTtl;
  }

  /** Returns how long a read waits for a source that does not answer; {@link #INDEFINITE}, too. */
  public Duration sourceTimeout() {
    return sourceTimeout;
  }

  /** Returns whether the mount has extended attributes. */
  public XattrChoice xattr() {
    return xattr;
  }

  /** Returns how residents are held. */
  public PinMode pin() {
    return pin;
  }

  /**
   * Returns the bytes that items which were not admitted may occupy in the page cache; 0 drops them
   * at once.
   */
  public long windowBytes() {
    return windowBytes;
  }

  /** Returns how long after its last byte was read an item that was not admitted may stay. */
  public Duration windowAge() {
    return windowAge;
  }

  /** Returns how opens are counted. */
  public OpenCounting openCounting() {
    return openCounting;
  }

  /** Returns what jobs are told apart by. */
  public JobBy jobBy() {
    return jobBy;
  }

  /** Returns whether other users than the daemon's may use the mount. */
  public boolean allowOther() {
    return allowOther;
  }

  /** Returns how a dataset in S3 is reached and shown; empty where it is a directory. */
  public Optional<S3Settings> s3() {
    return Optional.ofNullable(s3);
  }

  /** Returns how this node takes part in a cluster; empty where it does not. */
  public Optional<PeerSettings> peers() {
    return Optional.ofNullable(peers);
  }

  /** Returns whether the daemon is the process that the user started. */
  public boolean foreground() {
    return foreground;
  }

  /** Returns how much the log says. */
  public LogLevel level() {
    return level;
  }

  /** Returns the log file that the user asked for; empty for the usual place. */
  public Optional<Path> logFile() {
    return Optional.ofNullable(logFile);
  }

  /** Returns where the tree is kept for the next mount; empty where it is not. */
  public Optional<Path> stateDirectory() {
    return Optional.ofNullable(stateDirectory);
  }

  /** Returns how the daemon speaks to the kernel. */
  public BindingChoice binding() {
    return binding;
  }

  /** Returns the most bytes that the Java heap may take. */
  public long heapBytes() {
    return heapBytes;
  }

  /** Returns how the mount can be watched. */
  public Monitoring monitoring() {
    return monitoring;
  }

  /** Returns where a setting came from, such as {@code default} or {@code flag --capacity}. */
  public String source(Key key) {
    return sources.getOrDefault(key, "default");
  }

  /**
   * Returns a setting's value as an option or a file would give it, such as {@code 64G}; a list for
   * options that may be given several times, null for what is not there.
   */
  private @Nullable Object value(Key key) {
    return switch (key) {
      case CAPACITY -> Sizes.exact(capacityBytes);
      case MEMORY -> Sizes.exact(memoryBytes);
      case MEMORY_MIN -> Sizes.exact(memoryMinBytes);
      case TRANSIT -> Sizes.exact(transitBytes);
      case WINDOW -> Sizes.exact(windowBytes);
      case ITEM_SIZE -> Sizes.exact(itemSize);
      case KEEP -> keep;
      case EXCLUDE -> exclude;
      default -> text(key).equals(NOTHING) ? null : text(key);
    };
  }

  /** Returns a setting's value as text for people, such as {@code 64G (68.7 GB)}. */
  public String text(Key key) {
    return switch (key) {
      case SOURCE -> origin.toString();
      case MOUNTPOINT -> mountpoint.toString();
      case NAME -> name;
      case CONFIG -> configFile == null ? NOTHING : configFile.toString();
      case CAPACITY -> size(capacityBytes);
      case MEMORY -> size(memoryBytes);
      case MEMORY_MIN -> size(memoryMinBytes);
      case TRANSIT -> size(transitBytes);
      case POLICY -> policy;
      case KEEP -> patterns(keep);
      case EXCLUDE -> patterns(exclude);
      case ITEM_SIZE -> size(itemSize);
      case METADATA_TTL -> orIndefinite(metadataTtl);
      case SOURCE_TIMEOUT -> orIndefinite(sourceTimeout);
      case XATTR -> lower(xattr);
      case PIN -> lower(pin);
      case WINDOW -> size(windowBytes);
      case WINDOW_AGE -> Durations.exact(windowAge);
      case COUNT_OPENS -> lower(openCounting);
      case JOB_BY -> jobBy.toString();
      case BINDING -> lower(binding).replace('_', '-');
      case ALLOW_OTHER -> allowOther ? "yes" : "no";
      case S3_ENDPOINT,
          S3_REGION,
          S3_PATH_STYLE,
          S3_ANONYMOUS,
          S3_REQUESTER_PAYS,
          UID,
          GID,
          FILE_MODE,
          DIR_MODE ->
          s3 == null ? NOTHING : S3Options.text(s3, key);
      case LISTEN, PEERS, CLUSTER_SECRET_FILE, TLS_CERT, TLS_KEY, TLS_CA, DATASET_ID ->
          peers == null ? NOTHING : PeerRules.text(peers, key);
      case FOREGROUND -> foreground ? "yes" : "no";
      case LOG_LEVEL -> lower(level);
      case LOG_FILE -> logFile == null ? NOTHING : logFile.toString();
      case LOG_FORMAT, METRICS, ACCESS_LOG, ACCESS_LOG_SAMPLE -> monitoring.text(key);
      case STATE_DIR -> stateDirectory == null ? "none" : stateDirectory.toString();
    };
  }

  private static String orIndefinite(Duration time) {
    return time.equals(INDEFINITE) ? "indefinite" : Durations.exact(time);
  }

  /**
   * Returns a row for each setting, and for the heap: its name ({@code setting}), its value as an
   * option or a file would give it ({@code value}, absent where there is none), as text for people
   * ({@code text}), and where it came from ({@code source}).
   */
  public List<Map<String, Object>> report() {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (Key key : Key.values()) {
      rows.add(row(key.text(), value(key), text(key), source(key)));
    }
    rows.add(row("heap", Sizes.exact(heapBytes), size(heapBytes), "java -Xmx"));
    return rows;
  }

  /** Returns the row of {@link #report} for a capacity that somebody has set since the mount. */
  static Map<String, Object> changedCapacity(long bytes) {
    return row(Key.CAPACITY.text(), Sizes.exact(bytes), size(bytes), "holdfast capacity");
  }

  private static Map<String, Object> row(
      String setting, @Nullable Object value, String text, String source) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("setting", setting);
    if (value != null) {
      row.put("value", value);
    }
    row.put("text", text);
    row.put("source", source);
    return row;
  }

  private static String patterns(List<String> patterns) {
    return patterns.isEmpty() ? NOTHING : String.join(" ", patterns);
  }

  @Override
  public String toString() {
    return Arrays.stream(Key.values())
        .map(key -> key.text() + "=" + text(key))
        .collect(Collectors.joining(" "));
  }

  private static String size(long bytes) {
    String exact = Sizes.exact(bytes);
    return bytes < 1000 ? exact : exact + " (" + Human.bytes(bytes) + ")";
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  /** Collects settings; {@link #build()} checks them and fills in the rest. Not thread-safe. */
  public static final class Builder {
    final Source origin;
    final Path mountpoint;
    @Nullable String name;
    @Nullable Path configFile;
    @Nullable Long capacityBytes;
    @Nullable Long memoryBytes;
    long memoryMinBytes;
    long transitBytes = DEFAULT_TRANSIT_BYTES;
    String policy = DEFAULT_POLICY;
    List<String> keep = List.of();
    List<String> exclude = List.of();
    long itemSize = DEFAULT_ITEM_SIZE;
    Duration metadataTtl = DEFAULT_METADATA_TTL;
    Duration sourceTimeout = DEFAULT_SOURCE_TIMEOUT;
    XattrChoice xattr = XattrChoice.ON;
    PinMode pin = PinMode.AUTO;
    long windowBytes = DEFAULT_WINDOW_BYTES;
    Duration windowAge = DEFAULT_WINDOW_AGE;
    OpenCounting openCounting = OpenCounting.AUTO;
    JobBy jobBy = JobBy.CGROUP;
    BindingChoice binding = BindingChoice.JNR_FUSE;
    boolean allowOther;
    final S3Options s3 = new S3Options();
    final Monitoring.Builder monitoring = new Monitoring.Builder();
    @Nullable NodeAddress listen;
    @Nullable Discovery discovery;
    @Nullable Path secretFile;
    @Nullable Path tlsCertificate;
    @Nullable Path tlsKey;
    @Nullable Path tlsAuthority;
    @Nullable String datasetId;
    boolean foreground;
    LogLevel level = LogLevel.INFO;
    @Nullable Path logFile;
    @Nullable Path stateDirectory;
    long heapBytes = Runtime.getRuntime().maxMemory();
    @Nullable Long systemMemory;
    final Map<Key, String> sources = new EnumMap<>(Key.class);

    private Builder(Source origin, Path mountpoint) {
      this.origin = origin;
      this.mountpoint = mountpoint;
      source(Key.SOURCE, "argument");
      source(Key.MOUNTPOINT, "argument");
    }

    /** Letters, digits, dot, dash and underscore; by default made from the mountpoint. */
    public Builder name(String value) {
      name = value;
      return this;
    }

    /** The file that some of the settings come from, absolute; by default there is none. */
    public Builder configFile(Path value) {
      configFile = value;
      return this;
    }

    /** Bytes that residents may take; by default half of the machine's memory, or what fits. */
    public Builder capacityBytes(long value) {
      capacityBytes = value;
      return this;
    }

    /**
     * Ceiling in bytes for residents, transit, metadata and heap together; by default 80% of the
     * machine's memory.
     */
    public Builder memoryBytes(long value) {
      memoryBytes = value;
      return this;
    }

    /** Bytes that residents keep when others need memory; by default none. */
    public Builder memoryMinBytes(long value) {
      memoryMinBytes = value;
      return this;
    }

    /** Bytes of off-heap memory for items between fetch and use. */
    public Builder transitBytes(long value) {
      transitBytes = value;
      return this;
    }

    /** One of {@link Policies#mountable()}. */
    public Builder policy(String value) {
      policy = value;
      return this;
    }

    /** Patterns of files that stay resident whatever the policy thinks: {@link Selection}. */
    public Builder keep(List<String> patterns) {
      keep = patterns;
      return this;
    }

    /** Patterns of files that are never resident: {@link Selection}. */
    public Builder exclude(List<String> patterns) {
      exclude = patterns;
      return this;
    }

    /** Bytes of an item of a large file. */
    public Builder itemSize(long value) {
      itemSize = value;
      return this;
    }

    /** How long a read waits for a source that does not answer; {@link #INDEFINITE} for ever. */
    public Builder sourceTimeout(Duration value) {
      sourceTimeout = value;
      return this;
    }

    /** How long the kernel may keep names and attributes; {@link #INDEFINITE} for ever. */
    public Builder metadataTtl(Duration value) {
      metadataTtl = value;
      return this;
    }

    /** Whether the mount has extended attributes. */
    public Builder xattr(XattrChoice value) {
      xattr = value;
      return this;
    }

    /** How residents are held. */
    public Builder pin(PinMode value) {
      pin = value;
      return this;
    }

    /** Bytes that items which were not admitted may occupy in the page cache. */
    public Builder windowBytes(long value) {
      windowBytes = value;
      return this;
    }

    /** How long items that were not admitted may stay in the page cache. */
    public Builder windowAge(Duration value) {
      windowAge = value;
      return this;
    }

    /** How the daemon speaks to the kernel. */
    public Builder binding(BindingChoice value) {
      binding = value;
      return this;
    }

    /** How opens are counted. */
    public Builder openCounting(OpenCounting value) {
      openCounting = value;
      return this;
    }

    /**
     * Sets what jobs are told apart by.
     *
     * @throws IllegalArgumentException where {@link JobBy#parse} does not know it
     */
    public Builder jobBy(String value) {
      jobBy = JobBy.parse(value);
      return this;
    }

    /**
     * Whether other users may use the mount; no by default, while the command line says yes for
     * root.
     */
    public Builder allowOther(boolean value) {
      allowOther = value;
      return this;
    }

    /** Returns what is said of how the mount can be watched. */
    public Monitoring.Builder monitoring() {
      return monitoring;
    }

    /** Returns what is said of a source in S3, to be filled in. */
    public S3Options s3() {
      return s3;
    }

    /** Where peers reach this node, and its name among them. */
    public Builder listen(NodeAddress value) {
      listen = value;
      return this;
    }

    /** How this node finds its peers. */
    public Builder discovery(Discovery value) {
      discovery = value;
      return this;
    }

    /** The file with what all nodes know, absolute. */
    public Builder secretFile(Path value) {
      secretFile = value;
      return this;
    }

    /** This node's certificate, absolute. */
    public Builder tlsCertificate(Path value) {
      tlsCertificate = value;
      return this;
    }

    /** The certificate's private key, absolute. */
    public Builder tlsKey(Path value) {
      tlsKey = value;
      return this;
    }

    /** The certificates that sign those of every node, absolute. */
    public Builder tlsAuthority(Path value) {
      tlsAuthority = value;
      return this;
    }

    /** The dataset's name among peers; by default the last part of the origin's name. */
    public Builder datasetId(String value) {
      datasetId = value;
      return this;
    }

    /** Whether the daemon is the process that the user started. */
    public Builder foreground(boolean value) {
      foreground = value;
      return this;
    }

    /** How much the log says. */
    public Builder level(LogLevel value) {
      level = value;
      return this;
    }

    /** The log file, absolute. */
    public Builder logFile(Path value) {
      logFile = value;
      return this;
    }

    /** Where the tree is kept for the next mount, absolute; null for nowhere. */
    public Builder stateDirectory(@Nullable Path value) {
      stateDirectory = value;
      return this;
    }

    /** Most bytes of the Java heap; by default this process's limit. */
    public Builder heapBytes(long value) {
      heapBytes = value;
      return this;
    }

    /** The machine's memory in bytes; by default asked of the machine. */
    public Builder systemMemory(long value) {
      systemMemory = value;
      return this;
    }

    /** Says where a setting came from, for {@link Settings#report()}. */
    public Builder source(Key key, String source) {
      sources.put(key, source);
      return this;
    }

    /**
     * Fills in what was not given, checks everything and builds.
     *
     * @throws IllegalArgumentException when a value is wrong, with one line for the user
     */
    public Settings build() {
      SettingsRules.complete(this);
      SettingsRules.check(this);
      return new Settings(this);
    }
  }
}
