package io.holdfast.fs.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Facts of any machine that the tests run on. */
class LinuxHostTest {
  private final LinuxHost host = new LinuxHost();
  @TempDir Path temp;

  @Test
  void locate_symlinks_areFollowedAlsoAtTheEnd() throws IOException {
    Path real = Files.createDirectories(temp.toRealPath().resolve("a/b"));
    Path outer = Files.createSymbolicLink(temp.resolve("outer"), Path.of("a"));
    Path inner = Files.createSymbolicLink(real.resolveSibling("inner"), Path.of("b"));
    assertThat(host.locate(outer.resolve("b"))).isEqualTo(real);
    assertThat(host.locate(outer.resolve("inner"))).isEqualTo(real);
    assertThat(host.locate(inner)).isEqualTo(real);
    assertThat(host.locate(real.resolve("../b/./."))).isEqualTo(real);
  }

  @Test
  void locate_missingOrEndless_isLeftAsItIs() throws IOException {
    Path missing = temp.toRealPath().resolve("none/below");
    assertThat(host.locate(missing)).isEqualTo(missing);
    Path loop = temp.toRealPath().resolve("loop");
    Files.createSymbolicLink(loop, Path.of("loop"));
    assertThat(host.locate(loop)).isEqualTo(loop);
  }

  @Test
  void locate_mountpoint_isItself() {
    assertThat(host.locate(Path.of("/proc"))).isEqualTo(Path.of("/proc"));
    assertThat(host.locate(Path.of("/"))).isEqualTo(Path.of("/"));
  }

  @Test
  void probe_paths_areKnown() {
    assertThat(host.probe(temp)).isEqualTo(Host.PathState.DIRECTORY);
    assertThat(host.probe(temp.resolve("none"))).isEqualTo(Host.PathState.MISSING);
  }

  @Test
  void facts_ofThisMachine_areThere() {
    assertThat(host.memory()).isPositive();
    assertThat(host.environment()).isEqualTo(System.getenv());
    assertThat(host.control().path()).isAbsolute();
    assertThat(host.ownDirectories()).contains(Path.of(System.getProperty("java.home")));
    assertThat(host.libfuseInstallation()).isNotBlank();
  }
}
