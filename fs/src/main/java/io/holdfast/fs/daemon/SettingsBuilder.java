package io.holdfast.fs.daemon;

import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.stats.JobBy;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.membership.Discovery;
import io.holdfast.policy.Policies;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Collects settings; {@link #build()} checks them and fills in the rest. Not thread-safe. */
public final class SettingsBuilder {
  final Source origin;
  final Path mountpoint;
  @Nullable String name;
  @Nullable Path configFile;
  @Nullable Long capacityBytes;
  @Nullable Long memoryBytes;
  long memoryMinBytes;
  long transitBytes = Settings.DEFAULT_TRANSIT_BYTES;
  String policy = Settings.DEFAULT_POLICY;
  List<String> keep = List.of();
  List<String> exclude = List.of();
  long itemSize = Settings.DEFAULT_ITEM_SIZE;
  Duration metadataTtl = Settings.DEFAULT_METADATA_TTL;
  Duration sourceTimeout = Settings.DEFAULT_SOURCE_TIMEOUT;
  XattrChoice xattr = XattrChoice.ON;
  AclChoice acl = AclChoice.AUTO;
  PinMode pin = PinMode.AUTO;
  long windowBytes = Settings.DEFAULT_WINDOW_BYTES;
  Duration windowAge = Settings.DEFAULT_WINDOW_AGE;
  OpenCounting openCounting = OpenCounting.AUTO;
  JobBy jobBy = JobBy.CGROUP;
  BindingChoice binding = BindingChoice.JNR_FUSE;
  boolean allowOther;
  boolean requireMount;
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
  final Map<Settings.Key, String> sources = new EnumMap<>(Settings.Key.class);

  SettingsBuilder(Source origin, Path mountpoint) {
    this.origin = origin;
    this.mountpoint = mountpoint;
    source(Settings.Key.SOURCE, "argument");
    source(Settings.Key.MOUNTPOINT, "argument");
  }

  /** Letters, digits, dot, dash and underscore; by default made from the mountpoint. */
  public SettingsBuilder name(String value) {
    name = value;
    return this;
  }

  /** The file that some of the settings come from, absolute; by default there is none. */
  public SettingsBuilder configFile(Path value) {
    configFile = value;
    return this;
  }

  /** Bytes that residents may take; by default half of the machine's memory, or what fits. */
  public SettingsBuilder capacityBytes(long value) {
    capacityBytes = value;
    return this;
  }

  /**
   * Ceiling in bytes for residents, transit, metadata and heap together; by default 80% of the
   * machine's memory.
   */
  public SettingsBuilder memoryBytes(long value) {
    memoryBytes = value;
    return this;
  }

  /** Bytes that residents keep when others need memory; by default none. */
  public SettingsBuilder memoryMinBytes(long value) {
    memoryMinBytes = value;
    return this;
  }

  /** Bytes of off-heap memory for items between fetch and use. */
  public SettingsBuilder transitBytes(long value) {
    transitBytes = value;
    return this;
  }

  /** One of {@link Policies#mountable()}. */
  public SettingsBuilder policy(String value) {
    policy = value;
    return this;
  }

  /** Patterns of files that stay resident whatever the policy thinks: {@link Selection}. */
  public SettingsBuilder keep(List<String> patterns) {
    keep = patterns;
    return this;
  }

  /** Patterns of files that are never resident: {@link Selection}. */
  public SettingsBuilder exclude(List<String> patterns) {
    exclude = patterns;
    return this;
  }

  /** Bytes of an item of a large file. */
  public SettingsBuilder itemSize(long value) {
    itemSize = value;
    return this;
  }

  /**
   * How long a read waits for a source that does not answer; {@link Settings#INDEFINITE} for ever.
   */
  public SettingsBuilder sourceTimeout(Duration value) {
    sourceTimeout = value;
    return this;
  }

  /** How long the kernel may keep names and attributes; {@link Settings#INDEFINITE} for ever. */
  public SettingsBuilder metadataTtl(Duration value) {
    metadataTtl = value;
    return this;
  }

  /** Whether the mount has extended attributes. */
  public SettingsBuilder xattr(XattrChoice value) {
    xattr = value;
    return this;
  }

  /** Who decides by access control lists. */
  public SettingsBuilder acl(AclChoice value) {
    acl = value;
    return this;
  }

  /** How residents are held. */
  public SettingsBuilder pin(PinMode value) {
    pin = value;
    return this;
  }

  /** Bytes that items which were not admitted may occupy in the page cache. */
  public SettingsBuilder windowBytes(long value) {
    windowBytes = value;
    return this;
  }

  /** How long items that were not admitted may stay in the page cache. */
  public SettingsBuilder windowAge(Duration value) {
    windowAge = value;
    return this;
  }

  /** How the daemon speaks to the kernel. */
  public SettingsBuilder binding(BindingChoice value) {
    binding = value;
    return this;
  }

  /** How opens are counted. */
  public SettingsBuilder openCounting(OpenCounting value) {
    openCounting = value;
    return this;
  }

  /**
   * Sets what jobs are told apart by.
   *
   * @throws IllegalArgumentException where {@link JobBy#parse} does not know it
   */
  public SettingsBuilder jobBy(String value) {
    jobBy = JobBy.parse(value);
    return this;
  }

  /**
   * Whether other users may use the mount; no by default, while the command line says yes for root.
   */
  public SettingsBuilder allowOther(boolean value) {
    allowOther = value;
    return this;
  }

  /** Whether the source has to be on a file system other than the root's. */
  public SettingsBuilder requireMount(boolean value) {
    requireMount = value;
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
  public SettingsBuilder listen(NodeAddress value) {
    listen = value;
    return this;
  }

  /** How this node finds its peers. */
  public SettingsBuilder discovery(Discovery value) {
    discovery = value;
    return this;
  }

  /** The file with what all nodes know, absolute. */
  public SettingsBuilder secretFile(Path value) {
    secretFile = value;
    return this;
  }

  /** This node's certificate, absolute. */
  public SettingsBuilder tlsCertificate(Path value) {
    tlsCertificate = value;
    return this;
  }

  /** The certificate's private key, absolute. */
  public SettingsBuilder tlsKey(Path value) {
    tlsKey = value;
    return this;
  }

  /** The certificates that sign those of every node, absolute. */
  public SettingsBuilder tlsAuthority(Path value) {
    tlsAuthority = value;
    return this;
  }

  /** The dataset's name among peers; by default one that follows from its whole name. */
  public SettingsBuilder datasetId(String value) {
    datasetId = value;
    return this;
  }

  /** Whether the daemon is the process that the user started. */
  public SettingsBuilder foreground(boolean value) {
    foreground = value;
    return this;
  }

  /** How much the log says. */
  public SettingsBuilder level(LogLevel value) {
    level = value;
    return this;
  }

  /** The log file, absolute. */
  public SettingsBuilder logFile(Path value) {
    logFile = value;
    return this;
  }

  /** Where the tree is kept for the next mount, absolute; null for nowhere. */
  public SettingsBuilder stateDirectory(@Nullable Path value) {
    stateDirectory = value;
    return this;
  }

  /** Most bytes of the Java heap; by default this process's limit. */
  public SettingsBuilder heapBytes(long value) {
    heapBytes = value;
    return this;
  }

  /** The machine's memory in bytes; by default asked of the machine. */
  public SettingsBuilder systemMemory(long value) {
    systemMemory = value;
    return this;
  }

  /** Says where a setting came from, for {@link Settings#report()}. */
  public SettingsBuilder source(Settings.Key key, String source) {
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
