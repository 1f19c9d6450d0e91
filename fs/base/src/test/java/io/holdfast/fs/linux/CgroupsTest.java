package io.holdfast.fs.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CgroupsTest {
  private static final long GIB = 1L << 30;
  private static final long MACHINE = 16 * GIB;

  /** The limit that version 1 shows if nobody has set one. */
  private static final String NONE_OF_VERSION_1 = "9223372036854771712\n";

  @TempDir private Path root;

  private Cgroups cgroups() {
    return new Cgroups(new Procfs(root));
  }

  private void machine(String cgroups) throws IOException {
    write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:        1 kB\n");
    write("proc/self/cgroup", cgroups);
  }

  private void write(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  private List<String> groupNames() {
    return cgroups().memoryGroups(Procfs.SELF).stream().map(Cgroups.MemoryGroup::name).toList();
  }

  @Test
  void usableMemory_noCgroup_isTheMachines() throws IOException {
    machine("");
    assertThat(cgroups().usableMemory(Procfs.SELF)).isEqualTo(MACHINE);
    assertThat(cgroups().memoryLimit(Procfs.SELF)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void usableMemory_limitAboveTheMachine_isTheMachines() throws IOException {
    machine("0::/\n");
    write("sys/fs/cgroup/memory.max", 1024 * GIB + "\n");
    assertThat(cgroups().usableMemory(Procfs.SELF)).isEqualTo(MACHINE);
  }

  @Test
  void memberships_groupWithACarriageReturnInItsName_isOne() throws IOException {
    machine("0::/a\r1:memory:/b\n");
    assertThat(cgroups().memberships(Procfs.SELF))
        .containsExactly(new Cgroups.Membership(List.of(Cgroups.UNIFIED), "/a\r1:memory:/b"));
  }

  @Test
  void usableMemory_noProc_saysSo() {
    assertThatThrownBy(() -> cgroups().usableMemory(Procfs.SELF))
        .hasMessageContaining("/proc/meminfo");
  }

  @Test
  void usableMemory_ofThisMachine_isPlausible() {
    assertThat(new Cgroups(Procfs.host()).usableMemory(Procfs.SELF)).isBetween(64L << 20, 1L << 50);
  }

  @Test
  void version2_nestedGroups_theSmallestLimitOnTheWayCounts() throws IOException {
    machine("0::/user.slice/job/step\n");
    write("sys/fs/cgroup/cgroup.controllers", "memory\n");
    write("sys/fs/cgroup/user.slice/memory.max", 8 * GIB + "\n");
    write("sys/fs/cgroup/user.slice/job/memory.max", 4 * GIB + "\n");
    write("sys/fs/cgroup/user.slice/job/step/memory.max", "max\n");
    assertThat(groupNames())
        .containsExactly("/user.slice/job/step", "/user.slice/job", "/user.slice", "/");
    assertThat(cgroups().usableMemory(Procfs.SELF)).isEqualTo(4 * GIB);
  }

  /** A daemon may have less than the command that asks for it. */
  @Test
  void usableMemory_ofAnotherProcess_isThatOfItsGroups() throws IOException {
    machine("0::/user.slice\n");
    write("sys/fs/cgroup/user.slice/memory.max", 8 * GIB + "\n");
    write("proc/77/cgroup", "0::/system.slice/holdfast@a.service\n");
    write("sys/fs/cgroup/system.slice/holdfast@a.service/memory.max", 2 * GIB + "\n");
    assertThat(cgroups().usableMemory("77")).isEqualTo(2 * GIB);
    assertThat(cgroups().usableMemory(Procfs.SELF)).isEqualTo(8 * GIB);
  }

  @Test
  void version2_containerWithANamespace_itsRootCounts() throws IOException {
    machine("0::/\n");
    write("sys/fs/cgroup/memory.max", GIB + "\n");
    assertThat(cgroups().usableMemory(Procfs.SELF)).isEqualTo(GIB);
  }

  @Test
  void version2_containerWithTheHostsPath_whatCanBeSeenCounts() throws IOException {
    machine("0::/docker/0123\n");
    write("sys/fs/cgroup/memory.max", GIB + "\n");
    assertThat(groupNames()).containsExactly("/");
    assertThat(cgroups().usableMemory(Procfs.SELF)).isEqualTo(GIB);
  }

  /** The limits of this namespace are not those of a process outside of it. */
  @Test
  void version2_processOutsideOfTheNamespace_hasNoGroups() throws IOException {
    machine("0::/../other\n");
    write("sys/fs/cgroup/memory.max", GIB + "\n");
    write("sys/fs/other/memory.max", "1\n");
    assertThat(groupNames()).isEmpty();
    assertThat(cgroups().memoryLimit(Procfs.SELF)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void version1_nestedGroups_theSmallestLimitOnTheWayCounts() throws IOException {
    machine("9:name=systemd:/\n4:cpuset,memory:/a/b\n0::/\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", NONE_OF_VERSION_1);
    write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", 2 * GIB + "\n");
    write("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", 3 * GIB + "\n");
    assertThat(cgroups().usableMemory(Procfs.SELF)).isEqualTo(2 * GIB);
  }

  @Test
  void version1_containerWithTheHostsPath_itsRootCounts() throws IOException {
    machine("4:memory:/docker/0123\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", GIB / 2 + "\n");
    assertThat(cgroups().usableMemory(Procfs.SELF)).isEqualTo(GIB / 2);
  }

  @Test
  void hybrid_memoryControllerInVersion1_thatOneCounts() throws IOException {
    machine("0::/b\n4:memory:/a\n");
    write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", 2 * GIB + "\n");
    write("sys/fs/cgroup/memory/a/memory.oom_control", "oom_kill_disable 0\noom_kill 3\n");
    write("sys/fs/cgroup/unified/b/cgroup.procs", "");
    assertThat(groupNames()).containsExactly("/memory/a", "/memory");
    assertThat(cgroups().memoryPath(Procfs.SELF)).hasValue("/a");
    assertThat(cgroups().memoryGroups(Procfs.SELF).get(0).kills()).isEqualTo(3);
    assertThat(cgroups().usableMemory(Procfs.SELF)).isEqualTo(2 * GIB);
  }

  @Test
  void hybrid_memoryControllerInVersion2_thatOneCounts() throws IOException {
    machine("4:cpu:/a\n0::/b\n");
    write("sys/fs/cgroup/unified/b/memory.max", 3 * GIB + "\n");
    assertThat(groupNames()).contains("/unified/b");
    assertThat(cgroups().memoryPath(Procfs.SELF)).hasValue("/b");
    assertThat(cgroups().usableMemory(Procfs.SELF)).isEqualTo(3 * GIB);
  }

  @Test
  void group_ofVersion2_isToldByItsFiles() throws IOException {
    machine("0::/a\n");
    write("sys/fs/cgroup/a/memory.max", "3000\n");
    write("sys/fs/cgroup/a/memory.high", "2000\n");
    write("sys/fs/cgroup/a/memory.current", "1500\n");
    write("sys/fs/cgroup/a/memory.events", "low 0\noom 9\noom_kill 2\noom_group_kill 1\n");
    write("sys/fs/cgroup/a/memory.pressure", "some avg10=7.50 avg60=0.00 avg300=0.00 total=1\n");
    write(
        "sys/fs/cgroup/a/memory.stat",
        "inactive_anon 1000\ninactive_file 100\nactive_file 20\nslab_reclaimable 3\nslab 77\n");
    Cgroups.MemoryGroup group = cgroups().memoryGroups(Procfs.SELF).get(0);
    assertThat(group.isUnified()).isTrue();
    assertThat(group.limit()).isEqualTo(3000);
    assertThat(group.throttle()).isEqualTo(2000);
    assertThat(group.used()).isEqualTo(1500);
    assertThat(group.reclaimable()).isEqualTo(123);
    assertThat(group.kills()).isEqualTo(2);
    assertThat(group.stalls()).isEqualTo(7.5);
  }

  @Test
  void group_thatVanishes_setsNoLimit() throws IOException {
    machine("0::/a\n");
    write("sys/fs/cgroup/a/memory.max", "3000\n");
    Cgroups.MemoryGroup group = cgroups().memoryGroups(Procfs.SELF).get(0);
    Files.delete(root.resolve("sys/fs/cgroup/a/memory.max"));
    Files.delete(root.resolve("sys/fs/cgroup/a"));
    assertThat(group.limit()).isEqualTo(Long.MAX_VALUE);
    assertThat(group.throttle()).isEqualTo(Long.MAX_VALUE);
    assertThat(group.used()).isEqualTo(Long.MAX_VALUE);
    assertThat(group.reclaimable()).isZero();
    assertThat(group.kills()).isZero();
    assertThat(group.stalls()).isZero();
    assertThat(groupNames()).containsExactly("/");
  }

  /** A directory in a file's place cannot be read even by root. */
  @Test
  void group_thatMayNotBeRead_orSaysNoNumber_setsNoLimit() throws IOException {
    machine("0::/a/b\n");
    Files.createDirectories(root.resolve("sys/fs/cgroup/a/b/memory.max"));
    write("sys/fs/cgroup/a/memory.max", "much\n");
    assertThat(cgroups().memoryLimit(Procfs.SELF)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void memberships_ofAProcessThatIsGone_orLinesThatAreNone_areLeftOut() throws IOException {
    write("proc/5/cgroup", "\nnonsense\n4:memory\n7:pids:/a:b\n0::relative\n");
    assertThat(cgroups().memberships("5"))
        .containsExactly(new Cgroups.Membership(List.of("pids"), "/a:b"));
    assertThat(cgroups().memberships("6")).isEmpty();
    assertThat(cgroups().memoryPath("6")).isEmpty();
    assertThat(cgroups().memoryGroups("6")).isEmpty();
  }
}
