package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A program that looks at all entries that it lists does not ask for each name; a program that
 * wants names gets only names.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LookersIT {
  private static final int FILES = 4000;

  @RegisterExtension static final Sandbox SANDBOX = new Sandbox();

  private static Mount mount;

  private Place place;
  private Dataset dataset;

  @BeforeAll
  static void mount() {
    mount = SANDBOX.mount(SANDBOX.tmpfs("origin"), "--capacity", "1M", "--count-opens", "off");
  }

  /** The directory itself is known before a program lists it. */
  @BeforeEach
  void fill(TestInfo test) {
    place = Place.create(mount, test.getTestMethod().orElseThrow().getName());
    dataset = Dataset.create(place.origin(), FILES, i -> 100);
    mount.refresh();
    assertThat(place.root()).isDirectory();
  }

  private long lookups(String... command) {
    long before = mount.stats().requests("LOOKUP");
    String found = SANDBOX.command(command).mustSucceed().out();
    assertThat(found.lines().filter(line -> line.endsWith(".jpg"))).hasSize(FILES);
    return mount.stats().requests("LOOKUP") - before;
  }

  /** It reads all names of a directory before it looks at the first. */
  @Test
  void find_bySize_asksForTheNamesOfItsFirstDirectoryAlone() {
    int classes = dataset.folders();
    assertThat(lookups("find", place.root().toString(), "-size", "-9"))
        .isBetween(FILES / classes / 2L, FILES / classes + 2L * classes);
  }

  /** The kernel keeps what the first one has listed, without attributes. */
  @Test
  void find_byName_asksForNone_andBySizeAfterItForTheNamesOfItsFirstDirectoryAlone() {
    int classes = dataset.folders();
    assertThat(lookups("find", place.root().toString())).isZero();
    assertThat(lookups("find", place.root().toString(), "-size", "-9"))
        .isBetween(16L, FILES / classes + 4L * classes);
    assertThat(lookups("find", place.root().toString(), "-size", "-9")).isZero();
  }
}
