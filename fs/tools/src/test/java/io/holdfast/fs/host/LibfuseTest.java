package io.holdfast.fs.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LibfuseTest {
  @TempDir Path root;

  @Test
  void isInstalled_nowhere_isFalse() {
    assertThat(Libfuse.isInstalled(root, Map.of())).isFalse();
  }

  @Test
  void isInstalled_libfuse3Alone_isFalse() throws IOException {
    create("usr/lib/x86_64-linux-gnu/libfuse3.so.3");
    assertThat(Libfuse.isInstalled(root, Map.of())).isFalse();
  }

  @Test
  void isInstalled_inDebiansDirectory_isTrue() throws IOException {
    create("usr/lib/aarch64-linux-gnu/libfuse.so.2");
    assertThat(Libfuse.isInstalled(root, Map.of())).isTrue();
  }

  @Test
  void isInstalled_onTheLibraryPath_isTrue() throws IOException {
    create("opt/fuse/libfuse.so.2");
    String path = ":/nowhere:" + root.resolve("opt/fuse");
    assertThat(Libfuse.isInstalled(root, Map.of("LD_LIBRARY_PATH", path))).isTrue();
  }

  @Test
  void isInstalled_inTheLinkersCache_isTrueWhileTheFileIsThere() throws IOException {
    create("opt/odd/libfuse.so.2");
    byte[] cache = "x\0/lib/libc.so.6\0/opt/odd/libfuse.so.2\0y".getBytes(StandardCharsets.UTF_8);
    Files.createDirectories(root.resolve("etc"));
    Files.write(root.resolve("etc/ld.so.cache"), cache);
    assertThat(Libfuse.isInstalled(root, Map.of())).isTrue();
    Files.delete(root.resolve("opt/odd/libfuse.so.2"));
    assertThat(Libfuse.isInstalled(root, Map.of())).isFalse();
  }

  @Test
  void installation_knownDistributions_namesThePackage() {
    assertThat(installation("ID=debian", "VERSION_ID=\"12\"")).isEqualTo("'apt install libfuse2'");
    assertThat(installation("ID=debian", "VERSION_ID=\"13\""))
        .isEqualTo("'apt install libfuse2t64'");
    assertThat(installation("ID=ubuntu", "ID_LIKE=debian", "VERSION_ID=\"22.04\""))
        .isEqualTo("'apt install libfuse2'");
    assertThat(installation("ID=ubuntu", "ID_LIKE=debian", "VERSION_ID=\"24.04\""))
        .isEqualTo("'apt install libfuse2t64'");
    assertThat(installation("ID=\"rocky\"", "ID_LIKE=\"rhel centos fedora\""))
        .isEqualTo("'dnf install fuse-libs'");
  }

  @Test
  void installation_unknownDistribution_namesThePackagesOfOthers() {
    assertThat(Libfuse.installation(List.of())).contains("libfuse2", "libfuse2t64");
    assertThat(installation("ID=debian", "VERSION_ID=trixie")).isEqualTo("'apt install libfuse2'");
  }

  private static String installation(String... release) {
    return Libfuse.installation(List.of(release));
  }

  private void create(String file) throws IOException {
    Files.createDirectories(root.resolve(file).getParent());
    Files.createFile(root.resolve(file));
  }
}
