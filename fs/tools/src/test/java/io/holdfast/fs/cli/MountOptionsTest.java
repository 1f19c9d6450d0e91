package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.accesslog.Sampling;
import io.holdfast.fs.host.FakeHost;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.origin.s3.S3Location;
import io.holdfast.fs.origin.s3.S3Settings;
import io.holdfast.fs.peers.PeerSettings;
import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.settings.AclChoice;
import io.holdfast.fs.settings.BindingChoice;
import io.holdfast.fs.settings.HelperChoice;
import io.holdfast.fs.settings.LogFormat;
import io.holdfast.fs.settings.LogLevel;
import io.holdfast.fs.settings.OpenCounting;
import io.holdfast.fs.settings.OrderMode;
import io.holdfast.fs.settings.PinMode;
import io.holdfast.fs.settings.Setting;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.SettingsDocument;
import io.holdfast.fs.settings.Source;
import io.holdfast.fs.settings.StatsAudience;
import io.holdfast.fs.settings.XattrChoice;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.SharedDataset;
import io.holdfast.peer.TlsFiles;
import io.holdfast.peer.membership.Discovery;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The settings from the words of a command line: defaults, the full mapping, and one test for each
 * wrong value.
 */
class MountOptionsTest {
  @TempDir Path temp;
  private FakeHost host;
  private Path source;
  private Path mountpoint;

  @BeforeEach
  void prepare() throws IOException {
    temp = temp.toRealPath();
    host = new FakeHost(temp.resolve("run"));
    source = Files.createDirectory(temp.resolve("source"));
    mountpoint = Files.createDirectory(temp.resolve("mountpoint"));
  }

  @Test
  void noOption_asRoot_givesTheDefaults() {
    Settings settings = settings();
    Settings defaults =
        Settings.builder(new Source.Directory(source), mountpoint, host.memory).build();
    for (Setting<?> key : SettingTable.rows()) {
      if (key != SettingTable.SOURCE
          && key != SettingTable.MOUNTPOINT
          && key != SettingTable.ALLOW_OTHER
          && key != SettingTable.FOREGROUND
          && key != SettingTable.BINDING
          && key != SettingTable.STATE_DIR) {
        assertThat(settings.text(key)).as(key.name()).isEqualTo(defaults.text(key));
        assertThat(settings.source(key)).as(key.name()).isEqualTo(defaults.source(key));
      }
    }
    assertThat(settings.get(SettingTable.SOURCE)).isEqualTo(new Source.Directory(source));
    assertThat(settings.s3()).isEmpty();
    assertThat(settings.get(SettingTable.MOUNTPOINT)).isEqualTo(mountpoint);
    assertThat(settings.get(SettingTable.ALLOW_OTHER)).isTrue();
    assertThat(settings.source(SettingTable.ALLOW_OTHER)).isEqualTo("default for root");
    assertThat(settings.get(SettingTable.BINDING)).isEqualTo(BindingChoice.KERNEL);
    assertThat(settings.source(SettingTable.BINDING)).isEqualTo("default for root");
  }

  @ParameterizedTest
  @CsvSource({
    "0, auto, KERNEL",
    "0, jnr-fuse, JNR_FUSE",
    "1000, auto, JNR_FUSE",
    "1000, jnr-fuse, JNR_FUSE"
  })
  void binding_given_isTheBestThatIsPermitted(int uid, String given, BindingChoice taken) {
    host.uid = uid;
    assertThat(settings("--binding", given).get(SettingTable.BINDING)).isEqualTo(taken);
  }

  @Test
  void noOption_asUser_doesNotAllowOthers() {
    host.uid = 1000;
    assertThat(settings().get(SettingTable.ALLOW_OTHER)).isFalse();
    assertThat(settings().source(SettingTable.ALLOW_OTHER)).isEqualTo("default for users");
    assertThat(settings().get(SettingTable.BINDING)).isEqualTo(BindingChoice.JNR_FUSE);
  }

  @Test
  void everyOption_given_reachesItsSetting() throws IOException {
    Settings settings =
        settingsOf(
            "s3://bucket/some/train/",
            "--capacity=1G",
            "--memory=50%",
            "--memory-min=1%",
            "--policy=none",
            "--keep=val/",
            "--keep=*.idx",
            "--exclude=tmp/",
            "--item-size=16M",
            "--metadata-ttl=indefinite",
            "--source-timeout=10m",
            "--require-mount",
            "--xattr=off",
            "--acl=strict",
            "--name=imagenet",
            "--config=" + Files.createFile(temp.resolve("x.yaml")),
            "--pin=soft",
            "--window=0",
            "--window-age=500ms",
            "--transit=128M",
            "--convoy=64M",
            "--count-opens=message",
            "--kernel-helpers=off",
            "--orders=learn",
            "--job-by=env:SLURM_JOB_ID",
            "--binding=kernel",
            "--no-allow-other",
            "--s3-endpoint=http://127.0.0.1:9000",
            "--s3-region=eu-west-1",
            "--s3-path-style",
            "--s3-anonymous",
            "--s3-requester-pays",
            "--uid=1000",
            "--gid=100",
            "--file-mode=640",
            "--dir-mode=0750",
            "--listen=10.0.0.1:7070",
            "--peers=10.0.0.1:7070,node2:7070",
            "--cluster-secret-file=" + temp.resolve("secret"),
            "--tls-cert=" + temp.resolve("cert"),
            "--tls-key=" + temp.resolve("key"),
            "--tls-ca=" + temp.resolve("ca"),
            "--dataset-id=openimages",
            "--log-level=debug",
            "--log-file=" + temp.resolve("a/../log"),
            "--log-format=json",
            "--metrics=[::1]:9464",
            "--page=0.0.0.0:9465",
            "--page-token-file=" + temp.resolve("token"),
            "--access-log=" + temp.resolve("a/../access"),
            "--access-log-sample=1/50",
            "--stats-visible-to=all",
            "--state-dir=" + temp.resolve("b/../state"));
    assertThat(settings.get(SettingTable.CAPACITY)).isEqualTo(1L << 30);
    assertThat(settings.text(SettingTable.KEEP)).isEqualTo("val/ *.idx");
    assertThat(settings.get(SettingTable.STATS_VISIBLE_TO)).isEqualTo(StatsAudience.ALL);
    assertThat(settings.text(SettingTable.EXCLUDE)).isEqualTo("tmp/");
    assertThat(settings.selection().of("val/x.idx")).isEqualTo(Selection.Verdict.KEPT);
    assertThat(settings.selection().of("tmp/x")).isEqualTo(Selection.Verdict.EXCLUDED);
    assertThat(settings.get(SettingTable.MEMORY)).isEqualTo(50_000_000_000L);
    assertThat(settings.get(SettingTable.MEMORY_MIN)).isEqualTo(1_000_000_000L);
    assertThat(settings.get(SettingTable.POLICY)).isEqualTo("none");
    assertThat(settings.get(SettingTable.ITEM_SIZE)).isEqualTo(16L << 20);
    assertThat(settings.get(SettingTable.METADATA_TTL)).isEqualTo(Settings.INDEFINITE);
    assertThat(settings.get(SettingTable.XATTR)).isEqualTo(XattrChoice.OFF);
    assertThat(settings.get(SettingTable.ACL)).isEqualTo(AclChoice.STRICT);
    assertThat(settings.get(SettingTable.NAME)).isEqualTo("imagenet");
    assertThat(settings.text(SettingTable.CONFIG)).isEqualTo(temp.resolve("x.yaml").toString());
    assertThat(settings.get(SettingTable.PIN)).isEqualTo(PinMode.SOFT);
    assertThat(settings.get(SettingTable.WINDOW)).isZero();
    assertThat(settings.get(SettingTable.WINDOW_AGE)).isEqualTo(Duration.ofMillis(500));
    assertThat(settings.get(SettingTable.SOURCE_TIMEOUT)).isEqualTo(Duration.ofMinutes(10));
    assertThat(settings.get(SettingTable.TRANSIT)).isEqualTo(128L << 20);
    assertThat(settings.get(SettingTable.COUNT_OPENS)).isEqualTo(OpenCounting.MESSAGE);
    assertThat(settings.get(SettingTable.KERNEL_HELPERS)).isEqualTo(HelperChoice.OFF);
    assertThat(settings.get(SettingTable.CONVOY)).isEqualTo(64L << 20);
    assertThat(settings.transitBytes()).isEqualTo(192L << 20);
    assertThat(settings.get(SettingTable.ORDERS)).isEqualTo(OrderMode.LEARN);
    assertThat(settings.text(SettingTable.JOB_BY)).isEqualTo("env:SLURM_JOB_ID");
    assertThat(settings.get(SettingTable.BINDING)).isEqualTo(BindingChoice.KERNEL);
    assertThat(settings.get(SettingTable.ALLOW_OTHER)).isFalse();
    assertThat(settings.s3())
        .contains(
            new S3Settings(
                S3Location.parse("s3://bucket/some/train/"),
                URI.create("http://127.0.0.1:9000"),
                "eu-west-1",
                true,
                true,
                true,
                0640,
                0750,
                1000,
                100,
                Duration.ofSeconds(60)));
    assertThat(settings.text(SettingTable.FILE_MODE)).isEqualTo("0640");
    PeerSettings peers = settings.peers().orElseThrow();
    NodeAddress self = new NodeAddress("10.0.0.1", 7070);
    assertThat(peers.listen()).isEqualTo(self);
    assertThat(peers.discovery())
        .isEqualTo(new Discovery.Addresses(List.of(self, new NodeAddress("node2", 7070))));
    assertThat(peers.secretFile()).isEqualTo(temp.resolve("secret"));
    assertThat(peers.tls())
        .isEqualTo(new TlsFiles(temp.resolve("cert"), temp.resolve("key"), temp.resolve("ca")));
    assertThat(peers.dataset()).isEqualTo(new SharedDataset("openimages", 16 << 20));
    assertThat(settings.get(SettingTable.FOREGROUND)).isTrue();
    assertThat(settings.get(SettingTable.LOG_LEVEL)).isEqualTo(LogLevel.DEBUG);
    assertThat(settings.find(SettingTable.LOG_FILE)).contains(temp.resolve("log"));
    assertThat(settings.find(SettingTable.STATE_DIR)).contains(temp.resolve("state"));
    assertThat(settings.get(SettingTable.LOG_FORMAT)).isEqualTo(LogFormat.JSON);
    assertThat(settings.find(SettingTable.METRICS)).contains(new NodeAddress("::1", 9464));
    assertThat(settings.find(SettingTable.PAGE)).contains(new NodeAddress("0.0.0.0", 9465));
    assertThat(settings.find(SettingTable.PAGE_TOKEN_FILE)).contains(temp.resolve("token"));
    assertThat(settings.find(SettingTable.ACCESS_LOG)).contains(temp.resolve("access"));
    assertThat(settings.get(SettingTable.ACCESS_LOG_SAMPLE))
        .isEqualTo(new Sampling(50, Long.MAX_VALUE));
    assertThat(settings.source(SettingTable.SOURCE)).isEqualTo("argument");
    assertThat(settings.source(SettingTable.MOUNTPOINT)).isEqualTo("argument");
    for (Setting<?> key : SettingTable.rows().stream().filter(Setting::isOption).toList()) {
      String flag = key == SettingTable.ALLOW_OTHER ? "no-allow-other" : key.name();
      assertThat(settings.source(key)).isEqualTo("flag --" + flag);
    }
  }

  @Test
  void stateDirectory_notGivenOrNone_isTheUsersOrNone() {
    assertThat(settings().find(SettingTable.STATE_DIR)).contains(Path.of("/var/lib/holdfast"));
    assertThat(settings().source(SettingTable.STATE_DIR)).isEqualTo("default for root");
    assertThat(settings("--state-dir=none").find(SettingTable.STATE_DIR)).isEmpty();
    host.uid = 1000;
    host.environment.put("XDG_STATE_HOME", "/state");
    assertThat(settings().find(SettingTable.STATE_DIR)).contains(Path.of("/state/holdfast"));
    assertThat(settings().source(SettingTable.STATE_DIR)).isEqualTo("default for users");
  }

  @Test
  void metrics_portAlone_isOfThisMachineOnly() {
    assertThat(settings("--metrics", "9464").text(SettingTable.METRICS))
        .isEqualTo("127.0.0.1:9464");
    assertThat(settings("--metrics", "none").find(SettingTable.METRICS)).isEmpty();
    assertThat(settings("--access-log", "none").find(SettingTable.ACCESS_LOG)).isEmpty();
    assertThat(settings().text(SettingTable.METRICS)).isEqualTo("none");
  }

  @Test
  void page_ofThisMachineOnly_needsNoToken() {
    assertThat(settings("--page", "9465").text(SettingTable.PAGE)).isEqualTo("127.0.0.1:9465");
    assertThat(settings("--page", "[::1]:9465").text(SettingTable.PAGE)).isEqualTo("[::1]:9465");
    assertThat(settings("--page", "localhost:1").text(SettingTable.PAGE)).isEqualTo("localhost:1");
    assertThat(settings("--page", "none").find(SettingTable.PAGE)).isEmpty();
    assertThat(settings().text(SettingTable.PAGE)).isEqualTo("none");
  }

  /** Domain services give users such numbers; only those up to 999,999,999 were taken. */
  @Test
  void ownerInS3_largestNumber_isTaken() {
    Settings settings = settingsOf("s3://bucket", "--uid", "4294967294", "--gid=3000000000");
    S3Settings s3 = settings.s3().orElseThrow();
    assertThat(Integer.toUnsignedLong(s3.uid())).isEqualTo(4_294_967_294L);
    assertThat(Integer.toUnsignedLong(s3.gid())).isEqualTo(3_000_000_000L);
    assertThat(settings.text(SettingTable.GID)).isEqualTo("3000000000");
  }

  @Test
  void sourceInS3_noOption_isOfTheUserWhoMounts() throws IOException {
    Settings settings = settingsOf("s3://bucket");
    S3Settings s3 = settings.s3().orElseThrow();
    assertThat(s3.endpoint()).isNull();
    assertThat(s3.region()).isNull();
    assertThat(s3.pathStyle() || s3.anonymous() || s3.requesterPays()).isFalse();
    assertThat(s3.fileMode()).isEqualTo(0644);
    assertThat(s3.directoryMode()).isEqualTo(0755);
    assertThat(s3.uid()).isEqualTo(Files.getAttribute(temp, "unix:uid"));
    assertThat(s3.gid()).isEqualTo(Files.getAttribute(temp, "unix:gid"));
    assertThat(settings.text(SettingTable.DIR_MODE)).isEqualTo("0755");
  }

  @ParameterizedTest
  @CsvSource({
    "s3://bucket/some/train/, train",
    "s3://bucket/train, train",
    "s3://bucket, bucket",
    "s3://bucket/, bucket",
    "s3://bucket/ä, dataset"
  })
  void sourceInS3_amongPeers_hasTheLastPartAndADigestForItsId(String source, String id) {
    Settings settings =
        settingsOf(source, "--listen=a:1", "--peers=a:1", "--cluster-secret-file=/secret");
    assertThat(settings.peers().orElseThrow().dataset().id()).matches(id + "-[0-9a-f]{12}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "gs://bucket|source 'gs://bucket' is of no kind that Holdfast reads: give a directory, or",
        "http://host/a|source 'http://host/a' is of no kind that Holdfast reads",
        "s3://|source 's3://' is not the name of a bucket: '': write s3://BUCKET/PREFIX",
        "s3:///train|source 's3:///train' is not the name of a bucket",
        "s3://bucket/a/../b|source 's3://bucket/a/../b' is not a prefix that is a directory",
        "s3://bucket|missing MOUNTPOINT: 's3://bucket"
      })
  void source_thatCannotBeMounted_isUsageInOneLine(String from, String message) {
    CliRun run = new CliRun(host);
    assertThat(run.run("mount", from)).isEqualTo(2);
    assertThat(run.err.toString()).startsWith("holdfast: " + message).hasLineCount(1);
  }

  @Test
  void capacity_percentage_isOfTheMachinesMemory() {
    assertThat(settings("--capacity", "25%").get(SettingTable.CAPACITY)).isEqualTo(25_000_000_000L);
  }

  @Test
  void allowOther_given_isTaken() {
    host.uid = 1000;
    Settings settings = settings("--allow-other");
    assertThat(settings.get(SettingTable.ALLOW_OTHER)).isTrue();
    assertThat(settings.source(SettingTable.ALLOW_OTHER)).isEqualTo("flag --allow-other");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--capacity 10Q|--capacity '10Q' is not a size: write a number with K, M, G or T",
        "--capacity -5|--capacity '-5' is not a size: write a number with K, M, G or T",
        "--capacity=-5|--capacity '-5' is not a size: write a number with K, M, G or T",
        "--capacity 0|--capacity 0 must be greater than 0",
        "--capacity 0%|--capacity 0 must be greater than 0",
        "--capacity 101%|--capacity '101%' is more than the whole: write a number from 0 to 100",
        "--capacity x%|--capacity 'x%' is not a percentage: write a number from 0 to 100",
        "--capacity 900T|--capacity 900T is more than the memory there is (93.1 GiB): give less",
        "--capacity 79%|--capacity 73.6 GiB does not fit: transit 256 MiB",
        "--memory 900T|--memory 900T is more than the memory there is (93.1 GiB): give less",
        "--memory 10M|--memory 10.0 MiB leaves no room for a cache: transit takes 256 MiB",
        "--policy lru|--policy 'lru' is not known: choose one of minio, minio-hash, none",
        "--keep /val/*|--keep pattern '/val/*': write a name, or a path from the dataset's root",
        "--exclude [a|--exclude pattern '[a' is not a glob: ",
        "--item-size 3M|--item-size 3M is not possible: choose 1M, 2M, 4M, 8M, 16M, 32M or 64M",
        "--item-size 0|--item-size 0 is not possible: choose 1M, 2M, 4M, 8M, 16M, 32M or 64M",
        "--pin herd|--pin 'herd' is not known: choose one of hard, soft, auto",
        "--transit 0|--transit 0 must be greater than 0",
        "--transit 1M|--transit 1M does not hold two items of 8M: raise --transit",
        "--window -1M|--window '-1M' is not a size: write a number",
        "--window 900T|--window 900T is more than the memory there is (93.1 GiB): give less",
        "--window-age 2|--window-age '2' has no unit: write ms, s, m or h behind it, such as 2s",
        "--metadata-ttl soon|--metadata-ttl 'soon' is not a duration: write a number with ms",
        "--metadata-ttl 99999d|--metadata-ttl '99999d' is too long: at most 68 years",
        "--name a/b|--name 'a/b' is not a name: write at most 64 letters",
        "--name=|--name '' is not a name: write at most 64 letters",
        "--job-by slurm|--job-by 'slurm' is not known: choose one of cgroup, tree, pid, env:NAME"
            + " (such as env:SLURM_JOB_ID)",
        "--count-opens yes|--count-opens 'yes' is not known: choose one of auto, watch, message,"
            + " off",
        "--binding fuse3|--binding 'fuse3' is not known: choose one of auto, kernel, jnr-fuse",
        "--s3-endpoint x|--s3-endpoint 'x' is no address of a store: write it as https://HOST:PORT",
        "--s3-endpoint ftp://x|--s3-endpoint 'ftp://x' is no address of a store",
        "--s3-endpoint http://a/?b|--s3-endpoint 'http://a/?b' is no address of a store",
        "--s3-endpoint http://u:p@x|--s3-endpoint names a user: give credentials by the"
            + " environment",
        "--s3-endpoint http://u:p w@x|--s3-endpoint names a user: give credentials",
        "--s3-region Mars!|--s3-region 'Mars!' is no region: write one like us-east-1",
        "--uid joe|--uid 'joe' is no number of a user or group",
        "--uid 4294967295|--uid '4294967295' is no number of a user or group: write one from 0 to"
            + " 4294967294",
        "--gid -1|--gid '-1' is no number of a user or group",
        "--gid 99999999999|--gid '99999999999' is no number of a user or group",
        "--file-mode 999|--file-mode '999' is no mode: write three octal digits: 644",
        "--dir-mode 4755|--dir-mode '4755' is no mode: write three octal digits: 644",
        "--s3-endpoint http://x|--s3-endpoint means nothing for a directory: leave it out, or give",
        "--s3-region us-east-1|--s3-region means nothing for a directory",
        "--s3-path-style|--s3-path-style means nothing for a directory",
        "--s3-anonymous|--s3-anonymous means nothing for a directory",
        "--s3-requester-pays|--s3-requester-pays means nothing for a directory",
        "--uid 1|--uid means nothing for a directory",
        "--gid 1|--gid means nothing for a directory",
        "--file-mode 600|--file-mode means nothing for a directory",
        "--dir-mode 700|--dir-mode means nothing for a directory",
        "--listen 7070|--listen '7070' is no address: write HOST:PORT, such as node1:7070",
        "--listen a:99999|--listen 'a:99999' is no address: write HOST:PORT",
        "--peers a:1|--peers means nothing without --listen HOST:PORT: give the address where"
            + " peers",
        "--dataset-id x|--dataset-id means nothing without --listen HOST:PORT",
        "--cluster-secret-file s|--cluster-secret-file means nothing without --listen HOST:PORT",
        "--peers a:1,a:1|--peers a:1 is there twice: name each peer once",
        "--peers dns:|--peers '' is no DNS name: write dns:NAME",
        "--peers dir:x|--peers 'x' is not absolute: write dir:/PATH",
        "--listen a:1|--listen a:1 needs --peers: name nodes as HOST:PORT,...",
        "--listen a:1 --peers b:1|--listen a:1 needs --cluster-secret-file, or --tls-cert",
        "--listen 0.0.0.0:1 --peers b:1|--listen 0.0.0.0:1 is every address of this machine",
        "--listen [::]:1 --peers b:1|--listen [::]:1 is every address of this machine",
        "--listen a:65535 --peers b:1|--listen a:65535 leaves no next port for the membership",
        "--listen a:1 --peers b:1 --tls-cert c|--tls-cert, --tls-key and --tls-ca go together",
        "--listen a:1 --peers b:1 --cluster-secret-file s --dataset-id a/b|--dataset-id 'a/b' is no"
            + " name: write at most 128 letters",
        "--log-level loud|--log-level 'loud' is not known: choose one of error, warn, info, debug",
        "--log-format xml|--log-format 'xml' is not known: choose one of text, json",
        "--metrics 0|--metrics '0' is no address: write a port from 1 to 65535",
        "--metrics 99999|--metrics '99999' is no address: write a port from 1 to 65535",
        "--metrics :9464|--metrics ':9464' is no address: write a port from 1 to 65535",
        "--metrics=|--metrics '' is no address: write a port from 1 to 65535",
        "--metrics node1|--metrics 'node1' is no address: write a port from 1 to 65535",
        "--page 0|--page '0' is no address: write a port from 1 to 65535, for this machine only, or"
            + " HOST:PORT, such as 0.0.0.0:9465 with --page-token-file for others",
        "--page 70000|--page '70000' is no address: write a port from 1 to 65535, for this machine"
            + " only, or HOST:PORT, such as 0.0.0.0:9465 with --page-token-file for others",
        "--page 0.0.0.0:9465|--page 0.0.0.0:9465 may be reached from other machines: give"
            + " --page-token-file too, or a port alone",
        "--page node1:9465|--page node1:9465 may be reached from other machines",
        "--page 127.0.0.1.example:9465|--page 127.0.0.1.example:9465 may be reached from other",
        "--page [::2]:9465|--page [::2]:9465 may be reached from other machines",
        "--page 9465 --metrics 9465|--page 127.0.0.1:9465 is where --metrics is: choose another",
        "--page-token-file t|--page-token-file means nothing without --page [HOST:]PORT",
        "--access-log-sample 5|--access-log-sample '5' is no sampling: write 1/N for one event of"
            + " N",
        "--stats-visible-to me|--stats-visible-to 'me' is not known: choose one of owner, all",
        "--access-log-sample 2/3|--access-log-sample '2/3' is no sampling: write 1/N"
      })
  void option_wrongValue_isUsageInOneLine(String option, String message) {
    CliRun run = new CliRun(host);
    List<String> words = new ArrayList<>(List.of("mount"));
    words.addAll(Arrays.asList(option.split(" ", option.contains(" --") ? 0 : 2)));
    words.addAll(List.of(source.toString(), mountpoint.toString()));
    assertThat(run.run(words.toArray(String[]::new))).isEqualTo(2);
    assertThat(run.err.toString()).startsWith("holdfast: " + message).hasLineCount(1);
    assertThat(run.out.toString()).isEmpty();
    assertThat(run.daemon.settings).isNull();
  }

  @Test
  void wrongValue_besideAStaleMount_leavesTheMountAlone() {
    host.mount(mountpoint, "fuse.holdfast", Host.PathState.NOT_CONNECTED);
    CliRun run = new CliRun(host);
    assertThat(run.run("mount", "--capacity=0", source.toString(), mountpoint.toString()))
        .isEqualTo(2);
    assertThat(host.detached).isEmpty();
  }

  private Settings settings(String... options) {
    return settingsOf(source.toString(), options);
  }

  private Settings settingsOf(String from, String... options) {
    CliRun run = new CliRun(host);
    List<String> words = new ArrayList<>(List.of("mount", "--foreground"));
    words.addAll(List.of(options));
    words.addAll(List.of(from, mountpoint.toString()));
    int exitCode = run.run(words.toArray(String[]::new));
    if (!run.became.isEmpty()) {
      return toldByTheSupervisor(run.became);
    }
    assertThat(exitCode).as(run.err.toString()).isZero();
    assertThat(run.daemon.settings).isNotNull();
    return run.daemon.settings;
  }

  private static Settings toldByTheSupervisor(List<String> words) {
    try {
      return SettingsDocument.read(Path.of(words.get(words.size() - 1))).settings();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
