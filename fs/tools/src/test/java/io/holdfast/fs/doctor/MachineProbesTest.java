package io.holdfast.fs.doctor;

import static io.holdfast.fs.doctor.Severity.FAIL;
import static io.holdfast.fs.doctor.Severity.OK;
import static io.holdfast.fs.doctor.Severity.WARN;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.MountTable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MachineProbesTest {
  @TempDir Path temp;
  private FakeMachine machine;
  private final FakeAbilities abilities = new FakeAbilities();

  @BeforeEach
  void makeMachine() {
    machine = new FakeMachine(temp);
  }

  @ParameterizedTest
  @CsvSource({
    "6.18.44-fc, OK, 2, nothing to be done",
    "6.12.9-amd64, WARN, 2, known bug",
    "6.9.0, WARN, 2, known bug",
    "6.8.0-41-generic, OK, 1, sending again",
    "6.13.1, OK, 1, Linux 6.13.1",
    "6.1.0-18-amd64, OK, 1, telling what is cached",
    "5.10.0-8, OK, 1, filling a mapping",
    "5.4.0-1, FAIL, 1, too old",
    "odd, WARN, 1, cannot be read"
  })
  void kernel_ofEachVersion_isKnown(String release, Severity level, int findings, String said) {
    machine.file("proc/sys/kernel/osrelease", release + "\n");
    List<Finding> found = new KernelProbe(machine.files()).run();
    assertThat(found).hasSize(findings);
    Finding last = found.get(findings - 1);
    assertThat(last.level()).isEqualTo(level);
    assertThat(last.text()).contains(said);
    assertMended(found);
  }

  @Test
  void fuse_usable_tellsItsLimits() {
    machine
        .file("proc/filesystems", "nodev\tsysfs\nnodev\tfuse\n")
        .file("proc/sys/fs/fuse/max_pages_limit", "256\n")
        .file("sys/module/fuse/parameters/max_user_bgreq", "7866\n");
    assertThat(new FuseProbe(machine.files(), new MountRequirements(0, abilities)).run())
        .singleElement()
        .isEqualTo(
            Finding.ok(
                "/dev/fuse can be opened; the kernel has it; max_user_bgreq 7866;"
                    + " fs.fuse.max_pages_limit 256"));
  }

  @Test
  void fuse_lowLimits_areWarnings() {
    machine
        .file("proc/sys/fs/fuse/max_pages_limit", "32\n")
        .file("proc/sys/fs/fuse/default_request_timeout", "300\n")
        .file("proc/sys/fs/fuse/max_request_timeout", "0\n");
    List<Finding> found = new FuseProbe(machine.files(), new MountRequirements(0, abilities)).run();
    assertThat(found).extracting(Finding::level).containsExactly(OK, WARN, WARN);
    assertThat(found.get(2).fix()).isEqualTo("sysctl fs.fuse.default_request_timeout=0");
    assertMended(found);
  }

  @Test
  void fuse_missingOrDenied_fails() {
    abilities.device = Abilities.Device.MISSING;
    assertFails(
        new FuseProbe(machine.files(), new MountRequirements(0, abilities)).run(),
        "/dev/fuse is missing");
    abilities.device = Abilities.Device.DENIED;
    assertFails(
        new FuseProbe(machine.files(), new MountRequirements(0, abilities)).run(),
        "not permitted to open");
  }

  /** The two had texts of their own, and one knew what the other did not. */
  @Test
  void mount_isRefusedForWhatTheProbesFind() {
    MountRequirements user = new MountRequirements(1000, abilities);
    assertThat(user.obstacle(true, true)).isEmpty();
    assertThat(user.obstacle(false, false).orElseThrow().text())
        .isEqualTo("--binding kernel is not permitted to user 1000");
    abilities.userAllowOther = false;
    assertThat(user.obstacle(true, false)).isEmpty();
    assertThat(new BindingProbe(1000, abilities).run())
        .contains(user.obstacle(true, true).orElseThrow());
    abilities.libfuse = false;
    assertThat(new BindingProbe(1000, abilities).run())
        .contains(user.obstacle(true, false).orElseThrow());
    assertThat(new MountRequirements(0, abilities).obstacle(false, true)).isEmpty();
    abilities.device = Abilities.Device.MISSING;
    assertThat(new FuseProbe(machine.files(), user).run())
        .containsExactly(user.obstacle(false, false).orElseThrow());
  }

  @Test
  void bindings_ofRootAndUsers_areTold() {
    assertThat(new BindingProbe(0, abilities).run())
        .containsExactly(Finding.ok("kernel and jnr-fuse are possible"));
    assertThat(new BindingProbe(1000, abilities).run()).extracting(Finding::level).containsOnly(OK);
    abilities.libfuse = false;
    assertThat(new BindingProbe(0, abilities).run()).extracting(Finding::level).containsOnly(OK);
    assertFails(new BindingProbe(1000, abilities).run(), "libfuse.so.2");
    abilities.libfuse = true;
    abilities.fusermount = false;
    assertFails(new BindingProbe(1000, abilities).run(), "fusermount is missing");
    abilities.mayMount = false;
    assertFails(new BindingProbe(0, abilities).run(), "CAP_SYS_ADMIN");
    abilities.fusermount = true;
    abilities.userAllowOther = false;
    assertThat(new BindingProbe(1000, abilities).run())
        .anySatisfy(found -> assertThat(found.fix()).contains("user_allow_other"));
  }

  @Test
  void java_tooOld_fails() {
    assertFails(new JavaProbe(11, "11.0.2", 1 << 30).run(), "too old");
    assertThat(new JavaProbe().run()).extracting(Finding::level).containsExactly(OK);
  }

  @Test
  void privileges_withoutAny_warnOfLimits() {
    machine
        .file("proc/self/status", "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n")
        .file(
            "proc/self/limits",
            """
            Limit  Soft Limit  Hard Limit  Units
            Max locked memory  65536  65536  bytes
            Max open files  1024  1024  files
            """);
    List<Finding> found = new PrivilegesProbe(machine.files(), 1000).run();
    assertThat(found).extracting(Finding::level).containsExactly(OK, WARN, WARN);
    assertThat(found.get(1).text()).contains("65536 bytes");
    assertMended(found);
  }

  @Test
  void privileges_ofRoot_areFine() {
    machine
        .file("proc/self/status", "CapEff:\t000001ffffffffff\n")
        .file(
            "proc/self/limits",
            "Max locked memory  65536  65536  bytes\nMax open files  1024  1048576  files\n");
    assertThat(new PrivilegesProbe(machine.files(), 0).run())
        .containsExactly(Finding.ok("user 0, with CAP_SYS_ADMIN, with CAP_IPC_LOCK"));
  }

  @Test
  void mappings_fewAndFixed_areAWarningWithTheSetting() {
    machine.file(MappingsProbe.FILE, "65530\n");
    assertThat(new MappingsProbe(machine.files()).run().get(0).text()).contains("a daemon raises");
    assertThat(new MappingsProbe(new MachineFiles(Path.of("/nonexistent"))).run())
        .extracting(Finding::level)
        .containsExactly(WARN);
    machine.file(MappingsProbe.FILE, "16000000\n");
    assertThat(new MappingsProbe(machine.files()).run())
        .containsExactly(Finding.ok("vm.max_map_count 16,000,000"));
  }

  @Test
  void memory_shortAndSwapped_isAWarning() {
    machine
        .file(
            "proc/meminfo",
            """
            MemTotal:       1000000 kB
            MemAvailable:     10000 kB
            Mlocked:              5 kB
            SwapTotal:      2000000 kB
            SwapFree:        100000 kB
            """)
        .file("proc/self/cgroup", "0::/a/b\n")
        .file("sys/fs/cgroup/a/memory.max", "500000000\n")
        .file("proc/sys/vm/swappiness", "60\n")
        .file("sys/module/zswap/parameters/enabled", "Y\n")
        .file("sys/module/zswap/parameters/max_pool_percent", "20\n");
    List<Finding> found = new MemoryProbe(machine.files()).run();
    assertThat(found).extracting(Finding::level).containsExactly(OK, WARN, WARN);
    assertThat(found.get(0).text()).contains("allows 477 MiB");
    assertThat(found.get(2).text()).contains("swappiness 60", "zswap may take 20 %");
    assertMended(found);
  }

  @Test
  void memory_plenty_isFine() {
    machine.file("proc/meminfo", "MemTotal:  1000000 kB\nMemAvailable:  900000 kB\n");
    assertThat(new MemoryProbe(machine.files()).run()).extracting(Finding::level).containsOnly(OK);
  }

  @Test
  void fanotify_refusedOrScarce_isAWarning() {
    machine.file("proc/sys/fs/fanotify/max_user_marks", "8\n");
    List<Finding> scarce = new FanotifyProbe(machine.files(), () -> "").run();
    assertThat(scarce).extracting(Finding::level).containsExactly(OK, WARN);
    List<Finding> refused = new FanotifyProbe(machine.files(), () -> "EPERM").run();
    assertThat(refused).extracting(Finding::level).containsExactly(WARN);
    assertThat(refused.get(0).text()).contains("EPERM");
    assertMended(scarce);
    assertMended(refused);
  }

  @Test
  void bpf_takenOrRefused_isToldAndNoWarning() {
    FsException reason = new FsException(FsError.NOT_PERMITTED, "needs CAP_BPF");
    Finding message =
        Finding.ok(
            "ioctl TCGETS, which Python before 3.14 asks at each 'open', is a message each: needs"
                + " CAP_BPF");
    Finding fanotify =
        Finding.ok("opens are told by fanotify, which costs those who open more: needs CAP_BPF");
    assertThat(new BpfProbe(() -> trial(null, null)).run())
        .containsExactly(
            Finding.ok("the kernel can answer ioctl TCGETS by itself (lsm)"),
            Finding.ok("a program in the kernel can tell opens"));
    assertThat(new BpfProbe(() -> trial(reason, null)).run())
        .containsExactly(message, Finding.ok("a program in the kernel can tell opens"));
    assertThat(new BpfProbe(() -> trial(null, reason)).run())
        .containsExactly(
            Finding.ok("the kernel can answer ioctl TCGETS by itself (lsm)"), fanotify);
    BpfProbe refused =
        new BpfProbe(
            () -> {
              throw reason;
            });
    assertThat(refused.run()).containsExactly(message, fanotify);
  }

  private static BpfProbe.Trial trial(
      @Nullable FsException noAnswer, @Nullable FsException noOpens) {
    return new BpfProbe.Trial() {
      @Override
      public String answer() throws FsException {
        if (noAnswer != null) {
          throw noAnswer;
        }
        return "lsm";
      }

      @Override
      public void opens() throws FsException {
        if (noOpens != null) {
          throw noOpens;
        }
      }
    };
  }

  @Test
  void clock_ofAnotherTime_fails() {
    assertFails(new ClockProbe(at("1970-01-01T00:10:00Z")).run(), "cannot be right");
    assertThat(new ClockProbe(at("2027-05-01T00:00:00Z")).run())
        .extracting(Finding::level)
        .containsExactly(OK);
  }

  private static Clock at(String time) {
    return Clock.fixed(Instant.parse(time), ZoneOffset.UTC);
  }

  @Test
  void directory_writable_isFineAlsoWhereItIsYetToBeMade() throws Exception {
    MountTable none = MountTable.of(List.of());
    assertThat(new DirectoryProbe("state", temp.resolve("a/b"), none).run())
        .singleElement()
        .satisfies(
            found -> {
              assertThat(found.level()).isNotEqualTo(FAIL);
              assertThat(found.text()).contains("a/b can be written");
            });
  }

  @Test
  void directory_onAMountOfHoldfast_failsWithoutATouch() throws Exception {
    MountTable mounts =
        MountTable.of(
            List.of(
                new MountTable.Mount(1, Path.of("/mnt/x"), "0:7", "fuse.holdfast", "/x", "ro")));
    assertFails(
        new DirectoryProbe("logs", Path.of("/mnt/x/log"), mounts).run(), "is on a mount of");
  }

  @Test
  void command_thatHangs_isGivenUp() throws Exception {
    Path bin = Files.createDirectories(temp.resolve("hang"));
    Path hanging = bin.resolve("never");
    Files.writeString(hanging, "#!/bin/sh\nexec sleep 600\n");
    Files.setPosixFilePermissions(hanging, PosixFilePermissions.fromString("rwx------"));
    assertThat(BoundedCommand.run(Duration.ofMillis(200), 100, List.of(hanging.toString())))
        .isEmpty();
  }

  private static void assertFails(List<Finding> findings, String said) {
    assertThat(findings)
        .anySatisfy(
            found -> {
              assertThat(found.level()).isEqualTo(FAIL);
              assertThat(found.text()).contains(said);
            });
    assertMended(findings);
  }

  /** Nobody is told of trouble without what to do. */
  private static void assertMended(List<Finding> findings) {
    assertThat(findings)
        .allSatisfy(found -> assertThat(found.fix().isEmpty()).isEqualTo(found.level() == OK));
  }
}
