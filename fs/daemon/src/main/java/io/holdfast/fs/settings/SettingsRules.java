package io.holdfast.fs.settings;

import static io.holdfast.fs.settings.SettingTable.ACL;
import static io.holdfast.fs.settings.SettingTable.CAPACITY;
import static io.holdfast.fs.settings.SettingTable.CLUSTER_SECRET_FILE;
import static io.holdfast.fs.settings.SettingTable.CONVOY;
import static io.holdfast.fs.settings.SettingTable.COUNT_OPENS;
import static io.holdfast.fs.settings.SettingTable.DATASET_ID;
import static io.holdfast.fs.settings.SettingTable.DIR_MODE;
import static io.holdfast.fs.settings.SettingTable.FILE_MODE;
import static io.holdfast.fs.settings.SettingTable.GID;
import static io.holdfast.fs.settings.SettingTable.ITEM_SIZE;
import static io.holdfast.fs.settings.SettingTable.LISTEN;
import static io.holdfast.fs.settings.SettingTable.LOG_FILE;
import static io.holdfast.fs.settings.SettingTable.MEMORY;
import static io.holdfast.fs.settings.SettingTable.MEMORY_MIN;
import static io.holdfast.fs.settings.SettingTable.METRICS;
import static io.holdfast.fs.settings.SettingTable.MOUNTPOINT;
import static io.holdfast.fs.settings.SettingTable.NAME;
import static io.holdfast.fs.settings.SettingTable.PAGE;
import static io.holdfast.fs.settings.SettingTable.PAGE_TOKEN_FILE;
import static io.holdfast.fs.settings.SettingTable.PEERS;
import static io.holdfast.fs.settings.SettingTable.S3_ANONYMOUS;
import static io.holdfast.fs.settings.SettingTable.S3_ENDPOINT;
import static io.holdfast.fs.settings.SettingTable.S3_PATH_STYLE;
import static io.holdfast.fs.settings.SettingTable.S3_REGION;
import static io.holdfast.fs.settings.SettingTable.S3_REQUESTER_PAYS;
import static io.holdfast.fs.settings.SettingTable.SOURCE;
import static io.holdfast.fs.settings.SettingTable.SOURCE_TIMEOUT;
import static io.holdfast.fs.settings.SettingTable.STATE_DIR;
import static io.holdfast.fs.settings.SettingTable.TLS_CA;
import static io.holdfast.fs.settings.SettingTable.TLS_CERT;
import static io.holdfast.fs.settings.SettingTable.TLS_KEY;
import static io.holdfast.fs.settings.SettingTable.TRANSIT;
import static io.holdfast.fs.settings.SettingTable.UID;
import static io.holdfast.fs.settings.SettingTable.WINDOW;
import static io.holdfast.fs.settings.SettingTable.XATTR;
import static io.holdfast.fs.settings.Settings.require;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.origin.s3.S3Origin;
import io.holdfast.fs.origin.s3.S3Settings;
import io.holdfast.fs.peers.PeerSettings;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Sizes;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.SharedDataset;
import io.holdfast.peer.TlsFiles;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The rules for several settings together, and the defaults that follow from other settings.
 * Stateless.
 */
final class SettingsRules {
  private static final int CAPACITY_PERCENT = 50;
  private static final int MEMORY_PERCENT = 80;

  private static final int LARGEST_PORT = 65535;

  /** Hosts that mean all addresses of a machine. */
  private static final Set<String> EVERY_ADDRESS = Set.of("0.0.0.0", "::", "0:0:0:0:0:0:0:0");

  /** The off-heap memory of connections with peers. */
  private static final long PEER_BYTES = 64L << 20;

  /** The most characters of a default id before its digest. */
  private static final int LONGEST_READABLE = 64;

  private static final int DIGEST_BYTES = 6;

  private SettingsRules() {}

  /** Fills in values that were not given and follow from the others. */
  static void complete(Settings.Builder b) {
    b.complete(NAME, MountNames.of(required(b, MOUNTPOINT)), "derived from the mountpoint");
    if (required(b, SOURCE) instanceof Source.S3) {
      b.complete(UID, Procfs.ownUid(), Settings.DEFAULT);
      b.complete(GID, Procfs.ownGid(), Settings.DEFAULT);
    }
    if (b.has(LISTEN)) {
      b.complete(DATASET_ID, datasetId(required(b, SOURCE)), Settings.DEFAULT);
    }
    long system = b.memory();
    b.complete(MEMORY, percent(system, MEMORY_PERCENT), derived(MEMORY_PERCENT, system));
    if (!b.has(CAPACITY)) {
      long wanted = percent(system, CAPACITY_PERCENT);
      long room = new Settings(b).room();
      b.set(
          CAPACITY,
          Math.max(1, Math.min(wanted, room)), // settings that leave no room are refused by name
          room < wanted
              ? "derived from memory, transit and heap"
              : derived(CAPACITY_PERCENT, system));
    }
  }

  private static <T> T required(Settings.Builder b, Setting<T> setting) {
    return Optional.ofNullable(b.get(setting)).orElseThrow();
  }

  private static String derived(int percent, long system) {
    return "derived from " + percent + "% of the memory (" + Human.bytes(system) + ")";
  }

  private static long percent(long whole, int percent) {
    return whole / 100 * percent;
  }

  /**
   * Checks values against each other.
   *
   * @param system the machine's memory, in bytes
   */
  static void check(Settings settings, long system) {
    Source origin = settings.get(SOURCE);
    require(
        !(origin instanceof Source.Directory directory) || directory.path().isAbsolute(),
        "origin '%s' is not absolute",
        origin);
    for (Setting<Path> path : List.of(MOUNTPOINT, LOG_FILE, STATE_DIR)) {
      settings
          .find(path)
          .ifPresent(
              value -> require(value.isAbsolute(), "%s '%s' is not absolute", path.name(), value));
    }
    require(
        settings.get(ACL) != AclChoice.KERNEL || settings.get(XATTR) == XattrChoice.ON,
        "--acl kernel is not possible with --xattr off: the kernel asks for ACLs as for extended"
            + " attributes; fix: leave one of the two away");
    refuseWithoutMeaning(
        settings, Group.S3, "for a directory: leave it out, or give a source s3://BUCKET/PREFIX");
    refuseWithoutMeaning(
        settings,
        Group.PEERS,
        "without --listen HOST:PORT: give the address where peers reach this node");
    settings.find(LISTEN).ifPresent(listen -> checkPeers(settings, listen));
    checkPage(settings);
    checkMemory(settings, system);
  }

  /** Tells whether settings of a group have a meaning for this mount. */
  static boolean hasMeaning(Group group, Settings settings) {
    return switch (group) {
      case S3 -> settings.get(SOURCE) instanceof Source.S3;
      case PEERS -> settings.find(LISTEN).isPresent();
      default -> true;
    };
  }

  private static void refuseWithoutMeaning(Settings settings, Group group, String why) {
    if (!hasMeaning(group, settings)) {
      for (Setting<?> setting : SettingTable.rows(group)) {
        require(!settings.isSaid(setting), "%s means nothing %s", setting.flag(), why);
      }
    }
  }

  private static void checkPeers(Settings settings, NodeAddress listen) {
    require(
        listen.port() < LARGEST_PORT,
        "--listen %s leaves no next port for the membership: choose a lower one",
        listen);
    require(
        !EVERY_ADDRESS.contains(listen.host()),
        "--listen %s is every address of this machine: give the one where peers reach it",
        listen);
    require(
        settings.find(PEERS).isPresent(),
        "--listen %s needs --peers: name nodes as HOST:PORT,..., or write dns:NAME or dir:/PATH",
        listen);
    long tls =
        List.of(TLS_CERT, TLS_KEY, TLS_CA).stream()
            .filter(file -> settings.find(file).isPresent())
            .count();
    require(
        tls == 0 || tls == 3,
        "--tls-cert, --tls-key and --tls-ca go together: give all three or none");
    require(
        tls > 0 || settings.find(CLUSTER_SECRET_FILE).isPresent(),
        "--listen %s needs --cluster-secret-file, or --tls-cert, --tls-key and --tls-ca: peers must"
            + " prove who they are",
        listen);
  }

  private static void checkPage(Settings settings) {
    NodeAddress page = settings.find(PAGE).orElse(null);
    if (page == null) {
      require(
          settings.find(PAGE_TOKEN_FILE).isEmpty(),
          "--page-token-file means nothing without --page [HOST:]PORT: give the address of the"
              + " page");
      return;
    }
    require(
        settings.find(PAGE_TOKEN_FILE).isPresent() || isThisMachine(page.host()),
        "--page %s may be reached from other machines: give --page-token-file too, or a port alone",
        page);
    require(
        !settings.find(METRICS).filter(page::equals).isPresent(),
        "--page %s is where --metrics is: choose another port",
        page);
  }

  /** Tells whether a host is this machine's loopback address; asks no server of names. */
  private static boolean isThisMachine(String host) {
    if (host.equalsIgnoreCase("localhost") || host.matches("127(\\.[0-9]{1,3}){3}")) {
      return true;
    }
    try {
      return host.indexOf(':') >= 0 && InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false; // no address of version 6
    }
  }

  private static void checkMemory(Settings settings, long system) {
    long memory = settings.get(MEMORY);
    long capacity = settings.get(CAPACITY);
    long transit = settings.transitBytes();
    long itemSize = settings.get(ITEM_SIZE);
    for (Setting<Long> size : List.of(MEMORY, TRANSIT, CONVOY, CAPACITY)) {
      require(
          settings.get(size) <= system,
          "%s %s is more than the memory there is (%s): give less, or a percentage such as 50%%",
          size.flag(),
          Sizes.exact(settings.get(size)),
          Human.bytes(system));
    }
    require(
        settings.get(TRANSIT) >= 2 * itemSize,
        "--transit %s does not hold two items of %s: raise --transit or lower --item-size",
        Sizes.exact(settings.get(TRANSIT)),
        Sizes.exact(itemSize));
    require(
        settings.get(CONVOY) == 0 || settings.get(COUNT_OPENS) != OpenCounting.OFF,
        "--convoy %s needs to know what jobs open: mount without --count-opens off",
        Sizes.exact(settings.get(CONVOY)));
    long window = settings.get(WINDOW);
    require(
        window >= 0 && window <= system,
        "--window %s is more than the memory there is (%s): give less",
        Sizes.exact(window),
        Human.bytes(system));
    long room = settings.room();
    require(
        room > 0,
        "--memory %s leaves no room for a cache: transit takes %s and the Java heap %s of it%s",
        Human.bytes(memory),
        Human.bytes(transit),
        Human.bytes(settings.heapBytes()),
        connections(settings));
    require(
        capacity <= room,
        "--capacity %s does not fit: transit %s, the Java heap %s%s and it must stay within"
            + " --memory %s: give at most %s, or raise --memory",
        Human.bytes(capacity),
        Human.bytes(transit),
        Human.bytes(settings.heapBytes()),
        connections(settings),
        Human.bytes(memory),
        Sizes.exact(room >> 20 << 20));
    long least = settings.get(MEMORY_MIN);
    require(
        least >= 0 && least <= capacity,
        "--memory-min %s is more than --capacity %s: residents cannot keep what they may not have",
        Sizes.exact(least),
        Human.bytes(capacity));
  }

  /** Returns the bytes that connections with peers may take. */
  static long peerBytes(Settings settings) {
    return hasMeaning(Group.PEERS, settings) ? PEER_BYTES : 0;
  }

  /** Returns the bytes that parts of objects on their way may take. */
  static long storeBytes(Settings settings) {
    return hasMeaning(Group.S3, settings) ? S3Origin.BUFFER_BYTES : 0;
  }

  private static String connections(Settings settings) {
    return taken("connections with peers", peerBytes(settings))
        + taken("parts of objects on their way", storeBytes(settings));
  }

  private static String taken(String what, long bytes) {
    return bytes == 0 ? "" : ", " + what + " " + Human.bytes(bytes);
  }

  /** Returns the settings of a source in S3. */
  static Optional<S3Settings> s3(Settings settings) {
    if (!(settings.get(SOURCE) instanceof Source.S3 objects)) {
      return Optional.empty();
    }
    return Optional.of(
        new S3Settings(
            objects.location(),
            settings.find(S3_ENDPOINT).orElse(null),
            settings.find(S3_REGION).orElse(null),
            settings.get(S3_PATH_STYLE),
            settings.get(S3_ANONYMOUS),
            settings.get(S3_REQUESTER_PAYS),
            settings.get(FILE_MODE),
            settings.get(DIR_MODE),
            settings.get(UID),
            settings.get(GID),
            settings.callDeadline()));
  }

  /** Returns the settings of a cluster. */
  static Optional<PeerSettings> peers(Settings settings) {
    return settings
        .find(LISTEN)
        .map(
            listen ->
                new PeerSettings(
                    listen,
                    settings.get(PEERS),
                    settings.find(CLUSTER_SECRET_FILE).orElse(null),
                    settings
                        .find(TLS_CERT)
                        .map(
                            cert -> new TlsFiles(cert, settings.get(TLS_KEY), settings.get(TLS_CA)))
                        .orElse(null),
                    new SharedDataset(settings.get(DATASET_ID), settings.get(ITEM_SIZE).intValue()),
                    settings.get(SOURCE_TIMEOUT)));
  }

  /**
   * Returns the default id: the last part of the origin's name, without characters that an id
   * cannot have, and a digest of the whole name. Nodes that name the dataset equally get the same
   * id, and two names never do.
   */
  private static String datasetId(Source origin) {
    String text = origin.lastPart().replaceAll("[^A-Za-z0-9._-]", "-");
    String readable = text.replaceFirst("^[^A-Za-z0-9]+", "");
    String digest = digest(origin.toString());
    String id = readable.substring(0, Math.min(readable.length(), LONGEST_READABLE)) + "-" + digest;
    return SharedDataset.isId(id) ? id : "dataset-" + digest;
  }

  private static String digest(String name) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(name.getBytes(UTF_8));
      return HexFormat.of().formatHex(digest, 0, DIGEST_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
