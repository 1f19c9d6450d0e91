package io.holdfast.fs.daemon;

import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.units.Durations;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Sizes;
import io.holdfast.policy.Policies;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What settings must obey, and how those that were not given follow from the others. Stateless. */
final class SettingsRules {
  private static final Duration SHORTEST_SOURCE_TIMEOUT = Duration.ofSeconds(1);

  private SettingsRules() {}

  /** Fills in name, memory and capacity where they were not given. */
  static void complete(SettingsBuilder b) {
    if (b.name == null) {
      b.name = MountNames.of(b.mountpoint);
      b.source(Settings.Key.NAME, "derived from the mountpoint");
    }
    if (b.systemMemory == null) {
      b.systemMemory = SystemMemory.detect();
    }
    long system = b.systemMemory;
    if (b.memoryBytes == null) {
      b.memoryBytes = percent(system, Settings.DEFAULT_MEMORY_PERCENT);
      b.source(Settings.Key.MEMORY, derived(Settings.DEFAULT_MEMORY_PERCENT, system));
    }
    if (b.capacityBytes == null) {
      long wanted = percent(system, Settings.DEFAULT_CAPACITY_PERCENT);
      long room = room(b, b.memoryBytes);
      b.capacityBytes = Math.min(wanted, room);
      b.source(
          Settings.Key.CAPACITY,
          room < wanted
              ? "derived from memory, transit and heap"
              : derived(Settings.DEFAULT_CAPACITY_PERCENT, system));
    }
  }

  /** Checks every value. */
  static void check(SettingsBuilder b) {
    require(
        !(b.origin instanceof Source.Directory directory) || directory.path().isAbsolute(),
        "origin '%s' is not absolute",
        b.origin);
    require(b.mountpoint.isAbsolute(), "mountpoint '%s' is not absolute", b.mountpoint);
    require(
        MountNames.isName(Objects.requireNonNull(b.name)),
        "--name '%s' is not a name: write at most %d letters, digits, dots, dashes and underscores,"
            + " and begin with a letter or digit",
        b.name,
        Settings.LONGEST_NAME);
    require(
        Policies.mountable().contains(b.policy),
        "--policy '%s' is not known: choose one of %s",
        b.policy,
        String.join(", ", Policies.mountable()));
    requirePatterns(Settings.Key.KEEP, b.keep);
    requirePatterns(Settings.Key.EXCLUDE, b.exclude);
    requireItemSize(b.itemSize);
    requireDuration(Settings.Key.METADATA_TTL, b.metadataTtl);
    requireDuration(Settings.Key.WINDOW_AGE, b.windowAge);
    requireDuration(Settings.Key.SOURCE_TIMEOUT, b.sourceTimeout);
    require(
        b.sourceTimeout.compareTo(SHORTEST_SOURCE_TIMEOUT) >= 0,
        "--source-timeout %s is not possible: it must be at least 1s",
        b.sourceTimeout);
    require(
        b.acl != AclChoice.KERNEL || b.xattr == XattrChoice.ON,
        "--acl kernel is not possible with --xattr off: the kernel asks for ACLs as for extended"
            + " attributes; fix: leave one of the two away");
    require(
        b.logFile == null || b.logFile.isAbsolute(), "log file '%s' is not absolute", b.logFile);
    require(
        b.stateDirectory == null || b.stateDirectory.isAbsolute(),
        "state directory '%s' is not absolute",
        b.stateDirectory);
    b.s3.check(b.origin);
    PeerRules.check(b);
    checkMemory(b);
  }

  private static void requirePatterns(Settings.Key key, List<String> patterns) {
    try {
      Selection ignored = Selection.of(patterns, List.of());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("--" + key.text() + " " + e.getMessage(), e);
    }
  }

  private static void requireItemSize(long itemSize) {
    require(
        Settings.isItemSize(itemSize),
        "--item-size %s is not possible: choose %s",
        Sizes.exact(itemSize),
        Settings.ITEM_SIZES);
  }

  private static void requireDuration(Settings.Key key, Duration value) {
    require(
        !value.isNegative() && value.compareTo(Durations.LONGEST) <= 0,
        "--%s %s is not possible: it must be from 0 to 68 years",
        key.text(),
        value);
  }

  private static void checkMemory(SettingsBuilder b) {
    long system = Objects.requireNonNull(b.systemMemory);
    long memory = Objects.requireNonNull(b.memoryBytes);
    long capacity = Objects.requireNonNull(b.capacityBytes);
    boolean given = !b.sources.getOrDefault(Settings.Key.CAPACITY, "").startsWith("derived");
    requireSome(Settings.Key.MEMORY, memory, system);
    requireSome(Settings.Key.TRANSIT, b.transitBytes, system);
    require(
        b.transitBytes >= 2 * b.itemSize,
        "--transit %s does not hold two items of %s: raise --transit or lower --item-size",
        Sizes.exact(b.transitBytes),
        Sizes.exact(b.itemSize));
    require(
        b.windowBytes >= 0 && b.windowBytes <= system,
        "--window %s is more than the memory there is (%s): give less",
        Sizes.exact(b.windowBytes),
        Human.bytes(system));
    if (given) {
      requireSome(Settings.Key.CAPACITY, capacity, system);
    }
    require(
        room(b, memory) > 0,
        "--memory %s leaves no room for a cache: transit takes %s and the Java heap %s of it%s",
        Human.bytes(memory),
        Human.bytes(b.transitBytes),
        Human.bytes(b.heapBytes),
        otherMemory(b));
    require(
        capacity <= room(b, memory),
        "--capacity %s does not fit: transit %s, the Java heap %s%s and it must stay within"
            + " --memory %s: give at most %s, or raise --memory",
        Human.bytes(capacity),
        Human.bytes(b.transitBytes),
        Human.bytes(b.heapBytes),
        otherMemory(b),
        Human.bytes(memory),
        Sizes.exact(room(b, memory) >> 20 << 20));
    require(
        b.memoryMinBytes >= 0 && b.memoryMinBytes <= capacity,
        "--memory-min %s is more than --capacity %s: residents cannot keep what they may not have",
        Sizes.exact(b.memoryMinBytes),
        Human.bytes(capacity));
  }

  private static void requireSome(Settings.Key key, long bytes, long system) {
    require(bytes > 0, "--%s %d is nothing: give a size above 0", key.text(), bytes);
    require(
        bytes <= system,
        "--%s %s is more than the memory there is (%s): give less, or a percentage such as 50%%",
        key.text(),
        Sizes.exact(bytes),
        Human.bytes(system));
  }

  private static long room(SettingsBuilder b, long memory) {
    return memory
        - b.transitBytes
        - b.heapBytes
        - PeerRules.memoryBytes(b)
        - S3Options.memoryBytes(b.origin);
  }

  /** Returns what there is room for besides everything else, in bytes. */
  static long room(Settings settings) {
    return settings.memoryBytes()
        - settings.transitBytes()
        - settings.heapBytes()
        - connections(settings);
  }

  /** Returns what connections with peers and with a store may take, in bytes. */
  static long connections(Settings settings) {
    return (settings.peers().isPresent() ? PeerRules.MEMORY_BYTES : 0)
        + S3Options.memoryBytes(settings.origin());
  }

  private static String otherMemory(SettingsBuilder b) {
    return memoryOf("connections with peers", PeerRules.memoryBytes(b))
        + memoryOf("parts of objects on their way", S3Options.memoryBytes(b.origin));
  }

  private static String memoryOf(String what, long bytes) {
    return bytes == 0 ? "" : ", " + what + " " + Human.bytes(bytes);
  }

  private static long percent(long whole, int percent) {
    return whole / 100 * percent;
  }

  private static String derived(int percent, long system) {
    return "derived from " + percent + "% of the memory (" + Human.bytes(system) + ")";
  }

  static void require(boolean holds, String format, @Nullable Object... args) {
    if (!holds) {
      throw new IllegalArgumentException(String.format(Locale.ROOT, format, args));
    }
  }
}
