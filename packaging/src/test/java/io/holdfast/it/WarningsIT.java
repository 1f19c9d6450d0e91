package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The mount and the doctor warn of settings that work but that an administrator hardly wants. */
@Tag(Sandbox.ANY_BINDING)
class WarningsIT {
  @RegisterExtension final Sandbox sandbox = new Sandbox();

  /** The limits are like those of users other than root. */
  private static final List<String> FEW_LOCKED_PAGES =
      List.of(
          "prlimit",
          "--memlock=65536:65536",
          "setpriv",
          "--bounding-set=-ipc_lock",
          "--inh-caps=-ipc_lock");

  /** The source is like the directory of an NFS export that is not mounted. */
  @Test
  void sourceEmpty_andPagesThatMayNotBeLocked_areToldAtTheMountAndByTheDoctor() {
    Mount mount = sandbox.declare(sandbox.folder("nfs"));

    Child.Result result = mounted(mount, FEW_LOCKED_PAGES, "--capacity", "64M");

    assertThat(result.err())
        .startsWith(
            "holdfast: the source '%s' is empty: if it is to be on a file system of its own, that is"
                    .formatted(mount.source())
                + " not mounted\n");
    assertThat(result.out()).contains("0 files").contains("nothing to keep");
    assertThat(sandbox.holdfast("stats", mount.name()).out()).contains("- planned");
    assertThat(sandbox.holdfast("doctor", mount.name()).out())
        .containsPattern("WARN +origin +the dataset has no files: if it is to be on")
        .contains("planned hit ratio -");
    assertThat(result.out()).contains("pages are not locked, since 'ulimit -l' allows");
    assertThat(mount.stats().at("cache.pin")).isEqualTo("soft");
  }

  @Test
  void sourceThatHasToBeMounted_isAcceptedOnlyWhenItIs_andTooLargePromisesAreTold()
      throws IOException {
    Path there = sandbox.tmpfs("there");
    Path missing = Files.createDirectory(there.resolve("missing"));
    mounted(sandbox.declare(there), List.of(), "--capacity", "50%", "--require-mount");
    assertMountsThatPromiseMoreThanThereIsAreToldAtTheMountAndByTheDoctor();

    Path fstab =
        Files.writeString(sandbox.root().resolve("fstab"), "server:/x " + missing + " nfs ro\n");
    Mount mount = sandbox.declare(missing);
    List<String> command =
        new ArrayList<>(List.of("unshare", "--mount", "--propagation", "private", "sh", "-c"));
    command.add("mount --bind %s /etc/fstab && exec \"$@\"".formatted(fstab));
    command.add("sh");
    command.addAll(mount.command("--require-mount", "--capacity", "64M"));
    Child.Result refused = sandbox.run(Map.of(), command);

    assertThat(refused.exit()).as("%s", refused).isEqualTo(1);
    assertThat(refused.err())
        .endsWith(
            "holdfast: source '%1$s' is not mounted (--require-mount): '%1$s' is in /etc/fstab and is"
                    .formatted(missing)
                + " not mounted: mount its file system first\n");
  }

  /** A mount has promised half of the memory by then. */
  private void assertMountsThatPromiseMoreThanThereIsAreToldAtTheMountAndByTheDoctor() {
    Path origin = Dataset.create(sandbox.folder("origin"), 3, i -> 1000).root();

    Child.Result result = mounted(sandbox.declare(origin), List.of(), "--capacity", "40%");

    assertThat(result.err())
        .containsPattern("holdfast: \\d+ mounts may keep .* resident: .*: residents make way");
    assertThat(sandbox.holdfast("doctor").out())
        .containsPattern("WARN +mounts +\\d+ mounts may keep .* resident: ");
  }

  private Child.Result mounted(Mount mount, List<String> prefix, String... options) {
    List<String> command = new ArrayList<>(prefix);
    command.addAll(mount.command(options));
    Child.Result result = sandbox.run(Map.of(), command).mustSucceed();
    mount.started(result);
    return result;
  }
}
