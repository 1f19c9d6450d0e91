package io.holdfast.fs.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  /**
   * The commands looked at the directories above in their own process, and waited for a server that
   * was away without end and without a word.
   */
  @ParameterizedTest
  @ValueSource(strings = {"nfs/data", "link/data", "nfs/data/below"})
  void pathOnAServerThatDoesNotAnswer_isHung_andStaysAsItIs(String word) throws IOException {
    Path nfs = Files.createDirectory(temp.toRealPath().resolve("nfs"));
    Path real = Files.createDirectory(temp.toRealPath().resolve("real"));
    Files.createSymbolicLink(nfs.resolve("data"), real);
    Files.createDirectory(real.resolve("below"));
    Files.createSymbolicLink(nfs.resolveSibling("link"), nfs);
    MountTable table = MountTable.of(List.of(mount(Path.of("/"), "ext4"), mount(nfs, "nfs4")));
    Path path = nfs.resolveSibling(word);

    LinuxHost silent =
        new LinuxHost(
            Duration.ofMillis(50), () -> table, List.of("sh", "-c", "exec sleep 600", "sh"));
    assertThat(silent.locate(path)).isEqualTo(path);
    assertThat(silent.probe(path)).isEqualTo(Host.PathState.HUNG);
    assertThat(silent.locate(nfs.resolveSibling("link"))).as("a mount's root").isEqualTo(nfs);

    LinuxHost answering =
        new LinuxHost(Duration.ofSeconds(20), () -> table, List.of("readlink", "-n", "--"));
    assertThat(answering.locate(path)).isEqualTo(path.toRealPath());
    assertThat(answering.probe(path)).isEqualTo(Host.PathState.DIRECTORY);
  }

  private static MountTable.Mount mount(Path at, String type) {
    return new MountTable.Mount(1, at, "0:1", type, "somewhere", "rw");
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
