package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.control.ConfigText;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.FakeHost;
import io.holdfast.fs.host.UserDirectories;
import io.holdfast.fs.log.DaemonLog;
import io.holdfast.fs.settings.Given;
import io.holdfast.fs.settings.GivenSettings;
import io.holdfast.fs.settings.LogFormat;
import io.holdfast.fs.settings.LogLevel;
import io.holdfast.fs.settings.Setting;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.SettingsDocument;
import io.holdfast.fs.settings.request.ChangedMount;
import io.holdfast.fs.settings.request.ConfigLookup;
import io.holdfast.fs.settings.request.DaemonMemory;
import io.holdfast.fs.settings.request.MountRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** Where settings come from: options before the environment before the file before defaults. */
class SettingSourcesTest {
  private static final DaemonMemory MEMORY =
      new DaemonMemory(100_000_000_000L, Runtime.getRuntime().maxMemory());

  @TempDir Path temp;
  private FakeHost host;
  private CliRun run;
  private Path source;
  private Path file;

  @BeforeEach
  void prepare() throws IOException {
    temp = temp.toRealPath();
    host = new FakeHost(temp.resolve("run"));
    run = new CliRun(host);
    source = Files.createDirectory(temp.resolve("source"));
    host.configurationDirectories.add(Files.createDirectory(temp.resolve("own")));
    host.configurationDirectories.add(Files.createDirectory(temp.resolve("etc")));
    file = temp.resolve("etc/imagenet.yaml");
  }

  @AfterEach
  void restoreLog() {
    DaemonLog.toErrorOutput(LogLevel.WARN, LogFormat.TEXT, false);
  }

  @Test
  void setting_saidEverywhere_isTakenFromTheFirst() throws IOException {
    write("pin: soft", "window: 1M", "transit: 64M", "policy: none");
    host.environment.putAll(
        Map.of("HOLDFAST_PIN", "auto", "HOLDFAST_WINDOW", "2M", "HOLDFAST_TRANSIT", "32M"));
    Settings settings = mount("--name=imagenet", "--pin=hard", "--window=3M", source.toString());
    assertSetting(settings, SettingTable.PIN, "hard", "flag --pin");
    assertSetting(settings, SettingTable.WINDOW, "3M", "flag --window");
    assertSetting(settings, SettingTable.TRANSIT, "32M", "environment HOLDFAST_TRANSIT");
    assertSetting(settings, SettingTable.POLICY, "none", file + ":4");
    assertSetting(settings, SettingTable.XATTR, "on", "default");
    assertSetting(settings, SettingTable.CONFIG, file.toString(), "found by the mount's name");
  }

  @Test
  void name_alone_takesTheWholeMountFromItsFile() throws IOException {
    Path mountpoint = Files.createDirectory(temp.resolve("mnt"));
    write("source: " + source, "mountpoint: " + mountpoint, "capacity: 50%");
    Settings settings = mount("--name", "imagenet");
    assertSetting(settings, SettingTable.SOURCE, source.toString(), file + ":1");
    assertSetting(settings, SettingTable.MOUNTPOINT, mountpoint.toString(), file + ":2");
    assertThat(settings.get(SettingTable.CAPACITY)).isEqualTo(50_000_000_000L);
    assertThat(settings.get(SettingTable.NAME)).isEqualTo("imagenet");
  }

  @Test
  void argument_besideTheFile_wins() throws IOException {
    write("source: /elsewhere", "mountpoint: /mnt/elsewhere");
    Settings settings = mount("--name=imagenet", source.toString(), source.toString());
    assertSetting(settings, SettingTable.SOURCE, source.toString(), "argument");
    assertSetting(settings, SettingTable.MOUNTPOINT, source.toString(), "argument");
  }

  @Test
  void file_ofTheMountpointsName_isFound() throws IOException {
    Path link = Files.createSymbolicLink(temp.resolve("link"), source);
    String name = source.toString().substring(1).replace('/', '-');
    file = temp.resolve("etc").resolve(name + ".yaml");
    write("pin: soft");
    assertSetting(mount(link.toString()), SettingTable.PIN, "soft", file + ":1");
    assertSetting(mount("s3://bucket", source.toString()), SettingTable.PIN, "soft", file + ":1");
  }

  @Test
  void file_ofTheUser_comesBeforeThatOfAll() throws IOException {
    write("pin: soft");
    file = temp.resolve("own/imagenet.yaml");
    write("pin: hard");
    host.environment.put("HOLDFAST_NAME", "imagenet");
    assertSetting(mount(source.toString()), SettingTable.PIN, "hard", file + ":1");
    file = temp.resolve("other.yaml");
    write("pin: auto");
    assertSetting(
        mount("--config=" + file, source.toString()), SettingTable.PIN, "auto", file + ":1");
  }

  @Test
  void directories_ofFiles_areTheUsersAndThatOfAll() {
    Path all = Path.of("/etc/holdfast");
    assertThat(UserDirectories.configuration(0, Map.of("HOME", "/root"))).containsExactly(all);
    assertThat(UserDirectories.configuration(7, Map.of("HOME", "/home/x")))
        .containsExactly(Path.of("/home/x/.config/holdfast"), all);
    assertThat(UserDirectories.configuration(7, Map.of("HOME", "/home/x", "XDG_CONFIG_HOME", "/c")))
        .containsExactly(Path.of("/c/holdfast"), all);
  }

  @Test
  void variables_ofSeveralValuesAndEmpty_areRead() {
    host.environment.putAll(
        Map.of("HOLDFAST_KEEP", "*.idx:val/", "HOLDFAST_PIN", "", "HOLDFAST_ALLOW_OTHER", "no"));
    Settings settings = mount(source.toString());
    assertSetting(settings, SettingTable.KEEP, "*.idx val/", "environment HOLDFAST_KEEP");
    assertSetting(settings, SettingTable.PIN, "auto", "default");
    assertSetting(settings, SettingTable.ALLOW_OTHER, "no", "environment HOLDFAST_ALLOW_OTHER");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "PIN|herd|HOLDFAST_PIN 'herd' is not known: choose one of hard, soft, auto",
        "CAPACITY|10Q|HOLDFAST_CAPACITY '10Q' is not a size",
        "CAPACITY|900T|HOLDFAST_CAPACITY 900T is more than the memory there is",
        "NAME|../x|HOLDFAST_NAME '../x' is not a name",
        "S3_ANONYMOUS|maybe|HOLDFAST_S3_ANONYMOUS 'maybe' is not known: write true or false",
        "SOURCE|gs://x|HOLDFAST_SOURCE: source 'gs://x' is of no kind that Holdfast reads",
        "CONFIG|/nowhere.yaml|/nowhere.yaml: there is no such file: check the path"
      })
  void variable_withAWrongValue_isNamed(String key, String value, String message)
      throws IOException {
    host.environment.put("HOLDFAST_" + key, value);
    String[] words = key.equals("SOURCE") ? words() : words(source.toString());
    assertThat(run.run(words)).isEqualTo(2);
    assertThat(run.err.toString()).startsWith("holdfast: " + message).hasLineCount(1);
    assertThat(host.control.path()).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "pin: herd|pin 'herd' is not known: choose one of hard, soft, auto",
        "capacity: 900T|capacity 900T is more than the memory there is (93.1 GiB): give less",
        "uid: 7|uid means nothing for a directory: leave it out",
        "source: gs://x|source: source 'gs://x' is of no kind that Holdfast reads"
      })
  void file_withAWrongValue_isNamedWithTheLine(String line, String message) throws IOException {
    write("", line);
    String[] words =
        line.startsWith("source")
            ? words("--name=imagenet")
            : words("--name=imagenet", source.toString());
    assertThat(run.run(words)).isEqualTo(2);
    assertThat(run.err.toString())
        .startsWith("holdfast: " + file + ":2: " + message)
        .hasLineCount(1);
    assertThat(host.control.path()).doesNotExist();
  }

  @Test
  void source_thatNobodySays_isToldWithTheFile() throws IOException {
    assertThat(run.run("mount", "--name=imagenet")).isEqualTo(2);
    assertThat(run.err.toString())
        .isEqualTo(
            "holdfast: missing SOURCE: give it, there is no %s/own/imagenet.yaml, nor %s. See"
                    .formatted(temp, file)
                + " 'holdfast mount --help'\n");
    write("pin: hard");
    run.err.getBuffer().setLength(0);
    assertThat(run.run("mount", "--name=imagenet")).isEqualTo(2);
    assertThat(run.err.toString())
        .startsWith("holdfast: missing SOURCE: give it, or write 'source: PATH' into " + file);
  }

  /** The next daemon, after a crash, must be the same, whatever became of file and environment. */
  @Test
  void daemon_inTheBackground_knowsAllWithoutFileAndEnvironment() throws IOException {
    write("source: " + source, "pin: soft", "keep: ['a b', c]", "s3-anonymous: false", "uid: 7");
    host.environment.put("HOLDFAST_TRANSIT", "32M");
    host.environment.put("HOLDFAST_SOURCE", "s3://bucket/x");
    run.ownCommand = List.of("sh", "-c", "echo ready");
    String[] given = {"--name=imagenet", "--binding=jnr-fuse", "--no-allow-other", log()};
    assertThat(run.run(words(given, source.toString(), source.toString()))).isEqualTo(2);
    assertThat(run.err.toString()).contains("uid means nothing");
    Path mountpoint = Files.createDirectory(temp.resolve("mnt"));
    assertThat(run.run(words(given, "s3://bucket/x", mountpoint.toString()))).isZero();
    Settings wanted = mount(given[0], given[2], given[3], "s3://bucket/x", mountpoint.toString());
    Files.delete(file);
    host.environment.clear();
    CliRun daemon = new CliRun(host);
    assertThat(daemon.run("serve", host.control.stateDirectory("imagenet").toString())).isZero();
    assertThat(daemon.daemon.settings)
        .satisfies(settings -> assertThat(shown(settings)).isEqualTo(shown(wanted)));
  }

  private static String shown(Settings settings) {
    return ConfigText.of(settings.report()).replaceAll("foreground .*", "");
  }

  @Test
  void everySetting_hasAVariableOfItsOwn() {
    assertThat(SettingTable.rows().stream().map(Setting::variable))
        .doesNotHaveDuplicates()
        .doesNotContain("HOLDFAST_HEAP", "HOLDFAST_JAVA_OPTIONS");
  }

  @Test
  void restart_readsTheFileAgainAndKeepsTheRest() throws IOException {
    write("pin: soft", "window: 1M", "log-level: debug");
    host.environment.put("HOLDFAST_TRANSIT", "32M");
    SettingsDocument before =
        before("--name=imagenet", "--window=3M", "--policy=none", source.toString());
    host.environment.clear();
    write("", "pin: auto", "window: 2M");
    GivenSettings changes = given("--policy=minio");
    Settings settings = ChangedMount.of(host, before, changes, MEMORY).settings();
    assertSetting(settings, SettingTable.PIN, "auto", file + ":2");
    assertSetting(settings, SettingTable.WINDOW, "3M", "flag --window");
    assertSetting(settings, SettingTable.TRANSIT, "32M", "environment HOLDFAST_TRANSIT");
    assertSetting(settings, SettingTable.POLICY, "minio", "flag --policy");
    assertSetting(settings, SettingTable.LOG_LEVEL, "info", "default");
    assertSetting(settings, SettingTable.SOURCE, source.toString(), "argument");
    Files.delete(file);
    assertThat(ChangedMount.of(host, before, changes, MEMORY).settings().source(SettingTable.PIN))
        .isEqualTo("default");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "item-size: 16M|item-size",
        "source: /elsewhere|source",
        "mountpoint: /elsewhere|mountpoint",
        "binding: jnr-fuse|binding",
        "allow-other: no|allow-other"
      })
  void restart_fileThatChangesWhatCannot_isRefused(String line, String key) throws IOException {
    write("source: " + source, "mountpoint: " + source);
    SettingsDocument before = before("--name=imagenet");
    write(line);
    Optional<String> message = Optional.empty();
    try {
      ChangedMount.of(host, before, GivenSettings.NOTHING, MEMORY);
    } catch (CliException e) {
      message = Optional.ofNullable(e.getMessage());
    }
    assertThat(message)
        .contains(
            file
                + ":1: "
                + key
                + " cannot change while the mount is there: unmount it and mount"
                + " again");
  }

  /** Returns the document that restart finds of a daemon that was mounted with these words. */
  private SettingsDocument before(String... words) throws IOException {
    MountRequest request = new MountRequest(host, new ConfigLookup(host).complete(given(words)));
    Path state = Files.createDirectories(temp.resolve("state"));
    new SettingsDocument(
            request.settings(), request.given(), temp.resolve("log"), List.of("a note"))
        .write(state);
    return SettingsDocument.read(state);
  }

  private static GivenSettings given(String... words) {
    CommandLine line = new CommandLine(MountOptions.addTo(CommandSpec.create()));
    List<String> options = List.of(words).stream().filter(word -> word.startsWith("--")).toList();
    List<Given> arguments =
        List.of(words).stream()
            .filter(word -> !word.startsWith("--"))
            .map(word -> Given.argument(SettingTable.SOURCE, word))
            .toList();
    return MountOptions.given(line.parseArgs(options.toArray(String[]::new)))
        .orElse(GivenSettings.of(arguments));
  }

  private static void assertSetting(Settings settings, Setting<?> key, String text, String from) {
    assertThat(settings.text(key)).isEqualTo(text);
    assertThat(settings.source(key)).isEqualTo(from);
  }

  private void write(String... lines) throws IOException {
    Files.writeString(file, String.join("\n", lines) + "\n");
  }

  private Settings mount(String... words) {
    CliRun mounted = new CliRun(host);
    assertThat(mounted.run(words(new String[] {"--foreground", "--binding=jnr-fuse"}, words)))
        .as(mounted.err.toString())
        .isZero();
    assertThat(mounted.daemon.settings).isNotNull();
    return mounted.daemon.settings;
  }

  private String log() {
    return "--log-file=" + temp.resolve("log");
  }

  private static String[] words(String... words) {
    return words(new String[0], words);
  }

  private static String[] words(String[] first, String... others) {
    return Stream.of(new String[] {"mount"}, first, others)
        .flatMap(Arrays::stream)
        .toArray(String[]::new);
  }
}
