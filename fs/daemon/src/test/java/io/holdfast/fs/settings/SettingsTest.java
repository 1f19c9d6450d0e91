package io.holdfast.fs.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.control.ConfigText;
import io.holdfast.fs.stats.JobBy;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.SharedDataset;
import io.holdfast.peer.membership.Discovery;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsTest {
  private static final Path PLACE = Path.of("/data/imagenet");
  private static final Source ORIGIN = new Source.Directory(PLACE);
  private static final long SYSTEM = 100_000_000_000L;
  private static final long HEAP = 512 << 20;
  private static final long TRANSIT = 256 << 20;

  private static Settings.Builder builder() {
    return Settings.builder(ORIGIN, PLACE, SYSTEM).heapBytes(HEAP);
  }

  @Test
  void build_nothingGiven_hasTheDefaults() {
    Settings settings = builder().build();
    assertThat(settings.get(SettingTable.SOURCE)).isEqualTo(ORIGIN);
    assertThat(settings.get(SettingTable.MOUNTPOINT)).isEqualTo(PLACE);
    assertThat(settings.get(SettingTable.NAME)).isEqualTo("data-imagenet");
    assertThat(settings.get(SettingTable.CAPACITY)).isEqualTo(SYSTEM / 2);
    assertThat(settings.get(SettingTable.MEMORY)).isEqualTo(SYSTEM / 10 * 8);
    assertThat(settings.get(SettingTable.TRANSIT)).isEqualTo(TRANSIT);
    assertThat(settings.get(SettingTable.POLICY)).isEqualTo("minio");
    assertThat(settings.get(SettingTable.ITEM_SIZE)).isEqualTo(8L << 20);
    assertThat(settings.get(SettingTable.METADATA_TTL)).isEqualTo(Duration.ofHours(1));
    assertThat(settings.get(SettingTable.XATTR)).isEqualTo(XattrChoice.ON);
    assertThat(settings.get(SettingTable.ACL)).isEqualTo(AclChoice.AUTO);
    assertThat(settings.get(SettingTable.PIN)).isEqualTo(PinMode.AUTO);
    assertThat(settings.get(SettingTable.WINDOW)).isEqualTo(64L << 20);
    assertThat(settings.get(SettingTable.WINDOW_AGE)).isEqualTo(Duration.ofSeconds(2));
    assertThat(settings.get(SettingTable.COUNT_OPENS)).isEqualTo(OpenCounting.AUTO);
    assertThat(settings.get(SettingTable.ALLOW_OTHER)).isFalse();
    assertThat(settings.get(SettingTable.FOREGROUND)).isFalse();
    assertThat(settings.get(SettingTable.LOG_LEVEL)).isEqualTo(LogLevel.INFO);
    assertThat(settings.find(SettingTable.LOG_FILE)).isEmpty();
    assertThat(settings.heapBytes()).isEqualTo(HEAP);
  }

  @Test
  void build_everythingGiven_keepsIt() {
    Settings settings =
        builder()
            .set(SettingTable.NAME, "n")
            .set(SettingTable.CAPACITY, 1000L)
            .set(SettingTable.MEMORY, 2_000_000_000L)
            .set(SettingTable.MEMORY_MIN, 900L)
            .set(SettingTable.TRANSIT, 16L << 20)
            .set(SettingTable.POLICY, "none")
            .set(SettingTable.ITEM_SIZE, 1L << 20)
            .set(SettingTable.METADATA_TTL, Settings.INDEFINITE)
            .set(SettingTable.XATTR, XattrChoice.OFF)
            .set(SettingTable.ACL, AclChoice.STRICT)
            .set(SettingTable.PIN, PinMode.SOFT)
            .set(SettingTable.WINDOW, 0L)
            .set(SettingTable.WINDOW_AGE, Duration.ZERO)
            .set(SettingTable.COUNT_OPENS, OpenCounting.OFF)
            .set(SettingTable.JOB_BY, JobBy.parse("env:RUN"))
            .set(SettingTable.ALLOW_OTHER, true)
            .set(SettingTable.FOREGROUND, true)
            .set(SettingTable.LOG_LEVEL, LogLevel.TRACE)
            .set(SettingTable.LOG_FILE, Path.of("/log"))
            .build();
    assertThat(settings.get(SettingTable.NAME)).isEqualTo("n");
    assertThat(settings.get(SettingTable.CAPACITY)).isEqualTo(1000L);
    assertThat(settings.get(SettingTable.MEMORY)).isEqualTo(2_000_000_000L);
    assertThat(settings.get(SettingTable.MEMORY_MIN)).isEqualTo(900L);
    assertThat(settings.get(SettingTable.TRANSIT)).isEqualTo(16L << 20);
    assertThat(settings.get(SettingTable.POLICY)).isEqualTo("none");
    assertThat(settings.get(SettingTable.ITEM_SIZE)).isEqualTo(1L << 20);
    assertThat(settings.get(SettingTable.METADATA_TTL)).isEqualTo(Settings.INDEFINITE);
    assertThat(settings.get(SettingTable.XATTR)).isEqualTo(XattrChoice.OFF);
    assertThat(settings.get(SettingTable.ACL)).isEqualTo(AclChoice.STRICT);
    assertThat(settings.get(SettingTable.PIN)).isEqualTo(PinMode.SOFT);
    assertThat(settings.get(SettingTable.WINDOW)).isZero();
    assertThat(settings.get(SettingTable.WINDOW_AGE)).isZero();
    assertThat(settings.get(SettingTable.COUNT_OPENS)).isEqualTo(OpenCounting.OFF);
    assertThat(settings.get(SettingTable.JOB_BY)).hasToString("env:RUN");
    assertThat(settings.get(SettingTable.ALLOW_OTHER)).isTrue();
    assertThat(settings.get(SettingTable.FOREGROUND)).isTrue();
    assertThat(settings.get(SettingTable.LOG_LEVEL)).isEqualTo(LogLevel.TRACE);
    assertThat(settings.find(SettingTable.LOG_FILE)).contains(Path.of("/log"));
  }

  @Test
  void build_littleMemory_derivesCapacityFromWhatIsLeft() {
    Settings settings = Settings.builder(ORIGIN, PLACE, 1_500_000_000).heapBytes(HEAP).build();
    assertThat(settings.get(SettingTable.CAPACITY)).isEqualTo(1_200_000_000 - TRANSIT - HEAP);
    assertThat(settings.source(SettingTable.CAPACITY))
        .isEqualTo("derived from memory, transit and heap");
  }

  @Test
  void build_memoryGiven_derivesCapacityFromIt() {
    Settings settings = builder().set(SettingTable.MEMORY, 2_000_000_000L).build();
    assertThat(settings.get(SettingTable.CAPACITY)).isEqualTo(2_000_000_000 - TRANSIT - HEAP);
  }

  @Test
  void build_tooLittleMemory_saysWhatTakesIt() {
    assertRefused(
        builder().set(SettingTable.MEMORY, 600_000_000L),
        "--memory 572 MiB leaves no room for a cache: transit takes 256 MiB and the Java heap 512 MiB"
            + " of it");
  }

  @Test
  void build_capacityThatDoesNotFit_saysHowMuchWould() {
    assertRefused(
        builder().set(SettingTable.CAPACITY, 79_500_000_000L),
        "--capacity 74.0 GiB does not fit: transit 256 MiB, the Java heap 512 MiB and it must stay"
            + " within --memory 74.5 GiB: give at most 75525M, or raise --memory");
  }

  @Test
  void build_noCapacity_isRefused() {
    assertRefused(builder().set(SettingTable.CAPACITY, 0L), "--capacity 0 must be greater than 0");
    assertRefused(
        builder().set(SettingTable.CAPACITY, -5L), "--capacity -5 must be greater than 0");
  }

  @Test
  void build_moreThanTheMachineHas_isRefused() {
    assertRefused(
        builder().set(SettingTable.CAPACITY, 1L << 40),
        "--capacity 1T is more than the memory there is (93.1 GiB): give less, or a percentage such"
            + " as 50%");
    assertRefused(
        builder().set(SettingTable.MEMORY, 1L << 40),
        "--memory 1T is more than the memory there is (93.1 GiB)");
    assertRefused(
        builder().set(SettingTable.TRANSIT, 1L << 40),
        "--transit 1T is more than the memory there is (93.1 GiB)");
    assertRefused(
        builder().set(SettingTable.WINDOW, 1L << 40),
        "--window 1T is more than the memory there is (93.1 GiB)");
  }

  @Test
  void build_sizesNearTheLargestNumber_areRefusedWithoutOverflow() {
    assertRefused(builder().set(SettingTable.CAPACITY, Long.MAX_VALUE), "--capacity");
    assertRefused(builder().set(SettingTable.MEMORY, Long.MAX_VALUE), "--memory");
    assertRefused(builder().set(SettingTable.TRANSIT, Long.MAX_VALUE), "--transit");
  }

  @Test
  void build_transitSmallerThanAnItem_isRefused() {
    assertRefused(
        builder().set(SettingTable.TRANSIT, 4L << 20),
        "--transit 4M does not hold two items of 8M: raise --transit or lower --item-size");
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 512 << 10, 3 << 20, 128 << 20, 1L << 33, -(1L << 20)})
  void build_oddItemSize_isRefused(long itemSize) {
    assertRefused(
        builder().set(SettingTable.ITEM_SIZE, itemSize), "choose 1M, 2M, 4M, 8M, 16M, 32M or 64M");
  }

  @Test
  void build_unknownPolicy_namesTheKnown() {
    assertRefused(
        builder().set(SettingTable.POLICY, "lru"),
        "--policy 'lru' is not known: choose one of minio, minio-hash, none");
  }

  @Test
  void build_unfitName_isRefused() {
    assertRefused(builder().set(SettingTable.NAME, "a/b"), "--name 'a/b' is not a name");
  }

  @Test
  void build_negativeDurations_areRefused() {
    assertRefused(
        builder().set(SettingTable.METADATA_TTL, Duration.ofSeconds(-1)), "--metadata-ttl PT-1S");
    assertRefused(
        builder().set(SettingTable.WINDOW_AGE, Duration.ofSeconds(-1)), "--window-age PT-1S");
    assertRefused(
        builder().set(SettingTable.SOURCE_TIMEOUT, Duration.ofMillis(999)),
        "--source-timeout PT0.999S");
  }

  @Test
  void build_relativePaths_areRefused() {
    assertRefused(
        Settings.builder(new Source.Directory(Path.of("a")), PLACE, SYSTEM),
        "origin 'a' is not absolute");
    assertRefused(Settings.builder(ORIGIN, Path.of("a"), SYSTEM), "mountpoint 'a' is not absolute");
    assertRefused(
        builder().set(SettingTable.LOG_FILE, Path.of("a")), "log-file 'a' is not absolute");
  }

  @Test
  void build_kernelAsksForAclsThatItWasToldNotToAskFor_isRefused() {
    assertRefused(
        builder().set(SettingTable.ACL, AclChoice.KERNEL).set(SettingTable.XATTR, XattrChoice.OFF),
        "--acl kernel is not possible with --xattr off: the kernel asks for ACLs as for extended"
            + " attributes; fix: leave one of the two away");
  }

  @Test
  void indefinite_inEveryUnit_doesNotOverflow() {
    assertThat(Settings.INDEFINITE.toNanos()).isPositive();
    assertThat(Math.toIntExact(Settings.INDEFINITE.toSeconds())).isPositive();
  }

  @Test
  void report_lines_haveAlignedColumnsWithTheSource() {
    Settings settings =
        builder()
            .set(SettingTable.CAPACITY, 64L << 20, "flag --capacity")
            .set(SettingTable.METADATA_TTL, Settings.INDEFINITE, "flag --metadata-ttl")
            .build();
    assertThat(ConfigText.of(settings.report()))
        .isEqualTo(
            """
            setting              value                 from
            source               /data/imagenet        argument
            mountpoint           /data/imagenet        argument
            capacity             64M                   flag --capacity
            memory               78125000K (74.5 GiB)  derived from 80% of the memory (93.1 GiB)
            memory-min           0                     default
            policy               minio                 default
            keep                 -                     default
            exclude              -                     default
            item-size            8M                    default
            pin                  auto                  default
            transit              256M                  default
            convoy               0                     default
            window               64M                   default
            window-age           2s                    default
            name                 data-imagenet         derived from the mountpoint
            config               -                     default
            metadata-ttl         indefinite            flag --metadata-ttl
            source-timeout       1m                    default
            require-mount        no                    default
            xattr                on                    default
            acl                  auto                  default
            count-opens          auto                  default
            kernel-helpers       auto                  default
            orders               announced             default
            job-by               cgroup                default
            binding              jnr-fuse              default
            allow-other          no                    default
            s3-endpoint          -                     default
            s3-region            -                     default
            s3-path-style        -                     default
            s3-anonymous         -                     default
            s3-requester-pays    -                     default
            uid                  -                     default
            gid                  -                     default
            file-mode            -                     default
            dir-mode             -                     default
            listen               -                     default
            peers                -                     default
            cluster-secret-file  -                     default
            tls-cert             -                     default
            tls-key              -                     default
            tls-ca               -                     default
            dataset-id           -                     default
            foreground           no                    default
            log-level            info                  default
            log-file             -                     default
            state-dir            none                  default
            metrics              none                  default
            page                 none                  default
            page-token-file      -                     default
            log-format           text                  default
            access-log           none                  default
            access-log-sample    1000/s                default
            stats-visible-to     owner                 default
            heap                 512M                  java -Xmx
            """);
  }

  @Test
  void build_moreThanTheCapacityIsToStay_isRefused() {
    assertRefused(
        builder().set(SettingTable.CAPACITY, 1L << 30).set(SettingTable.MEMORY_MIN, 2L << 30),
        "--memory-min 2G is more than --capacity 1.00 GiB");
  }

  @Test
  void build_withPeers_leavesMemoryForConnections() {
    NodeAddress self = new NodeAddress("node1", 7070);
    Settings.Builder builder =
        builder()
            .set(SettingTable.MEMORY, 1_000_000_000L)
            .set(SettingTable.LISTEN, self)
            .set(SettingTable.PEERS, new Discovery.Addresses(List.of(self)))
            .set(SettingTable.CLUSTER_SECRET_FILE, Path.of("/secret"));
    Settings settings = builder.build();
    assertThat(settings.get(SettingTable.CAPACITY))
        .isEqualTo(1_000_000_000 - TRANSIT - HEAP - (64 << 20));
    assertThat(settings.peers().orElseThrow().dataset().id()).matches("imagenet-[0-9a-f]{12}");
    assertThat(settings.peers().orElseThrow().dataset().itemSize()).isEqualTo(8 << 20);
    assertRefused(
        builder.set(SettingTable.CAPACITY, 900_000_000L),
        "connections with peers 64.0 MiB and it must");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/...", "/data/-", "/data/ä"})
  void build_originWhoseNameIsNoId_hasOneAllTheSame(String origin) {
    assertThat(defaultId(Source.parse(origin))).matches("dataset-[0-9a-f]{12}");
  }

  /** Two datasets that end alike are two, and one is the same on all nodes. */
  @Test
  void build_originsWithTheSameLastPart_haveOtherIds() {
    List<String> sources =
        List.of(
            "/a/train",
            "/b/train",
            "/train",
            "s3://bucket/train",
            "s3://other/train",
            "s3://train");
    assertThat(sources.stream().map(Source::parse).map(SettingsTest::defaultId))
        .doesNotHaveDuplicates()
        .allMatch(id -> id.matches("train-[0-9a-f]{12}"));
    assertThat(defaultId(Source.parse("/a/b/../train/"))).isEqualTo("train-0301ea5ee7a5");
    assertThat(defaultId(Source.parse("/" + "x".repeat(200))))
        .hasSizeLessThanOrEqualTo(SharedDataset.LONGEST_ID);
  }

  private static String defaultId(Source origin) {
    NodeAddress self = new NodeAddress("node1", 7070);
    return Settings.builder(origin, Path.of("/mnt"), SYSTEM)
        .heapBytes(HEAP)
        .set(SettingTable.LISTEN, self)
        .set(SettingTable.PEERS, new Discovery.Addresses(List.of(self)))
        .set(SettingTable.CLUSTER_SECRET_FILE, Path.of("/secret"))
        .build()
        .peers()
        .orElseThrow()
        .dataset()
        .id();
  }

  @Test
  void toString_settings_namesEachForTheLog() {
    assertThat(builder().build().toString())
        .startsWith("source=/data/imagenet mountpoint=/data/imagenet capacity=")
        .contains(" window-age=2s ");
  }

  private static void assertRefused(Settings.Builder builder, String message) {
    assertThatThrownBy(builder::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
