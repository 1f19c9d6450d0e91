package io.holdfast.fs.daemon;

import io.holdfast.fs.origin.s3.S3Settings;
import io.holdfast.fs.peers.PeerSettings;
import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.stats.JobBy;
import io.holdfast.fs.units.Durations;
import io.holdfast.policy.Policies;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
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
 * IllegalArgumentException} in {@link SettingsBuilder#build()}, with one line that names the value
 * and says what to do.
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
    REQUIRE_MOUNT,
    XATTR,
    ACL,
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
    STATS_VISIBLE_TO,
    STATE_DIR;

    /** Returns the name in texts and, behind two dashes, on the command line: {@code item-size}. */
    public String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  private final Source origin;
  private final Path mountpoint;
  private final String name;
  final @Nullable Path configFile;
  private final long capacityBytes;
  private final long memoryBytes;
  private final long memoryMinBytes;
  private final long transitBytes;
  private final String policy;
  final List<String> keep;
  final List<String> exclude;
  private final int itemSize;
  private final Duration metadataTtl;
  private final Duration sourceTimeout;
  private final boolean requireMount;
  private final XattrChoice xattr;
  private final AclChoice acl;
  private final PinMode pin;
  private final long windowBytes;
  private final Duration windowAge;
  private final OpenCounting openCounting;
  private final JobBy jobBy;
  private final BindingChoice binding;
  private final boolean allowOther;
  final @Nullable S3Settings s3;
  private final @Nullable PeerSettings peers;
  private final boolean foreground;
  private final Monitoring monitoring;
  private final LogLevel level;
  private final @Nullable Path logFile;
  private final @Nullable Path stateDirectory;
  private final long heapBytes;
  private final Map<Key, String> sources;

  Settings(SettingsBuilder builder) {
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
    requireMount = builder.requireMount;
    xattr = builder.xattr;
    acl = builder.acl;
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
  public static SettingsBuilder builder(Source origin, Path mountpoint) {
    return new SettingsBuilder(origin, mountpoint);
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

  /** Returns who decides by access control lists. */
  public AclChoice acl() {
    return acl;
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

  /** Tells whether the source has to be on a file system other than the root's. */
  public boolean requireMount() {
    return requireMount;
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

  /** Returns what a daemon reads and writes for itself, but for its log. */
  public List<Path> ownFiles() {
    List<Path> files = new ArrayList<>();
    stateDirectory().ifPresent(files::add);
    monitoring.accessLog().ifPresent(files::add);
    peers().map(PeerSettings::files).ifPresent(files::addAll);
    return files;
  }

  /** Returns where a setting came from, such as {@code default} or {@code flag --capacity}. */
  public String source(Key key) {
    return sources.getOrDefault(key, "default");
  }

  /** Returns a setting's value as text for people, such as {@code 64G}. */
  public String text(Key key) {
    return new SettingsText(this).text(key);
  }

  /**
   * Returns a row for each setting, and for the heap: its name ({@code setting}), its value as an
   * option or a file would give it ({@code value}, absent where there is none), as text for people
   * ({@code text}), and where it came from ({@code source}).
   */
  public List<Map<String, Object>> report() {
    return new SettingsText(this).report();
  }

  @Override
  public String toString() {
    return Arrays.stream(Key.values())
        .map(key -> key.text() + "=" + text(key))
        .collect(Collectors.joining(" "));
  }
}
