package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SystemMemoryTest {
  private static final long MACHINE = 16L << 30;

  @TempDir Path root;

  @Test
  void detect_noCgroup_isTheMachinesMemory() throws IOException {
    machine("");
    assertThat(SystemMemory.detect(root)).isEqualTo(MACHINE);
  }

  @Test
  void detect_version2Limit_isTheLimit() throws IOException {
    machine("0::/user.slice/job\n");
    write("sys/fs/cgroup/user.slice/job/memory.max", "max\n");
    write("sys/fs/cgroup/user.slice/memory.max", "4294967296\n");
    assertThat(SystemMemory.detect(root)).isEqualTo(4L << 30);
  }

  @Test
  void detect_version2InAContainer_isTheLimitOfItsRoot() throws IOException {
    machine("0::/\n");
    write("sys/fs/cgroup/memory.max", "1073741824\n");
    assertThat(SystemMemory.detect(root)).isEqualTo(1L << 30);
  }

  @Test
  void detect_version1Limit_isTheLimit() throws IOException {
    machine("9:name=systemd:/\n4:memory:/a/b\n0::/\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    write("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "2147483648\n");
    assertThat(SystemMemory.detect(root)).isEqualTo(2L << 30);
  }

  @Test
  void detect_version1WithHostsPath_isTheLimitOfTheContainersRoot() throws IOException {
    machine("4:memory:/docker/0123\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");
    assertThat(SystemMemory.detect(root)).isEqualTo(512L << 20);
  }

  @Test
  void detect_limitAboveTheMachine_isTheMachinesMemory() throws IOException {
    machine("0::/\n");
    write("sys/fs/cgroup/memory.max", "1099511627776\n");
    assertThat(SystemMemory.detect(root)).isEqualTo(MACHINE);
  }

  @Test
  void detect_noProc_saysSo() {
    assertThatThrownBy(() -> SystemMemory.detect(root)).hasMessageContaining("/proc/meminfo");
  }

  @Test
  void detect_thisMachine_isPlausible() {
    assertThat(SystemMemory.detect()).isBetween(64L << 20, 1L << 50);
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
}
