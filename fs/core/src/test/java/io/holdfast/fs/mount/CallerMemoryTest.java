package io.holdfast.fs.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.Libc;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.transit.Reader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CallerMemoryTest {
  /** Above the kernel's largest possible pid. */
  private static final int NOBODY = 1 << 23;

  private final CallerMemory callers = new CallerMemory(Procfs.host());

  @Test
  void reader_ownThread_isInternal() {
    int thread = Libc.LIBC.gettid();
    assertThat(callers.reader(thread)).isEqualTo(new Reader(thread, Reader.Kind.DAEMON, false));
    assertThat(callers.reader(thread)).isEqualTo(new Reader(thread, Reader.Kind.DAEMON, false));
  }

  @Test
  void reader_processOfTheSameCgroup_isNear() throws IOException {
    Process child = new ProcessBuilder("cat").start();
    try {
      int thread = (int) child.pid();
      assertThat(callers.reader(thread))
          .isEqualTo(new Reader(thread, Reader.Kind.APPLICATION, false));
    } finally {
      child.destroy();
    }
  }

  /** Pages are charged to the group of the memory controller, whatever the other groups are. */
  @Test
  void reader_processOfAnotherMemoryGroup_isElsewhere(@TempDir Path root) throws IOException {
    cgroups(root, "self", "8:cpu:/a\n4:cpuset,memory:/job\n0::/a\n");
    cgroups(root, "5", "8:cpu:/b\n4:cpuset,memory:/job\n0::/b\n");
    cgroups(root, "6", "8:cpu:/a\n4:cpuset,memory:/other\n0::/a\n");
    CallerMemory recorded = new CallerMemory(new Procfs(root));
    assertThat(recorded.reader(5)).isEqualTo(new Reader(5, Reader.Kind.APPLICATION, false));
    assertThat(recorded.reader(6)).isEqualTo(new Reader(6, Reader.Kind.APPLICATION, true));
  }

  private static void cgroups(Path root, String process, String text) throws IOException {
    Path directory = Files.createDirectories(root.resolve("proc").resolve(process));
    Files.writeString(directory.resolve("cgroup"), text);
  }

  /** Better to read the pages in once more than to leave them charged to somebody else. */
  @Test
  void reader_thatCannotBeTold_isElsewhere() {
    assertThat(callers.reader(NOBODY)).isEqualTo(new Reader(NOBODY, Reader.Kind.APPLICATION, true));
    assertThat(callers.reader(0)).isEqualTo(new Reader(0, Reader.Kind.APPLICATION, true));
  }
}
