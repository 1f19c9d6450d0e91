package io.holdfast.fs.settings;

import static io.holdfast.fs.settings.Settings.require;

import io.holdfast.fs.accesslog.Sampling;
import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.stats.JobBy;
import io.holdfast.fs.units.Durations;
import io.holdfast.fs.units.Sizes;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.SharedDataset;
import io.holdfast.peer.membership.Discovery;
import io.holdfast.policy.Policies;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * All settings of a mount, a row each, in the order in which helps and lists show them. A new
 * option is a row here, and a call of {@link Settings#get} where its value is used. {@link
 * SettingsRules} has the rules for several settings together. Stateless.
 */
public final class SettingTable {
  /** The sizes that {@link #isItemSize} allows, for messages. */
  public static final String ITEM_SIZES = "1M, 2M, 4M, 8M, 16M, 32M or 64M";

  private static final int SMALLEST_ITEM_SIZE = 1 << 20;
  private static final int LARGEST_ITEM_SIZE = 64 << 20;
  private static final Duration SHORTEST_SOURCE_TIMEOUT = Duration.ofSeconds(1);

  private static final List<Setting<?>> ROWS = new ArrayList<>();

  /** Where the dataset is. */
  public static final Setting<Source> SOURCE =
      row(Group.PLACES, "source", Kind.place("SOURCE", Source::parse), null);

  /** The directory where it appears, absolute; may be the source itself. */
  public static final Setting<Path> MOUNTPOINT =
      row(Group.PLACES, "mountpoint", Kind.place("MOUNTPOINT", Path::of), null);

  /** Bytes that residents may take. */
  public static final Setting<Long> CAPACITY =
      row(
              Group.MEMORY,
              "capacity",
              Kind.share(),
              null,
              "Memory for the cached part of the dataset: 64G, 512M, or a share of the machine's"
                  + " memory. In all sizes G is GiB (1024 MiB), and GB is decimal.",
              "Default: 50%%, or what --memory leaves; for root a share of 'memory' in"
                  + " /etc/holdfast/node.yaml, if that is there.")
          .obeying(bytes -> requireSome(bytes));

  /** Ceiling in bytes for residents, transit, metadata and heap together. */
  public static final Setting<Long> MEMORY =
      row(
              Group.MEMORY,
              "memory",
              Kind.share(),
              null,
              "Ceiling for all memory together: capacity, transit, names and attributes, the Java"
                  + " heap, and what peers and S3 need. Default: 80%%.")
          .obeying(bytes -> requireSome(bytes));

  /** Bytes that residents keep when others need memory. */
  public static final Setting<Long> MEMORY_MIN =
      row(
          Group.MEMORY,
          "memory-min",
          Kind.share(),
          0L,
          "What stays resident also when the machine or the control group is short of memory; the"
              + " rest makes way, and comes back later. Default: 0.");

  /** One of {@link Policies#mountable()}. */
  public static final Setting<String> POLICY =
      row(
              Group.MEMORY,
              "policy",
              Kind.text("minio|minio-hash|none"),
              "minio",
              "Which items are kept: 'minio' keeps what came first and never replaces it;"
                  + " 'minio-hash' keeps a share of the dataset that is chosen by name, the same"
                  + " after every restart and on every node; 'none' keeps nothing. Default: minio.")
          .obeying(SettingTable::requirePolicy);

  /** Patterns of files that stay resident whatever the policy decides: {@link Selection}. */
  public static final Setting<List<String>> KEEP =
      row(
              Group.MEMORY,
              "keep",
              Kind.patterns(),
              List.of(),
              "Files that stay resident whatever the policy thinks, such as a validation set: a"
                  + " name ('*.idx'), a path from the root ('val/*.tar') or a folder ('val/'). May"
                  + " be given several times.")
          .obeying(SettingTable::requirePatterns);

  /** Patterns of files that are never resident: {@link Selection}. */
  public static final Setting<List<String>> EXCLUDE =
      row(
              Group.MEMORY,
              "exclude",
              Kind.patterns(),
              List.of(),
              "Files that are never resident; as --keep, which wins over it.")
          .obeying(SettingTable::requirePatterns);

  /** Bytes of an item of a large file: a power of two. */
  public static final Setting<Long> ITEM_SIZE =
      row(
              Group.MEMORY,
              "item-size",
              Kind.size(),
              8L << 20,
              "Larger files are kept in pieces of this size, a power of two from 1M to 64M."
                  + " Default: 8M.")
          .obeying(SettingTable::requireItemSize)
          .fixed();

  /** How residents are held. */
  public static final Setting<PinMode> PIN =
      row(
          Group.MEMORY,
          "pin",
          Kind.choice(PinMode.values()),
          PinMode.AUTO,
          "'hard' locks pages in memory; 'soft' lets the kernel take them under pressure; 'auto'"
              + " locks where it is permitted. Default: auto.");

  /** Bytes of off-heap memory that hold items between fetch and use. */
  public static final Setting<Long> TRANSIT =
      row(
              Group.MEMORY,
              "transit",
              Kind.size(),
              256L << 20,
              "Memory for data between fetch and use. Default: 256M.")
          .obeying(bytes -> requireSome(bytes));

  /** Bytes that are kept for jobs that read the same order a little later; 0 for none. */
  public static final Setting<Long> CONVOY =
      row(
          Group.MEMORY,
          "convoy",
          Kind.size(),
          0L,
          "Memory beside --transit for what a job has fetched and other jobs, which read the same"
              + " order, have yet to read; 0 keeps nothing for them. Default: 0.");

  /**
   * Bytes that items which were not admitted may occupy in the page cache; 0 drops them at once.
   */
  public static final Setting<Long> WINDOW =
      row(
          Group.MEMORY,
          "window",
          Kind.size(),
          64L << 20,
          "How much of what is not kept may linger in the page cache; 0 drops it at once. Default:"
              + " 64M.");

  /** How long the pages of an item that was not admitted may stay after the last read. */
  public static final Setting<Duration> WINDOW_AGE =
      row(
              Group.MEMORY,
              "window-age",
              Kind.time(),
              Duration.ofSeconds(2),
              "How long it may linger after its last byte was read. Default: 2s.")
          .obeying(SettingTable::requireTime);

  /** The name of the mount, unique on the machine; can be the name of a file. */
  public static final Setting<String> NAME =
      row(
              Group.MOUNT,
              "name",
              Kind.text("NAME"),
              null,
              "Name of the mount for the other commands. Default: from the mountpoint,"
                  + " /data/imagenet -> data-imagenet.")
          .obeying(SettingTable::requireName)
          .fixed();

  /** The file that some of the settings come from. */
  public static final Setting<Path> CONFIG =
      row(
          Group.MOUNT,
          "config",
          Kind.path("FILE"),
          null,
          "A file with options, as 'capacity: 64G'; what is given here wins over it. Default:"
              + " /etc/holdfast/NAME.yaml, for users first ~/.config/holdfast/NAME.yaml, if it is"
              + " there.");

  /** How long the kernel may keep names and attributes; 0 for not at all. */
  public static final Setting<Duration> METADATA_TTL =
      row(
              Group.MOUNT,
              "metadata-ttl",
              Kind.timeOrIndefinite(),
              Duration.ofHours(1),
              "How long names, sizes and times may be remembered before the source is asked again:"
                  + " 60s, 1h, 0. Default: 1h.")
          .obeying(SettingTable::requireTime);

  /** How long a read waits for a source that does not answer. */
  public static final Setting<Duration> SOURCE_TIMEOUT =
      row(
              Group.MOUNT,
              "source-timeout",
              Kind.timeOrIndefinite(),
              Duration.ofMinutes(1),
              "How long a read waits for a source that does not answer, before it fails; later ones"
                  + " fail at once then, until it answers. Default: 60s.")
          .obeying(SettingTable::requireSourceTimeout);

  /** Whether the source has to have files, on a file system other than the root's. */
  public static final Setting<Boolean> REQUIRE_MOUNT =
      row(
          Group.MOUNT,
          "require-mount",
          Kind.yesOrNo(),
          false,
          "Refuse a source that is empty or lies on the root file system, or where /etc/fstab has"
              + " a mountpoint at or above it that is not mounted: for a source on NFS or a disk of"
              + " its own that may be missing. Default: no.");

  /** Whether the mount has extended attributes. */
  public static final Setting<XattrChoice> XATTR =
      row(
              Group.MOUNT,
              "xattr",
              Kind.choice(XattrChoice.values()),
              XattrChoice.ON,
              "Whether the mount has extended attributes; 'off' spares programs that ask for those"
                  + " of every file. Default: on.")
          .fixed();

  /** How access control lists count. */
  public static final Setting<AclChoice> ACL =
      row(
              Group.MOUNT,
              "acl",
              Kind.choice(AclChoice.values()),
              AclChoice.AUTO,
              "Who decides by the ACLs of the dataset: 'kernel' asks for that of each file and"
                  + " decides as at the source (root), 'strict' shows modes that give nobody more"
                  + " than the ACLs do, 'auto' is 'kernel' where the dataset is seen to have ACLs at"
                  + " the mount. Default: auto.")
          .fixed();

  /** How opens are counted. */
  public static final Setting<OpenCounting> COUNT_OPENS =
      row(
              Group.MOUNT,
              "count-opens",
              Kind.choice(OpenCounting.values()),
              OpenCounting.AUTO,
              "How opens are counted: 'watch' with fanotify (root), 'message' by a message each"
                  + " (slower), 'auto' the first that is permitted, or by a BPF program where the"
                  + " kernel takes one. Default: auto.")
          .fixed();

  /** Whether the kernel gets programs that do a part of the daemon's work. */
  public static final Setting<HelperChoice> KERNEL_HELPERS =
      row(
          Group.MOUNT,
          "kernel-helpers",
          Kind.choice(HelperChoice.values()),
          HelperChoice.AUTO,
          "Whether the kernel itself answers the question of Python before 3.14 whether a file is a"
              + " terminal, and tells opens for less than fanotify, by BPF programs: 'auto' where"
              + " that is possible (root, a kernel with BTF), 'off' never. Default: auto.");

  /** Which orders of jobs are followed. */
  public static final Setting<OrderMode> ORDERS =
      row(
          Group.MOUNT,
          "orders",
          Kind.choice(OrderMode.values()),
          OrderMode.ANNOUNCED,
          "Which orders of jobs are followed, to fetch files ahead of their readers: 'announced'"
              + " those of 'holdfast order', 'learn' those and the ones that a job reads again,"
              + " 'off' none. Default: announced.");

  /** How processes are grouped into jobs. */
  public static final Setting<JobBy> JOB_BY =
      row(
          Group.MOUNT,
          "job-by",
          Kind.of("cgroup|tree|pid|env:NAME", JobBy::parse),
          JobBy.CGROUP,
          "What a job is in the figures: a control group, such as Slurm's, Docker's or"
              + " Kubernetes's; 'tree' a command with all that it starts; 'pid' a process;"
              + " 'env:NAME' the processes with one value of a variable, such as env:SLURM_JOB_ID."
              + " Default: cgroup.");

  /** How the daemon speaks to the kernel; never {@link BindingChoice#AUTO} in {@link Settings}. */
  public static final Setting<BindingChoice> BINDING =
      row(
              Group.MOUNT,
              "binding",
              Kind.choice(BindingChoice.values()),
              BindingChoice.JNR_FUSE,
              "How to speak to the kernel: 'kernel' by its own protocol, which is faster and lets"
                  + " the mount outlive its daemon (root); 'jnr-fuse' through libfuse 2; 'auto' the"
                  + " first that is permitted. Default: auto.")
          .fixed();

  /** Whether users other than the daemon's may use the mount. */
  public static final Setting<Boolean> ALLOW_OTHER =
      row(
              Group.MOUNT,
              "allow-other",
              Kind.yesOrNo(),
              false,
              "Whether other users may use the mount. Default: yes for root, else no.")
          .fixed();

  /** The address of the store; by default it follows from the region. */
  public static final Setting<URI> S3_ENDPOINT =
      row(
          Group.S3,
          "s3-endpoint",
          Kind.of("URL", SettingTable::endpoint),
          null,
          "Where a store other than AWS is: http://HOST:PORT. Default: AWS, or what the environment"
              + " says.");

  /** The bucket's region; by default from the environment. */
  public static final Setting<String> S3_REGION =
      row(
              Group.S3,
              "s3-region",
              Kind.text("REGION"),
              null,
              "The bucket's region, as AWS calls it. Default: from the environment or"
                  + " ~/.aws/config.")
          .obeying(SettingTable::requireRegion);

  /** Whether the bucket's name is in the path of each request, and not in the host's name. */
  public static final Setting<Boolean> S3_PATH_STYLE =
      row(
          Group.S3,
          "s3-path-style",
          Kind.yesOrNo(),
          false,
          "Send the bucket's name in the path of requests, not in the host's name; many stores"
              + " other than AWS want that.");

  /** Whether requests are sent without credentials. */
  public static final Setting<Boolean> S3_ANONYMOUS =
      row(
          Group.S3,
          "s3-anonymous",
          Kind.yesOrNo(),
          false,
          "Send requests without credentials, for a public bucket.");

  /** Whether the reader pays for requests, and not the bucket's owner. */
  public static final Setting<Boolean> S3_REQUESTER_PAYS =
      row(
          Group.S3,
          "s3-requester-pays",
          Kind.yesOrNo(),
          false,
          "Accept that reading is charged to you and not to the bucket's owner.");

  /** Owner of all files and directories, which the store does not know. */
  public static final Setting<Integer> UID =
      row(Group.S3, "uid", Kind.owner(), null, "Owner of all files. Default: the user who mounts.");

  /** Group of all files and directories. */
  public static final Setting<Integer> GID =
      row(
          Group.S3,
          "gid",
          Kind.owner(),
          null,
          "Group of all files. Default: that of the user who mounts.");

  /** Permission bits of files. */
  public static final Setting<Integer> FILE_MODE =
      row(Group.S3, "file-mode", Kind.mode(), 0644, "Permissions of files. Default: 0644.");

  /** Permission bits of directories. */
  public static final Setting<Integer> DIR_MODE =
      row(Group.S3, "dir-mode", Kind.mode(), 0755, "Permissions of directories. Default: 0755.");

  /**
   * The address where peers reach this node, which is its name among them; without it the node has
   * no peers.
   */
  public static final Setting<NodeAddress> LISTEN =
      row(
          Group.PEERS,
          "listen",
          Kind.of("HOST:PORT", NodeAddress::parse),
          null,
          "Where other nodes reach this one; the next port is used too. With it, what another node"
              + " has in memory comes from there. Default: no peers.");

  /** How this node finds its peers. */
  public static final Setting<Discovery> PEERS =
      row(
          Group.PEERS,
          "peers",
          Kind.of("HOST:PORT,...|dns:NAME|dir:/PATH", Discovery::parse),
          null,
          "How the nodes find each other: what some or all of them have for --listen, a DNS name"
              + " with all their addresses, or a directory that all can write to.");

  /** The file with the secret that all nodes know. */
  public static final Setting<Path> CLUSTER_SECRET_FILE =
      row(
          Group.PEERS,
          "cluster-secret-file",
          Kind.path("FILE"),
          null,
          "A secret that all nodes have and nobody else: 'head -c 32 /dev/urandom | base64'.");

  /** This node's certificate. */
  public static final Setting<Path> TLS_CERT =
      row(
          Group.PEERS,
          "tls-cert",
          Kind.path("FILE"),
          null,
          "This node's certificate (PEM): nodes encrypt, and prove who they are.");

  /** The certificate's private key. */
  public static final Setting<Path> TLS_KEY =
      row(
          Group.PEERS,
          "tls-key",
          Kind.path("FILE"),
          null,
          "The certificate's private key (PEM, PKCS #8, no password).");

  /** The certificates that sign those of every node. */
  public static final Setting<Path> TLS_CA =
      row(
          Group.PEERS,
          "tls-ca",
          Kind.path("FILE"),
          null,
          "The authority's certificate (PEM), which signed those of all nodes.");

  /** The dataset's name among peers. */
  public static final Setting<String> DATASET_ID =
      row(
              Group.PEERS,
              "dataset-id",
              Kind.text("NAME"),
              null,
              "The dataset's name, the same on every node. Default: one that follows from all of"
                  + " SOURCE: give it where nodes have the dataset at different paths.")
          .obeying(SettingTable::requireDatasetId);

  /** Whether the daemon is the process that the user started. */
  public static final Setting<Boolean> FOREGROUND =
      row(
              Group.DAEMON,
              "foreground",
              Kind.yesOrNo(),
              false,
              "Stay in the foreground and log to the error output. Default: in the background.")
          .fixed();

  /** How much the log says. */
  public static final Setting<LogLevel> LOG_LEVEL =
      row(
          Group.DAEMON,
          "log-level",
          Kind.choice("LEVEL", LogLevel.values()),
          LogLevel.INFO,
          "error, warn, info, debug or trace. Default: info.");

  /** The log file that the user asked for. */
  public static final Setting<Path> LOG_FILE =
      row(
          Group.DAEMON,
          "log-file",
          Kind.path("FILE"),
          null,
          "Where the background daemon logs. Default: /var/log/holdfast/NAME.log for root, else"
              + " ~/.local/state/holdfast/NAME.log.");

  /** The directory that keeps the tree for the next mount. */
  public static final Setting<Path> STATE_DIR =
      row(
          Group.DAEMON,
          "state-dir",
          Kind.path("DIR").orNone(),
          null,
          "Where names and attributes are kept for the next mount, which then need not list the"
              + " dataset again. Default: /var/lib/holdfast for root, else ~/.local/state/holdfast.");

  /** The address where the daemon answers scrapes. */
  public static final Setting<NodeAddress> METRICS =
      row(
          Group.MONITORING,
          "metrics",
          Kind.of("[HOST:]PORT", text -> listensAt(text, "0.0.0.0:9464 for everybody")).orNone(),
          null,
          "Answer scrapes of Prometheus at http://HOST:PORT/metrics. Without HOST, those of this"
              + " machine only; with one, everybody's who can reach it. Default: none; they are in"
              + " .holdfast/metrics in any case.");

  /** The address of the page for a browser. */
  public static final Setting<NodeAddress> PAGE =
      row(
          Group.MONITORING,
          "page",
          Kind.of(
                  "[HOST:]PORT",
                  text -> listensAt(text, "0.0.0.0:9465 with --page-token-file for others"))
              .orNone(),
          null,
          "Show a page at http://HOST:PORT/: who waits and for what, what is resident, and what"
              + " more memory would give. It only shows. Without HOST, for users of this machine;"
              + " a HOST that others can reach needs --page-token-file. Default: none.");

  /** The file with the token that a visitor of the page has to show. */
  public static final Setting<Path> PAGE_TOKEN_FILE =
      row(
          Group.MONITORING,
          "page-token-file",
          Kind.path("FILE"),
          null,
          "A secret that visitors of the page give as their password, and nobody else may read:"
              + " 'head -c 32 /dev/urandom | base64'. They see jobs, processes and file names, as"
              + " the owner does.");

  /** The format of the log. */
  public static final Setting<LogFormat> LOG_FORMAT =
      row(
          Group.MONITORING,
          "log-format",
          Kind.choice(LogFormat.values()),
          LogFormat.TEXT,
          "How the log is written: lines for people, or a JSON object each. Default: text.");

  /** The file of the access log. */
  public static final Setting<Path> ACCESS_LOG =
      row(
          Group.MONITORING,
          "access-log",
          Kind.path("FILE").orNone(),
          null,
          "A JSON object a line for each read that reached the daemon, and each fetch: who, what,"
              + " from where, how long. At most 200 MB with its older files; or a Unix socket that"
              + " a program listens at. Default: none.");

  /** Which events the access log has. */
  public static final Setting<Sampling> ACCESS_LOG_SAMPLE =
      row(
          Group.MONITORING,
          "access-log-sample",
          Kind.of("1/N|N/s", Sampling::parse),
          Sampling.DEFAULT,
          "Which of them: one of N, or N a second at most. Those left out are counted. Default:"
              + " 1000/s.");

  /** The users who see single jobs and processes. */
  public static final Setting<StatsAudience> STATS_VISIBLE_TO =
      row(
          Group.MONITORING,
          "stats-visible-to",
          Kind.choice(StatsAudience.values()),
          StatsAudience.OWNER,
          "Who is told of single jobs and processes, and of file names, in .holdfast: 'owner' root"
              + " and the user who mounts, while others, and scrapes, get sums; 'all' everybody."
              + " Default: owner.");

  private SettingTable() {}

  private static <T> Setting<T> row(
      Group group, String name, Kind<T> kind, @Nullable T otherwise, String... help) {
    Setting<T> row = new Setting<>(ROWS.size(), group, name, kind, otherwise, List.of(help));
    ROWS.add(row);
    return row;
  }

  /** Returns every row. */
  public static List<Setting<?>> rows() {
    return Collections.unmodifiableList(ROWS);
  }

  /** Returns the rows of a group. */
  public static List<Setting<?>> rows(Group group) {
    return ROWS.stream().filter(row -> row.group() == group).toList();
  }

  /** Returns the row of that name: {@code item-size}. */
  public static Optional<Setting<?>> find(String name) {
    return ROWS.stream()
        .<Setting<?>>map(row -> row)
        .filter(row -> row.name().equals(name))
        .findFirst();
  }

  /** Tells whether larger files may be kept in pieces of this size, in bytes. */
  public static boolean isItemSize(long size) {
    return size >= SMALLEST_ITEM_SIZE && size <= LARGEST_ITEM_SIZE && Long.bitCount(size) == 1;
  }

  private static void requireItemSize(long size) {
    require(isItemSize(size), "%s is not possible: choose %s", Sizes.exact(size), ITEM_SIZES);
  }

  private static void requireSome(long bytes) {
    require(bytes > 0, "%d must be greater than 0", bytes);
  }

  private static void requirePolicy(String policy) {
    if (!Policies.mountable().contains(policy)) {
      throw Kind.unknown(policy, List.copyOf(Policies.mountable()));
    }
  }

  private static void requirePatterns(List<String> patterns) {
    Selection unused = Selection.of(patterns, List.of());
  }

  private static void requireTime(Duration time) {
    require(
        !time.isNegative() && time.compareTo(Durations.LONGEST) <= 0,
        "%s is not possible: it must be from 0 to 68 years",
        time);
  }

  private static void requireSourceTimeout(Duration time) {
    requireTime(time);
    require(
        time.compareTo(SHORTEST_SOURCE_TIMEOUT) >= 0,
        "%s is not possible: it must be at least 1s",
        time);
  }

  private static void requireName(String name) {
    require(
        MountNames.isName(name),
        "'%s' is not a name: write at most %d letters, digits, dots, dashes and underscores, and"
            + " begin with a letter or digit",
        name,
        MountNames.LONGEST);
  }

  private static void requireDatasetId(String id) {
    require(
        SharedDataset.isId(id),
        "'%s' is no name: write at most %d letters, digits, dots, dashes and underscores, and begin"
            + " with a letter or digit",
        id,
        SharedDataset.LONGEST_ID);
  }

  /**
   * Checks the name of a region of AWS.
   *
   * @throws IllegalArgumentException with one line if it is none
   */
  public static void requireRegion(String region) {
    require(
        region.matches("[a-z0-9]+(-[a-z0-9]+)*"),
        "'%s' is no region: write one like us-east-1",
        region);
  }

  /**
   * Returns the address of a store of S3.
   *
   * @throws IllegalArgumentException with one line if the text is none
   */
  public static URI endpoint(String url) {
    // a URL with an @ may hold a password, so the message does not repeat it
    require(url.indexOf('@') < 0, "names a user: give credentials by the environment");
    try {
      URI uri = new URI(url);
      boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
      if (http && uri.getHost() != null && uri.getQuery() == null && uri.getFragment() == null) {
        return uri;
      }
    } catch (URISyntaxException e) {
      throw noEndpoint(url);
    }
    throw noEndpoint(url);
  }

  private static IllegalArgumentException noEndpoint(String url) {
    return new IllegalArgumentException(
        "'%s' is no address of a store: write it as https://HOST:PORT".formatted(url));
  }

  /** Parses the address of a server; a port alone is on this machine only. */
  /**
   * Parses where a server listens: a port, for this machine only, or HOST:PORT.
   *
   * @param reachable an example of an address that others reach
   * @throws IllegalArgumentException where the text is neither, with a message for the user
   */
  public static NodeAddress listensAt(String text, String reachable) {
    boolean portAlone = !text.isEmpty() && text.chars().allMatch(Character::isDigit);
    try {
      return NodeAddress.parse(portAlone ? "127.0.0.1:" + text : text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "'"
              + text
              + "' is no address: write a port from 1 to 65535, for this machine only, or"
              + " HOST:PORT, such as "
              + reachable,
          e);
    }
  }
}
