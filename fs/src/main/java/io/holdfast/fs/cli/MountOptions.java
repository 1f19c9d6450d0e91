package io.holdfast.fs.cli;

import io.holdfast.fs.daemon.AclChoice;
import io.holdfast.fs.daemon.BindingChoice;
import io.holdfast.fs.daemon.LogLevel;
import io.holdfast.fs.daemon.OpenCounting;
import io.holdfast.fs.daemon.PinMode;
import io.holdfast.fs.daemon.Settings;
import io.holdfast.fs.daemon.SettingsBuilder;
import io.holdfast.fs.daemon.Source;
import io.holdfast.fs.daemon.XattrChoice;
import io.holdfast.fs.units.Durations;
import io.holdfast.fs.units.Sizes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/**
 * The options of mount: their definition, and what they mean. An option that was not given is null
 * here, so that {@link Settings} knows its own defaults. The variable of the environment and the
 * key of the file that say the same follow from the option's name: see {@link OptionTable}. A new
 * option needs a field here, a {@link Settings.Key}, a method of the builder, and a line in {@link
 * #fill}. Not thread-safe.
 */
final class MountOptions {
  @ArgGroup(validate = false, order = 1, heading = "%nWhat is kept in memory:%n")
  Cache cache = new Cache();

  @ArgGroup(validate = false, order = 2, heading = "%nHow the mount behaves:%n")
  Mount mount = new Mount();

  @ArgGroup(validate = false, order = 3, heading = "%nA source in S3:%n")
  S3Words s3 = new S3Words();

  @ArgGroup(validate = false, order = 4, heading = "%nOther nodes with the same dataset:%n")
  PeerWords peers = new PeerWords();

  @ArgGroup(validate = false, order = 5, heading = "%nThe daemon and its log:%n")
  Service service = new Service();

  @ArgGroup(validate = false, order = 6, heading = "%nWatching it:%n")
  MonitoringWords monitoring = new MonitoringWords();

  /** What decides over memory. */
  static final class Cache {
    @Option(
        names = "--capacity",
        paramLabel = "SIZE|P%",
        description = {
          "Memory for the cached part of the dataset: 64G, 512M, or a share of the machine's"
              + " memory. In all sizes G is GiB (1024 MiB), and GB is decimal.",
          "Default: 50%%, or what --memory leaves."
        })
    @Nullable String capacity;

    @Option(
        names = "--memory",
        paramLabel = "SIZE|P%",
        description = {
          "Ceiling for all memory together: capacity, transit, names and attributes, the Java heap,"
              + " and what peers and S3 need. Default: 80%%."
        })
    @Nullable String memory;

    @Option(
        names = "--memory-min",
        paramLabel = "SIZE|P%",
        description = {
          "What stays resident also when the machine or the control group is short of memory; the"
              + " rest makes way, and comes back later. Default: 0."
        })
    @Nullable String memoryMin;

    @Option(
        names = "--policy",
        paramLabel = "minio|minio-hash|none",
        description = {
          "Which items are kept: 'minio' keeps what came first and never replaces it;"
              + " 'minio-hash' keeps a share of the dataset that is chosen by name, the same after"
              + " every restart and on every node; 'none' keeps nothing. Default: minio."
        })
    @Nullable String policy;

    @Option(
        names = "--keep",
        paramLabel = "GLOB",
        description = {
          "Files that stay resident whatever the policy thinks, such as a validation set: a name"
              + " ('*.idx'), a path from the root ('val/*.tar') or a folder ('val/'). May be given"
              + " several times."
        })
    @Nullable List<String> keep;

    @Option(
        names = "--exclude",
        paramLabel = "GLOB",
        description = "Files that are never resident; as --keep, which wins over it.")
    @Nullable List<String> exclude;

    @Option(
        names = "--item-size",
        paramLabel = "SIZE",
        description =
            "Larger files are kept in pieces of this size, a power of two from 1M to 64M. Default:"
                + " 8M.")
    @Nullable String itemSize;

    @Option(
        names = "--pin",
        paramLabel = "hard|soft|auto",
        description = {
          "'hard' locks pages in memory; 'soft' lets the kernel take them under pressure; 'auto'"
              + " locks where it is permitted. Default: auto."
        })
    @Nullable String pin;

    @Option(
        names = "--transit",
        paramLabel = "SIZE",
        description = "Memory for data between fetch and use. Default: 256M.")
    @Nullable String transit;

    @Option(
        names = "--window",
        paramLabel = "SIZE",
        description = {
          "How much of what is not kept may linger in the page cache; 0 drops it at once. Default:"
              + " 64M."
        })
    @Nullable String window;

    @Option(
        names = "--window-age",
        paramLabel = "TIME",
        description = "How long it may linger after its last byte was read. Default: 2s.")
    @Nullable String windowAge;
  }

  /** What the users of the mount notice. */
  static final class Mount {
    @Option(
        names = "--name",
        paramLabel = "NAME",
        description =
            "Name of the mount for the other commands. Default: from the mountpoint, /data/imagenet"
                + " -> data-imagenet.")
    @Nullable String name;

    @Option(
        names = "--config",
        paramLabel = "FILE",
        description = {
          "A file with options, as 'capacity: 64G'; what is given here wins over it. Default:"
              + " /etc/holdfast/NAME.yaml, for users first ~/.config/holdfast/NAME.yaml, if it is"
              + " there."
        })
    @Nullable Path config;

    @Option(
        names = "--metadata-ttl",
        paramLabel = "TIME|indefinite",
        description = {
          "How long names, sizes and times may be remembered before the source is asked again: 60s,"
              + " 1h, 0. Default: 1h."
        })
    @Nullable String metadataTtl;

    @Option(
        names = "--source-timeout",
        paramLabel = "TIME|indefinite",
        description = {
          "How long a read waits for a source that does not answer, before it fails; later ones"
              + " fail at once then, until it answers. Default: 60s."
        })
    @Nullable String sourceTimeout;

    @Option(
        names = "--require-mount",
        negatable = true,
        description = {
          "Refuse a source that lies on the root file system, or where /etc/fstab has a mountpoint"
              + " at or above it that is not mounted: for a source on NFS or a disk of its own that"
              + " may be missing. Default: no."
        })
    @Nullable Boolean requireMount;

    @Option(
        names = "--xattr",
        paramLabel = "on|off",
        description =
            "Whether the mount has extended attributes; 'off' spares programs that ask for those of"
                + " every file. Default: on.")
    @Nullable String xattr;

    @Option(
        names = "--acl",
        paramLabel = "auto|kernel|strict",
        description = {
          "Who decides by the ACLs of the dataset: 'kernel' asks for that of each file and decides"
              + " as at the source (root), 'strict' shows modes that give nobody more than the ACLs"
              + " do, 'auto' is 'kernel' where the dataset is seen to have ACLs at the mount."
              + " Default: auto."
        })
    @Nullable String acl;

    @Option(
        names = "--count-opens",
        paramLabel = "auto|watch|message|off",
        description = {
          "How opens are counted: 'watch' with fanotify (root), 'message' by a message each"
              + " (slower), 'auto' the first that is permitted. Default: auto."
        })
    @Nullable String countOpens;

    @Option(
        names = "--job-by",
        paramLabel = "cgroup|tree|pid|env:NAME",
        description = {
          "What a job is in the figures: a control group, such as Slurm's, Docker's or"
              + " Kubernetes's; 'tree' a command with all that it starts; 'pid' a process;"
              + " 'env:NAME' the processes with one value of a variable, such as env:SLURM_JOB_ID."
              + " Default: cgroup."
        })
    @Nullable String jobBy;

    @Option(
        names = "--binding",
        paramLabel = "auto|kernel|jnr-fuse",
        description = {
          "How to speak to the kernel: 'kernel' by its own protocol, which is faster and lets the"
              + " mount outlive its daemon (root); 'jnr-fuse' through libfuse 2; 'auto' the first"
              + " that is permitted. Default: auto."
        })
    @Nullable String binding;

    @Option(
        names = "--allow-other",
        negatable = true,
        description = "Whether other users may use the mount. Default: yes for root, else no.")
    @Nullable Boolean allowOther;
  }

  /** What concerns the process. */
  static final class Service {
    @Option(
        names = "--foreground",
        negatable = true,
        description =
            "Stay in the foreground and log to the error output. Default: in the background.")
    @Nullable Boolean foreground;

    @Option(
        names = "--log-level",
        paramLabel = "LEVEL",
        description = "error, warn, info, debug or trace. Default: info.")
    @Nullable String logLevel;

    @Option(
        names = "--log-file",
        paramLabel = "FILE",
        description = {
          "Where the background daemon logs. Default: /var/log/holdfast/NAME.log for root, else"
              + " ~/.local/state/holdfast/NAME.log."
        })
    @Nullable Path logFile;

    @Option(
        names = "--state-dir",
        paramLabel = "DIR|none",
        description = {
          "Where names and attributes are kept for the next mount, which then need not list the"
              + " dataset again. Default: /var/lib/holdfast for root, else ~/.local/state/holdfast."
        })
    @Nullable Path stateDirectory;
  }

  /**
   * Says what the options mean.
   *
   * @param given all that was said, wherever
   * @param origin a directory is absolute
   * @param mountpoint absolute
   * @throws CliException when a value is wrong
   */
  static Settings settings(GivenSettings given, Source origin, Path mountpoint, Host host) {
    SettingsBuilder builder = Settings.builder(origin, mountpoint).systemMemory(host.memory());
    MountOptions options = OptionTable.Parsed.of(given.words()).options;
    options.fill(new Filling(builder, given), host);
    given.get(Settings.Key.SOURCE).ifPresent(one -> builder.source(one.key(), one.source()));
    given.get(Settings.Key.MOUNTPOINT).ifPresent(one -> builder.source(one.key(), one.source()));
    try {
      return builder.build();
    } catch (IllegalArgumentException e) {
      throw CliException.usage(given.relabelled(String.valueOf(e.getMessage())));
    }
  }

  /**
   * What the options are written to.
   *
   * @param given tells where each came from
   */
  record Filling(SettingsBuilder builder, GivenSettings given) {
    /** Sets what was given. */
    <T> void set(Settings.Key key, @Nullable T value, Consumer<T> setter) {
      if (value == null) {
        return;
      }
      Given one = given.get(key).orElseThrow();
      try {
        setter.accept(value);
      } catch (IllegalArgumentException e) {
        throw CliException.usage(one.label() + " " + e.getMessage());
      }
      builder.source(key, one.source());
    }
  }

  private void fill(Filling f, Host host) {
    SettingsBuilder b = f.builder();
    boolean root = host.uid() == 0;
    String byUser = root ? "default for root" : "default for users";
    b.allowOther(root).source(Settings.Key.ALLOW_OTHER, byUser);
    b.binding(root ? BindingChoice.KERNEL : BindingChoice.JNR_FUSE)
        .source(Settings.Key.BINDING, byUser);
    b.stateDirectory(StateDirectory.of(host.uid(), host.environment()))
        .source(Settings.Key.STATE_DIR, byUser);

    fill(f, cache, host.memory());
    fill(f, mount);
    s3.fill(f);
    monitoring.fill(f);
    peers.fill(f);
    f.given()
        .get(Settings.Key.FOREGROUND)
        .ifPresent(
            one -> b.foreground(Boolean.parseBoolean(one.value())).source(one.key(), one.source()));
    f.set(Settings.Key.LOG_LEVEL, service.logLevel, v -> b.level(one(LogLevel.values(), v)));
    f.set(Settings.Key.LOG_FILE, service.logFile, b::logFile);
    f.set(
        Settings.Key.STATE_DIR,
        service.stateDirectory,
        v -> b.stateDirectory(v.toString().equals(OptionTable.NONE) ? null : v));
  }

  private static void fill(Filling f, Cache cache, long memory) {
    SettingsBuilder b = f.builder();
    f.set(Settings.Key.CAPACITY, cache.capacity, v -> b.capacityBytes(Sizes.parse(v, memory)));
    f.set(Settings.Key.MEMORY, cache.memory, v -> b.memoryBytes(Sizes.parse(v, memory)));
    f.set(Settings.Key.MEMORY_MIN, cache.memoryMin, v -> b.memoryMinBytes(Sizes.parse(v, memory)));
    f.set(Settings.Key.POLICY, cache.policy, b::policy);
    f.set(Settings.Key.KEEP, cache.keep, b::keep);
    f.set(Settings.Key.EXCLUDE, cache.exclude, b::exclude);
    f.set(Settings.Key.ITEM_SIZE, cache.itemSize, v -> b.itemSize(Sizes.parse(v)));
    f.set(Settings.Key.PIN, cache.pin, v -> b.pin(one(PinMode.values(), v)));
    f.set(Settings.Key.TRANSIT, cache.transit, v -> b.transitBytes(Sizes.parse(v)));
    f.set(Settings.Key.WINDOW, cache.window, v -> b.windowBytes(Sizes.parse(v)));
    f.set(Settings.Key.WINDOW_AGE, cache.windowAge, v -> b.windowAge(Durations.parse(v)));
  }

  private static void fill(Filling f, Mount mount) {
    SettingsBuilder b = f.builder();
    f.set(Settings.Key.NAME, mount.name, b::name);
    f.set(Settings.Key.CONFIG, mount.config, b::configFile);
    f.set(Settings.Key.METADATA_TTL, mount.metadataTtl, v -> b.metadataTtl(ttl(v)));
    f.set(Settings.Key.SOURCE_TIMEOUT, mount.sourceTimeout, v -> b.sourceTimeout(ttl(v)));
    f.set(Settings.Key.REQUIRE_MOUNT, mount.requireMount, b::requireMount);
    f.set(Settings.Key.XATTR, mount.xattr, v -> b.xattr(one(XattrChoice.values(), v)));
    f.set(Settings.Key.ACL, mount.acl, v -> b.acl(one(AclChoice.values(), v)));
    f.set(
        Settings.Key.COUNT_OPENS,
        mount.countOpens,
        v -> b.openCounting(one(OpenCounting.values(), v)));
    f.set(Settings.Key.JOB_BY, mount.jobBy, b::jobBy);
    f.set(
        Settings.Key.BINDING,
        mount.binding,
        v -> {
          BindingChoice choice = one(BindingChoice.values(), v);
          if (choice != BindingChoice.AUTO) {
            b.binding(choice);
          }
        });
    f.set(Settings.Key.ALLOW_OTHER, mount.allowOther, b::allowOther);
  }

  private static Duration ttl(String text) {
    return text.equals("indefinite") ? Settings.INDEFINITE : Durations.parse(text);
  }

  /** Returns the value that is written so. */
  static <E extends Enum<E>> E one(E[] values, String text) {
    for (E value : values) {
      if (word(value).equals(text)) {
        return value;
      }
    }
    String choice = Arrays.stream(values).map(MountOptions::word).collect(Collectors.joining(", "));
    throw new IllegalArgumentException("'" + text + "' is not known: choose one of " + choice);
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
