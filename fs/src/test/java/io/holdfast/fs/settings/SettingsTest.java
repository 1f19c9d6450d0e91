package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.control.ConfigText;
import io.holdfast.peer.Dataset;
import io.holdfast.peer.NodeAddress;
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

  private static SettingsBuilder builder() {
    return Settings.builder(ORIGIN, PLACE).systemMemory(SYSTEM).heapBytes(HEAP);
  }

  @Test
  void build_nothingGiven_hasTheDefaults() {
    Settings settings = builder().build();
    assertThat(settings.origin()).isEqualTo(ORIGIN);
    assertThat(settings.mountpoint()).isEqualTo(PLACE);
    assertThat(settings.name()).isEqualTo("data-imagenet");
    assertThat(settings.capacityBytes()).isEqualTo(SYSTEM / 2);
    assertThat(settings.memoryBytes()).isEqualTo(SYSTEM / 10 * 8);
    assertThat(settings.transitBytes()).isEqualTo(TRANSIT);
    assertThat(settings.policy()).isEqualTo("minio");
    assertThat(settings.itemSize()).isEqualTo(8 << 20);
    assertThat(settings.metadataTtl()).isEqualTo(Duration.ofHours(1));
    assertThat(settings.xattr()).isEqualTo(XattrChoice.ON);
    assertThat(settings.acl()).isEqualTo(AclChoice.AUTO);
    assertThat(settings.pin()).isEqualTo(PinMode.AUTO);
    assertThat(settings.windowBytes()).isEqualTo(64 << 20);
    assertThat(settings.windowAge()).isEqualTo(Duration.ofSeconds(2));
    assertThat(settings.openCounting()).isEqualTo(OpenCounting.AUTO);
    assertThat(settings.allowOther()).isFalse();
    assertThat(settings.foreground()).isFalse();
    assertThat(settings.level()).isEqualTo(LogLevel.INFO);
    assertThat(settings.logFile()).isEmpty();
    assertThat(settings.heapBytes()).isEqualTo(HEAP);
  }

  @Test
  void build_everythingGiven_keepsIt() {
    Settings settings =
        builder()
            .name("n")
            .capacityBytes(1000)
            .memoryBytes(2_000_000_000)
            .memoryMinBytes(900)
            .transitBytes(16 << 20)
            .policy("none")
            .itemSize(1 << 20)
            .metadataTtl(Settings.INDEFINITE)
            .xattr(XattrChoice.OFF)
            .acl(AclChoice.STRICT)
            .pin(PinMode.SOFT)
            .windowBytes(0)
            .windowAge(Duration.ZERO)
            .openCounting(OpenCounting.OFF)
            .jobBy("env:RUN")
            .allowOther(true)
            .foreground(true)
            .level(LogLevel.TRACE)
            .logFile(Path.of("/log"))
            .build();
    assertThat(settings.name()).isEqualTo("n");
    assertThat(settings.capacityBytes()).isEqualTo(1000);
    assertThat(settings.memoryBytes()).isEqualTo(2_000_000_000);
    assertThat(settings.memoryMinBytes()).isEqualTo(900);
    assertThat(settings.transitBytes()).isEqualTo(16 << 20);
    assertThat(settings.policy()).isEqualTo("none");
    assertThat(settings.itemSize()).isEqualTo(1 << 20);
    assertThat(settings.metadataTtl()).isEqualTo(Settings.INDEFINITE);
    assertThat(settings.xattr()).isEqualTo(XattrChoice.OFF);
    assertThat(settings.acl()).isEqualTo(AclChoice.STRICT);
    assertThat(settings.pin()).isEqualTo(PinMode.SOFT);
    assertThat(settings.windowBytes()).isZero();
    assertThat(settings.windowAge()).isZero();
    assertThat(settings.openCounting()).isEqualTo(OpenCounting.OFF);
    assertThat(settings.jobBy()).hasToString("env:RUN");
    assertThat(settings.allowOther()).isTrue();
    assertThat(settings.foreground()).isTrue();
    assertThat(settings.level()).isEqualTo(LogLevel.TRACE);
    assertThat(settings.logFile()).contains(Path.of("/log"));
  }

  @Test
  void build_littleMemory_derivesCapacityFromWhatIsLeft() {
    Settings settings = builder().systemMemory(1_500_000_000).build();
    assertThat(settings.capacityBytes()).isEqualTo(1_200_000_000 - TRANSIT - HEAP);
    assertThat(settings.source(Settings.Key.CAPACITY))
        .isEqualTo("derived from memory, transit and heap");
  }

  @Test
  void build_memoryGiven_derivesCapacityFromIt() {
    Settings settings = builder().memoryBytes(2_000_000_000).build();
    assertThat(settings.capacityBytes()).isEqualTo(2_000_000_000 - TRANSIT - HEAP);
  }

  @Test
  void build_tooLittleMemory_saysWhatTakesIt() {
    assertRefused(
        builder().memoryBytes(600_000_000),
        "--memory 572 MiB leaves no room for a cache: transit takes 256 MiB and the Java heap 512 MiB"
            + " of it");
  }

  @Test
  void build_capacityThatDoesNotFit_saysHowMuchWould() {
    assertRefused(
        builder().capacityBytes(79_500_000_000L),
        "--capacity 74.0 GiB does not fit: transit 256 MiB, the Java heap 512 MiB and it must stay"
            + " within --memory 74.5 GiB: give at most 75525M, or raise --memory");
  }

  @Test
  void build_noCapacity_isRefused() {
    assertRefused(builder().capacityBytes(0), "--capacity 0 is nothing: give a size above 0");
    assertRefused(builder().capacityBytes(-5), "--capacity -5 is nothing: give a size above 0");
  }

  @Test
  void build_moreThanTheMachineHas_isRefused() {
    assertRefused(
        builder().capacityBytes(1L << 40),
        "--capacity 1T is more than the memory there is (93.1 GiB): give less, or a percentage such"
            + " as 50%");
    assertRefused(
        builder().memoryBytes(1L << 40), "--memory 1T is more than the memory there is (93.1 GiB)");
    assertRefused(
        builder().transitBytes(1L << 40),
        "--transit 1T is more than the memory there is (93.1 GiB)");
    assertRefused(
        builder().windowBytes(1L << 40), "--window 1T is more than the memory there is (93.1 GiB)");
  }

  @Test
  void build_sizesNearTheLargestNumber_areRefusedWithoutOverflow() {
    assertRefused(builder().capacityBytes(Long.MAX_VALUE), "--capacity");
    assertRefused(builder().memoryBytes(Long.MAX_VALUE), "--memory");
    assertRefused(builder().transitBytes(Long.MAX_VALUE), "--transit");
  }

  @Test
  void build_transitSmallerThanAnItem_isRefused() {
    assertRefused(
        builder().transitBytes(4 << 20),
        "--transit 4M does not hold two items of 8M: raise --transit or lower --item-size");
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 512 << 10, 3 << 20, 128 << 20, 1L << 33, -(1L << 20)})
  void build_oddItemSize_isRefused(long itemSize) {
    assertRefused(builder().itemSize(itemSize), "choose 1M, 2M, 4M, 8M, 16M, 32M or 64M");
  }

  @Test
  void build_unknownPolicy_namesTheKnown() {
    assertRefused(
        builder().policy("lru"),
        "--policy 'lru' is not known: choose one of minio, minio-hash, none");
  }

  @Test
  void build_unfitName_isRefused() {
    assertRefused(builder().name("a/b"), "--name 'a/b' is not a name");
  }

  @Test
  void build_negativeDurations_areRefused() {
    assertRefused(builder().metadataTtl(Duration.ofSeconds(-1)), "--metadata-ttl PT-1S");
    assertRefused(builder().windowAge(Duration.ofSeconds(-1)), "--window-age PT-1S");
    assertRefused(builder().sourceTimeout(Duration.ofMillis(999)), "--source-timeout PT0.999S");
  }

  @Test
  void build_relativePaths_areRefused() {
    assertRefused(
        Settings.builder(new Source.Directory(Path.of("a")), PLACE), "origin 'a' is not absolute");
    assertRefused(Settings.builder(ORIGIN, Path.of("a")), "mountpoint 'a' is not absolute");
    assertRefused(builder().logFile(Path.of("a")), "log file 'a' is not absolute");
  }

  @Test
  void build_kernelAsksForAclsThatItWasToldNotToAskFor_isRefused() {
    assertRefused(
        builder().acl(AclChoice.KERNEL).xattr(XattrChoice.OFF),
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
            .capacityBytes(64L << 20)
            .source(Settings.Key.CAPACITY, "flag --capacity")
            .metadataTtl(Settings.INDEFINITE)
            .source(Settings.Key.METADATA_TTL, "flag --metadata-ttl")
            .build();
    assertThat(ConfigText.of(settings.report()))
        .isEqualTo(
            """
            setting              value                 from
            source               /data/imagenet        argument
            mountpoint           /data/imagenet        argument
            name                 data-imagenet         derived from the mountpoint
            config               -                     default
            capacity             64M                   flag --capacity
            memory               78125000K (74.5 GiB)  derived from 80% of the memory (93.1 GiB)
            memory-min           0                     default
            transit              256M                  default
            policy               minio                 default
            keep                 -                     default
            exclude              -                     default
            item-size            8M                    default
            metadata-ttl         indefinite            flag --metadata-ttl
            source-timeout       1m                    default
            require-mount        no                    default
            xattr                on                    default
            acl                  auto                  default
            pin                  auto                  default
            window               64M                   default
            window-age           2s                    default
            count-opens          auto                  default
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
            log-format           text                  default
            metrics              none                  default
            access-log           none                  default
            access-log-sample    1000/s                default
            stats-visible-to     owner                 default
            state-dir            none                  default
            heap                 512M                  java -Xmx
            """);
  }

  @Test
  void build_moreThanTheCapacityIsToStay_isRefused() {
    assertRefused(
        builder().capacityBytes(1 << 30).memoryMinBytes(2L << 30),
        "--memory-min 2G is more than --capacity 1.00 GiB");
  }

  @Test
  void build_withPeers_leavesMemoryForConnections() {
    NodeAddress self = new NodeAddress("node1", 7070);
    SettingsBuilder builder =
        builder()
            .memoryBytes(1_000_000_000)
            .listen(self)
            .discovery(new Discovery.Addresses(List.of(self)))
            .secretFile(Path.of("/secret"));
    Settings settings = builder.build();
    assertThat(settings.capacityBytes()).isEqualTo(1_000_000_000 - TRANSIT - HEAP - (64 << 20));
    assertThat(settings.peers().orElseThrow().dataset().id()).matches("imagenet-[0-9a-f]{12}");
    assertThat(settings.peers().orElseThrow().dataset().itemSize()).isEqualTo(8 << 20);
    assertRefused(
        builder.capacityBytes(900_000_000), "connections with peers 64.0 MiB and it must");
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
        .hasSizeLessThanOrEqualTo(Dataset.LONGEST_ID);
  }

  private static String defaultId(Source origin) {
    NodeAddress self = new NodeAddress("node1", 7070);
    return Settings.builder(origin, Path.of("/mnt"))
        .systemMemory(SYSTEM)
        .heapBytes(HEAP)
        .listen(self)
        .discovery(new Discovery.Addresses(List.of(self)))
        .secretFile(Path.of("/secret"))
        .build()
        .peers()
        .orElseThrow()
        .dataset()
        .id();
  }

  @Test
  void toString_settings_namesEachForTheLog() {
    assertThat(builder().build().toString())
        .startsWith("source=/data/imagenet mountpoint=/data/imagenet name=data-imagenet config=")
        .contains(" window-age=2s ");
  }

  private static void assertRefused(SettingsBuilder builder, String message) {
    assertThatThrownBy(builder::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
