package io.holdfast.fs.daemon;

import io.holdfast.fs.origin.s3.S3Settings;
import io.holdfast.fs.peers.PeerSettings;
import io.holdfast.fs.units.Durations;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Sizes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What settings are, in words for people and for files. Immutable. */
final class SettingsText {
  /** The text of what is not there. */
  static final String NOTHING = "-";

  /** Longer sizes, as 78125000K, nobody reads. */
  private static final int LONGEST_EXACT = 5;

  /** The text of what is told to the owner alone. */
  private static final String WITHHELD = "(for the owner)";

  /** Settings that name files, other than the dataset and the mountpoint. */
  private static final Set<Settings.Key> OF_FILES =
      EnumSet.of(
          Settings.Key.CONFIG,
          Settings.Key.KEEP,
          Settings.Key.EXCLUDE,
          Settings.Key.CLUSTER_SECRET_FILE,
          Settings.Key.TLS_CERT,
          Settings.Key.TLS_KEY,
          Settings.Key.TLS_CA,
          Settings.Key.LOG_FILE,
          Settings.Key.ACCESS_LOG,
          Settings.Key.STATE_DIR);

  private final Settings settings;

  SettingsText(Settings settings) {
    this.settings = settings;
  }

  /**
   * Returns a setting's value as an option or a file would give it, such as {@code 64G}; a list for
   * options that may be given several times, null for what is not there.
   */
  private @Nullable Object value(Settings.Key key) {
    return switch (key) {
      case CAPACITY -> Sizes.exact(settings.capacityBytes());
      case MEMORY -> Sizes.exact(settings.memoryBytes());
      case MEMORY_MIN -> Sizes.exact(settings.memoryMinBytes());
      case TRANSIT -> Sizes.exact(settings.transitBytes());
      case WINDOW -> Sizes.exact(settings.windowBytes());
      case ITEM_SIZE -> Sizes.exact(settings.itemSize());
      case KEEP -> settings.keep;
      case EXCLUDE -> settings.exclude;
      default -> text(key).equals(NOTHING) ? null : text(key);
    };
  }

  /** Returns what {@link Settings#text} says. */
  String text(Settings.Key key) {
    return switch (key) {
      case SOURCE -> settings.origin().toString();
      case MOUNTPOINT -> settings.mountpoint().toString();
      case NAME -> settings.name();
      case CONFIG -> orNothing(settings.configFile);
      case CAPACITY -> size(settings.capacityBytes());
      case MEMORY -> size(settings.memoryBytes());
      case MEMORY_MIN -> size(settings.memoryMinBytes());
      case TRANSIT -> size(settings.transitBytes());
      case POLICY -> settings.policy();
      case KEEP -> patterns(settings.keep);
      case EXCLUDE -> patterns(settings.exclude);
      case ITEM_SIZE -> size(settings.itemSize());
      case METADATA_TTL -> orIndefinite(settings.metadataTtl());
      case SOURCE_TIMEOUT -> orIndefinite(settings.sourceTimeout());
      case REQUIRE_MOUNT -> settings.requireMount() ? "yes" : "no";
      case XATTR -> lower(settings.xattr());
      case ACL -> lower(settings.acl());
      case PIN -> lower(settings.pin());
      case WINDOW -> size(settings.windowBytes());
      case WINDOW_AGE -> Durations.exact(settings.windowAge());
      case COUNT_OPENS -> lower(settings.openCounting());
      case JOB_BY -> settings.jobBy().toString();
      case BINDING -> lower(settings.binding()).replace('_', '-');
      case ALLOW_OTHER -> settings.allowOther() ? "yes" : "no";
      case S3_ENDPOINT,
          S3_REGION,
          S3_PATH_STYLE,
          S3_ANONYMOUS,
          S3_REQUESTER_PAYS,
          UID,
          GID,
          FILE_MODE,
          DIR_MODE ->
          ofS3(key);
      case LISTEN, PEERS, CLUSTER_SECRET_FILE, TLS_CERT, TLS_KEY, TLS_CA, DATASET_ID ->
          ofPeers(key);
      case FOREGROUND -> settings.foreground() ? "yes" : "no";
      case LOG_LEVEL -> lower(settings.level());
      case LOG_FILE -> orNothing(settings.logFile().orElse(null));
      case LOG_FORMAT, METRICS, ACCESS_LOG, ACCESS_LOG_SAMPLE, STATS_VISIBLE_TO ->
          settings.monitoring().text(key);
      case STATE_DIR -> settings.stateDirectory().map(Path::toString).orElse("none");
    };
  }

  private String ofS3(Settings.Key key) {
    S3Settings s3 = settings.s3;
    return s3 == null ? NOTHING : S3Options.text(s3, key);
  }

  private String ofPeers(Settings.Key key) {
    PeerSettings peers = settings.peers().orElse(null);
    return peers == null ? NOTHING : PeerRules.text(peers, key);
  }

  private static String orNothing(@Nullable Path path) {
    return path == null ? NOTHING : path.toString();
  }

  private static String orIndefinite(Duration time) {
    return time.equals(Settings.INDEFINITE) ? "indefinite" : Durations.exact(time);
  }

  /** Returns what {@link Settings#report} says. */
  List<Map<String, Object>> report() {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (Settings.Key key : Settings.Key.values()) {
      rows.add(row(key.text(), value(key), text(key), settings.source(key)));
    }
    long heap = settings.heapBytes();
    rows.add(row("heap", Sizes.exact(heap), size(heap), "java -Xmx"));
    return rows;
  }

  /**
   * Returns rows of {@link #report} as users other than the owner see them: without the names of
   * files, but for the dataset and where it appears.
   */
  static List<Map<String, Object>> forOthers(List<Map<String, Object>> rows) {
    return rows.stream()
        .map(row -> isOfFiles(row) ? row(setting(row), null, WITHHELD, source(row)) : row)
        .toList();
  }

  private static boolean isOfFiles(Map<String, Object> row) {
    return !NOTHING.equals(row.get("text"))
        && OF_FILES.stream().map(Settings.Key::text).anyMatch(setting(row)::equals);
  }

  private static String setting(Map<String, Object> row) {
    return String.valueOf(row.get("setting"));
  }

  private static String source(Map<String, Object> row) {
    return String.valueOf(row.get("source"));
  }

  /** Returns the row of {@link #report} for a capacity that somebody has set since the mount. */
  static Map<String, Object> changedCapacity(long bytes) {
    return row(Settings.Key.CAPACITY.text(), Sizes.exact(bytes), size(bytes), "holdfast capacity");
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

  /** In words as well where the exact number is long. */
  private static String size(long bytes) {
    String exact = Sizes.exact(bytes);
    return exact.length() <= LONGEST_EXACT ? exact : exact + " (" + Human.bytes(bytes) + ")";
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
