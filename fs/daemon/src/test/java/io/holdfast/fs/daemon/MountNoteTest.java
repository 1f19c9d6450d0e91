package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class MountNoteTest {
  private static final String TABLE =
      """
      ID=1 SRC=/x TARGET=/other ROOT=/ OPTS=user=a
      SRC=/nfs/data TARGET=%s ROOT=/ ATTRS=uhelper=holdfast OPTS=ro
      """;

  @Test
  void note_ofAPlainMountpoint_isFound() {
    assertFound("/data/run", "/data/run");
  }

  /**
   * mount(8) writes blanks, tabs, newlines and backslashes in octal. The note of such a mount was
   * never found, and stayed when the mount had gone.
   */
  @Test
  void note_ofAMountpointWithOddLetters_isFound() {
    assertFound("/data/run\\0401", "/data/run 1");
    assertFound("/a\\011b\\012c", "/a\tb\nc");
    assertFound("/a\\134040b", "/a\\040b");
  }

  private static void assertFound(String written, String mountpoint) {
    String table = TABLE.formatted(written);
    assertThat(MountNote.has(table, mountpoint)).isTrue();
    assertThat(MountNote.has(table, mountpoint + "0")).isFalse();
    assertThat(MountNote.has(table, "/nfs/data")).isFalse();
  }
}
