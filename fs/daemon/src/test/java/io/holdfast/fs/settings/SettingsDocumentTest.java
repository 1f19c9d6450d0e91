package io.holdfast.fs.settings;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class SettingsDocumentTest {
  private static final long MEMORY = 100L << 30;

  /** A value of each setting; a new row of the table needs one here. */
  private static final Map<Setting<?>, List<List<String>>> SAID =
      Map.ofEntries(
          said(SettingTable.SOURCE, "/data/ä \"b\"\n", "s3://bucket/some/train/"),
          said(SettingTable.MOUNTPOINT, "/mnt/it's $HOME"),
          said(SettingTable.CAPACITY, "50%", "64G", "1"),
          said(SettingTable.MEMORY, "75%", "80GB"),
          said(SettingTable.MEMORY_MIN, "0", "10%"),
          said(SettingTable.POLICY, "none"),
          entry(SettingTable.KEEP, List.of(List.of("val/", "*.idx"), List.of("a b"))),
          entry(SettingTable.EXCLUDE, List.of(List.of("tmp/"))),
          said(SettingTable.ITEM_SIZE, "16M"),
          said(SettingTable.PIN, "soft"),
          said(SettingTable.TRANSIT, "128M"),
          said(SettingTable.CONVOY, "64M", "0"),
          said(SettingTable.WINDOW, "0"),
          said(SettingTable.WINDOW_AGE, "500ms", "0"),
          said(SettingTable.NAME, "imagenet"),
          said(SettingTable.CONFIG, "/etc/holdfast/imagenet.yaml"),
          said(SettingTable.METADATA_TTL, "indefinite", "90s"),
          said(SettingTable.SOURCE_TIMEOUT, "10m", "indefinite"),
          said(SettingTable.REQUIRE_MOUNT, "true"),
          said(SettingTable.XATTR, "off"),
          said(SettingTable.ACL, "strict"),
          said(SettingTable.COUNT_OPENS, "message"),
          said(SettingTable.KERNEL_HELPERS, "off"),
          said(SettingTable.ORDERS, "learn"),
          said(SettingTable.JOB_BY, "env:SLURM_JOB_ID", "tree"),
          said(SettingTable.BINDING, "kernel"),
          said(SettingTable.ALLOW_OTHER, "true", "false"),
          said(SettingTable.S3_ENDPOINT, "http://127.0.0.1:9000"),
          said(SettingTable.S3_REGION, "eu-west-1"),
          said(SettingTable.S3_PATH_STYLE, "true"),
          said(SettingTable.S3_ANONYMOUS, "true"),
          said(SettingTable.S3_REQUESTER_PAYS, "false"),
          said(SettingTable.UID, "1000", "4294967294"),
          said(SettingTable.GID, "0"),
          said(SettingTable.FILE_MODE, "640", "0000"),
          said(SettingTable.DIR_MODE, "0750"),
          said(SettingTable.LISTEN, "10.0.0.1:7070", "[::1]:7070"),
          said(SettingTable.PEERS, "10.0.0.1:7070,node2:7070", "dns:nodes.local", "dir:/nodes"),
          said(SettingTable.CLUSTER_SECRET_FILE, "/etc/secret"),
          said(SettingTable.TLS_CERT, "/etc/cert"),
          said(SettingTable.TLS_KEY, "/etc/key"),
          said(SettingTable.TLS_CA, "/etc/ca"),
          said(SettingTable.DATASET_ID, "openimages"),
          said(SettingTable.FOREGROUND, "true"),
          said(SettingTable.LOG_LEVEL, "trace"),
          said(SettingTable.LOG_FILE, "/var/log/x"),
          said(SettingTable.STATE_DIR, "none", "/state"),
          said(SettingTable.METRICS, "9464", "[::1]:9464", "none"),
          said(SettingTable.PAGE, "9465", "[::1]:9465", "none"),
          said(SettingTable.PAGE_TOKEN_FILE, "/etc/token"),
          said(SettingTable.LOG_FORMAT, "json"),
          said(SettingTable.ACCESS_LOG, "none", "/var/log/access"),
          said(SettingTable.ACCESS_LOG_SAMPLE, "1/50", "20/s"),
          said(SettingTable.STATS_VISIBLE_TO, "all"));

  @TempDir Path state;
  private Path file;

  @BeforeEach
  void prepare() throws IOException {
    Files.setPosixFilePermissions(state, PosixFilePermissions.fromString("rwx------"));
    file = SettingsDocument.file(state);
  }

  static Stream<Given> given() {
    return SettingTable.rows().stream()
        .flatMap(row -> SAID.get(row).stream().map(values -> Given.flag(row, values)));
  }

  @Test
  void everySetting_isSaidHere() {
    assertThat(SAID.keySet()).containsExactlyInAnyOrderElementsOf(SettingTable.rows());
  }

  @ParameterizedTest
  @MethodSource("given")
  void read_ofWhatWasWritten_isTheSame(Given given) throws IOException {
    Settings settings = settings(given);
    write(settings, GivenSettings.of(List.of(given)));
    SettingsDocument read = SettingsDocument.read(state);
    for (Setting<?> row : SettingTable.rows()) {
      assertThat(read.settings().exact(row)).as(row.name()).isEqualTo(settings.exact(row));
      assertThat(read.settings().find(row)).as(row.name()).isEqualTo(settings.find(row));
      assertThat(read.settings().source(row)).isEqualTo(settings.source(row));
    }
    assertThat(read.given().all()).containsExactly(given);
  }

  @Test
  void read_ofWhatNoSettingSays_isTheSame() throws IOException {
    Settings settings = settings();
    Path log = Path.of("/var/log/x y.log");
    new SettingsDocument(settings, GivenSettings.NOTHING, log, List.of("one", "two 'ä'"))
        .write(state);
    SettingsDocument read = SettingsDocument.read(state);
    assertThat(read.log()).isEqualTo(log);
    assertThat(read.notes()).containsExactly("one", "two 'ä'");
    assertThat(read.given().all()).isEmpty();
    assertThat(read.settings().report()).isEqualTo(settings.report());
  }

  /** The daemon does not derive again from the machine's memory. */
  @Test
  void read_ofAShare_hasTheBytesAndTheShare() throws IOException {
    Given half = Given.flag(SettingTable.CAPACITY, List.of("50%"));
    write(settings(half), GivenSettings.of(List.of(half)));
    SettingsDocument read = SettingsDocument.read(state);
    assertThat(read.settings().get(SettingTable.CAPACITY)).isEqualTo(50L << 30);
    assertThat(read.given().get(SettingTable.CAPACITY)).contains(half);
  }

  @Test
  void write_overAnother_replacesItAndIsItsOwnersAlone() throws IOException {
    write();
    write(settings(Given.flag(SettingTable.POLICY, List.of("none"))), GivenSettings.NOTHING);
    assertThat(SettingsDocument.read(state).settings().get(SettingTable.POLICY)).isEqualTo("none");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    try (Stream<Path> all = Files.list(state)) {
      assertThat(all).containsExactly(file);
    }
  }

  @Test
  void read_ofNothing_saysWhichFileIsMissing() {
    assertRefused("there is no '" + file + "', which tells a daemon its settings");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{", "{\"version\": 1, \"log\": \"/l", "not JSON"})
  void read_ofATornDocument_isRefused(String text) throws IOException {
    write();
    Files.writeString(file, text);
    assertRefused("'" + file + "' is damaged (it is no ");
  }

  /** Wherever it was torn. */
  @Test
  void read_ofAnyBeginning_isRefused() throws IOException {
    write();
    byte[] whole = Files.readAllBytes(file);
    for (int length = 0; length < whole.length; length += 7) {
      Files.write(file, Arrays.copyOf(whole, length));
      assertRefused("'" + file + "' is damaged (it is no ");
    }
  }

  @Test
  void read_ofAnArray_isRefused() throws IOException {
    write();
    Files.writeString(file, "[1]");
    assertRefused("'" + file + "' is damaged (it is no JSON object)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"2", "0", "\"1\"", "null"})
  void read_ofAnotherVersion_isRefused(String version) throws IOException {
    write();
    edit("version", JSON.std.anyFrom(version));
    assertRefused(
        "'%s' is of version %s and not 1, so another version of Holdfast wrote it"
            .formatted(file, version.replace("\"", "")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"log", "notes", "settings"})
  void read_withoutAPart_isRefused(String part) throws IOException {
    write();
    edit(part, null);
    assertRefused("'" + file + "' is damaged (a part of it is missing)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"source", "mountpoint", "name"})
  void read_withoutWhatNoDaemonCanDoWithout_isRefused(String setting) throws IOException {
    write();
    editSettings(setting, null);
    assertRefused("'" + file + "' is damaged (" + setting + " has no value)");
  }

  @Test
  void read_ofAValueThatNobodyWrites_isRefused() throws IOException {
    write();
    editSettings("capacity", Map.of("value", "much", "source", "default"));
    assertRefused("'" + file + "' is damaged (capacity 'much' is not a size");
    editSettings("capacity", Map.of("value", List.of(), "source", "default"));
    assertRefused("'" + file + "' is damaged (capacity ");
  }

  /** Programs of different versions restart each other's daemons. */
  @Test
  void read_ofOtherSettings_takesDefaultsAndIgnoresTheRest() throws IOException {
    write(settings(Given.flag(SettingTable.PIN, List.of("soft"))), GivenSettings.NOTHING);
    editSettings("pin", null);
    editSettings("of-tomorrow", Map.of("value", "1", "given", List.of("1"), "source", "default"));
    SettingsDocument read = SettingsDocument.read(state);
    assertThat(read.settings().get(SettingTable.PIN)).isEqualTo(PinMode.AUTO);
    assertThat(read.settings().source(SettingTable.PIN)).isEqualTo("default");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-rw----", "rw-----w-"})
  void read_ofAFileThatOthersMayWrite_isRefused(String mode) throws IOException {
    write();
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    assertRefused("'" + file + "' may be changed by others (mode 06");
  }

  @Test
  void read_ofADirectoryThatOthersMayWrite_isRefused() throws IOException {
    write();
    Files.setPosixFilePermissions(state, PosixFilePermissions.fromString("rwxrwx---"));
    assertRefused("'" + state + "' may be changed by others (mode 0770)");
  }

  @Test
  void read_ofALink_isRefused() throws IOException {
    write();
    Files.move(file, state.resolve("elsewhere"));
    Files.createSymbolicLink(file, state.resolve("elsewhere"));
    assertRefused("'" + file + "' may be changed by others (mode 0777)");
  }

  @Test
  void read_ofAnotherUsersFile_isRefused() throws IOException {
    assumeTrue(Procfs.ownUid() == 0, "only root gives files away");
    write();
    Files.setAttribute(file, "unix:uid", 7);
    assertRefused("'" + file + "' belongs to user 7 and not to user 0");
  }

  private static Map.Entry<Setting<?>, List<List<String>>> said(Setting<?> row, String... texts) {
    return Map.entry(row, Stream.of(texts).map(List::of).toList());
  }

  /** As they hold, whether they go together or not. */
  private static Settings settings(Given... given) {
    Settings.Builder builder =
        new Settings.Builder(MEMORY)
            .set(SettingTable.SOURCE, Source.parse("/data"), Given.ARGUMENT)
            .set(SettingTable.MOUNTPOINT, Path.of("/data"), Given.ARGUMENT);
    SettingsRules.complete(builder);
    for (Given each : given) {
      builder.set(each.setting(), each);
    }
    return new Settings(builder);
  }

  private void write() throws IOException {
    write(settings(), GivenSettings.NOTHING);
  }

  private void write(Settings settings, GivenSettings given) throws IOException {
    new SettingsDocument(settings, given, Path.of("/log"), List.of()).write(state);
  }

  private void edit(String key, @Nullable Object value) throws IOException {
    Map<String, @Nullable Object> map =
        new LinkedHashMap<>(JSON.std.mapFrom(Files.readAllBytes(file)));
    map.put(key, value);
    Files.write(file, JSON.std.asBytes(map));
  }

  private void editSettings(String name, @Nullable Object row) throws IOException {
    Map<String, Object> map = JSON.std.mapFrom(Files.readAllBytes(file));
    Map<Object, @Nullable Object> rows = new LinkedHashMap<>((Map<?, ?>) map.get("settings"));
    rows.put(name, row);
    edit("settings", rows);
  }

  private void assertRefused(String message) {
    assertThatIOException()
        .isThrownBy(() -> SettingsDocument.read(state))
        .satisfies(
            refused -> assertThat(refused.getMessage()).startsWith(message).doesNotContain("\n"));
  }
}
