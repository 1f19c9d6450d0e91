package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A program that looks at all entries that it lists does not ask for each name; a program that
 * wants names gets only names.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
class LookersIT {
  private static final int FILES = 4000;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private Dataset dataset;
  private Mount mount;

  @BeforeEach
  void mount() {
    dataset = Dataset.create(sandbox.tmpfs("origin"), FILES, i -> 100);
    mount = sandbox.mount(dataset.root(), "--capacity", "1M", "--count-opens", "off");
  }

  private long lookups(String... command) {
    long before = mount.stats().requests("LOOKUP");
    String found = sandbox.command(command).mustSucceed().out();
    assertThat(found.lines().filter(line -> line.endsWith(".jpg"))).hasSize(FILES);
    return mount.stats().requests("LOOKUP") - before;
  }

  /** It reads all names of a directory before it looks at the first. */
  @Test
  void find_bySize_asksForTheNamesOfItsFirstDirectoryAlone() {
    int classes = dataset.folders();
    assertThat(lookups("find", mount.mountpoint().toString(), "-size", "-9"))
        .isBetween(FILES / classes / 2L, FILES / classes + 2L * classes);
  }

  @Test
  void find_byName_asksForNone() {
    assertThat(lookups("find", mount.mountpoint().toString())).isZero();
  }

  /** The kernel keeps what the first one has listed, without attributes. */
  @Test
  void find_bySizeAfterFind_asksForTheNamesOfItsFirstDirectoryAlone() {
    int classes = dataset.folders();
    assertThat(lookups("find", mount.mountpoint().toString())).isZero();
    assertThat(lookups("find", mount.mountpoint().toString(), "-size", "-9"))
        .isBetween(16L, FILES / classes + 4L * classes);
    assertThat(lookups("find", mount.mountpoint().toString(), "-size", "-9")).isZero();
  }
}
