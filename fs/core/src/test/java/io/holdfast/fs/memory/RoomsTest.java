package io.holdfast.fs.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RoomsTest {
  private static final long MIB = 1 << 20;

  @TempDir Path root;

  @BeforeEach
  void machine() throws IOException {
    write("proc/meminfo", "MemTotal: 1048576 kB\nMemFree: 1 kB\nMemAvailable:  524288 kB\n");
  }

  private void write(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  @Test
  void machine_withAndWithoutStalls_isWhatTheKernelSays() throws IOException {
    assertThat(new Rooms(new Procfs(root)).now())
        .containsExactly(new Room("machine", 1024 * MIB, 512 * MIB, 0));

    write("proc/pressure/memory", "some avg10=12.50 avg60=0.00 avg300=0.00 total=1\n");

    assertThat(new Rooms(new Procfs(root)).now())
        .containsExactly(new Room("machine", 1024 * MIB, 512 * MIB, 12.5));
  }

  @Test
  void version2_countsReclaimablePages_andTheLowerOfBothLimits() throws IOException {
    write("proc/self/cgroup", "0::/a/b\n");
    group("sys/fs/cgroup/a/b", "max", "100");
    write("sys/fs/cgroup/a/b/memory.high", "max\n");
    group("sys/fs/cgroup/a", Long.toString(512 * MIB), Long.toString(500 * MIB));
    write("sys/fs/cgroup/a/memory.high", 400 * MIB + "\n");
    write("sys/fs/cgroup/a/memory.pressure", "some avg10=7.00 avg60=0.00 avg300=0.00 total=1\n");
    write(
        "sys/fs/cgroup/a/memory.stat",
        """
        inactive_file %d
        active_file %d
        unevictable %d
        slab_reclaimable %d
        """
            .formatted(100 * MIB, 20 * MIB, 300 * MIB, 5 * MIB));

    assertThat(new Rooms(new Procfs(root)).now())
        .contains(new Room("cgroup /a", 400 * MIB, 25 * MIB, 7))
        .hasSize(2);
  }

  private void group(String directory, String limit, String used) throws IOException {
    write(directory + "/memory.max", limit + "\n");
    write(directory + "/memory.current", used + "\n");
  }

  @Test
  void version1_countsReclaimablePages() throws IOException {
    write("proc/self/cgroup", "4:memory:/a\n0::/\n");
    write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", 300 * MIB + "\n");
    write("sys/fs/cgroup/memory/a/memory.usage_in_bytes", 290 * MIB + "\n");
    write(
        "sys/fs/cgroup/memory/a/memory.stat",
        "inactive_file 1\ntotal_inactive_file %d\ntotal_active_file %d\n"
            .formatted(7 * MIB, 3 * MIB));
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    write("sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n");

    assertThat(new Rooms(new Procfs(root)).now())
        .contains(new Room("cgroup /memory/a", 300 * MIB, 20 * MIB, 0))
        .hasSize(2);
  }
}
