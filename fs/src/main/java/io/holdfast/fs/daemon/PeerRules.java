package io.holdfast.fs.daemon;

import static io.holdfast.fs.daemon.SettingsRules.require;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.holdfast.fs.peers.PeerSettings;
import io.holdfast.peer.Dataset;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.TlsFiles;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What the settings of peers must obey. Stateless. */
final class PeerRules {
  private static final int LARGEST_PORT = 65535;

  /** Hosts that mean all of a machine's. */
  private static final Set<String> EVERY_ADDRESS = Set.of("0.0.0.0", "::", "0:0:0:0:0:0:0:0");

  /** Off-heap memory of connections. */
  static final long MEMORY_BYTES = 64L << 20;

  /** Of a default id: what people recognize, and what tells it from others. */
  private static final int LONGEST_READABLE = 64;

  private static final int DIGEST_BYTES = 6;

  private PeerRules() {}

  /** Returns the bytes of memory that connections with peers may take. */
  static long memoryBytes(SettingsBuilder b) {
    return b.listen == null ? 0 : MEMORY_BYTES;
  }

  /** Checks what was given. */
  static void check(SettingsBuilder b) {
    Map<Settings.Key, Object> given = given(b);
    NodeAddress listen = b.listen;
    if (listen == null) {
      given
          .keySet()
          .forEach(
              key ->
                  require(
                      false,
                      "--%s means nothing without --listen HOST:PORT: give the address where peers"
                          + " reach this node",
                      key.text()));
      return;
    }
    require(
        listen.port() < LARGEST_PORT,
        "--listen %s leaves no next port for the membership: choose a lower one",
        listen);
    require(
        !EVERY_ADDRESS.contains(listen.host()),
        "--listen %s is every address of this machine: give the one where peers reach it",
        listen);
    require(
        b.discovery != null,
        "--listen %s needs --peers: name nodes as HOST:PORT,..., or write dns:NAME or dir:/PATH",
        listen);
    checkProofs(given, listen);
    require(
        b.datasetId == null || Dataset.isId(b.datasetId),
        "--dataset-id '%s' is no name: write at most %d letters, digits, dots, dashes and"
            + " underscores, and begin with a letter or digit",
        b.datasetId,
        Dataset.LONGEST_ID);
  }

  private static void checkProofs(Map<Settings.Key, Object> given, NodeAddress listen) {
    long tls =
        Set.of(Settings.Key.TLS_CERT, Settings.Key.TLS_KEY, Settings.Key.TLS_CA).stream()
            .filter(given::containsKey)
            .count();
    require(
        tls == 0 || tls == 3,
        "--tls-cert, --tls-key and --tls-ca go together: give all three or none");
    require(
        tls > 0 || given.containsKey(Settings.Key.CLUSTER_SECRET_FILE),
        "--listen %s needs --cluster-secret-file, or --tls-cert, --tls-key and --tls-ca: peers must"
            + " prove who they are",
        listen);
  }

  private static Map<Settings.Key, Object> given(SettingsBuilder b) {
    Map<Settings.Key, Object> given = new EnumMap<>(Settings.Key.class);
    put(given, Settings.Key.PEERS, b.discovery);
    put(given, Settings.Key.CLUSTER_SECRET_FILE, b.secretFile);
    put(given, Settings.Key.TLS_CERT, b.tlsCertificate);
    put(given, Settings.Key.TLS_KEY, b.tlsKey);
    put(given, Settings.Key.TLS_CA, b.tlsAuthority);
    put(given, Settings.Key.DATASET_ID, b.datasetId);
    return given;
  }

  private static void put(
      Map<Settings.Key, Object> given, Settings.Key key, @Nullable Object value) {
    if (value != null) {
      given.put(key, value);
    }
  }

  /** Returns the text of a setting of peers. */
  static String text(PeerSettings peers, Settings.Key key) {
    TlsFiles tls = peers.tls();
    Object value =
        switch (key) {
          case LISTEN -> peers.listen();
          case PEERS -> peers.discovery();
          case DATASET_ID -> peers.dataset().id();
          case CLUSTER_SECRET_FILE -> peers.secretFile();
          case TLS_CERT -> tls == null ? null : tls.certificate();
          case TLS_KEY -> tls == null ? null : tls.key();
          case TLS_CA -> tls == null ? null : tls.authority();
          default -> throw new IllegalArgumentException(key + " is not of peers");
        };
    return value == null ? SettingsText.NOTHING : value.toString();
  }

  /** Puts together what was given, or returns null where nothing was. */
  static @Nullable PeerSettings settings(SettingsBuilder b) {
    if (b.listen == null || b.discovery == null) {
      return null;
    }
    TlsFiles tls =
        b.tlsCertificate == null || b.tlsKey == null || b.tlsAuthority == null
            ? null
            : new TlsFiles(b.tlsCertificate, b.tlsKey, b.tlsAuthority);
    String id = b.datasetId == null ? datasetId(b.origin) : b.datasetId;
    return new PeerSettings(
        b.listen, b.discovery, b.secretFile, tls, new Dataset(id, (int) b.itemSize));
  }

  /**
   * The last part of the origin's name, or what of it can be in an id, and a digest of all of the
   * name: the same on nodes that name the dataset the same, and no two names make one id.
   */
  private static String datasetId(Source origin) {
    String text = origin.lastPart().replaceAll("[^A-Za-z0-9._-]", "-");
    String readable = text.replaceFirst("^[^A-Za-z0-9]+", "");
    String digest = digest(origin.toString());
    String id = readable.substring(0, Math.min(readable.length(), LONGEST_READABLE)) + "-" + digest;
    return Dataset.isId(id) ? id : "dataset-" + digest;
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
