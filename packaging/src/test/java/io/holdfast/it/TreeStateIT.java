package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.RawPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The next mount has a mount's knowledge of the dataset, and never shows a wrong tree. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TreeStateIT {
  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private static final int FILES = 100;
  private static final int DIRECTORIES = 10;

  private Dataset dataset() {
    return Dataset.create(sandbox.tmpfs("origin"), FILES, i -> 1000);
  }

  private Mount mount(Dataset dataset) {
    return sandbox.mount(dataset.root(), "--capacity", "16M");
  }

  private void again(Mount mount) {
    mount.started(sandbox.run(Map.of(), mount.command("--capacity", "16M")).mustSucceed());
  }

  /** Walks all, which makes it known, and waits for the end of the scan. */
  private static void assertSameAsOrigin(Mount mount) throws IOException {
    mount.awaitStats(
        "the dataset is scanned", stats -> stats.at("dataset.scanned") == (Object) true);
    TreeDiff diff =
        new TreeDiff(RawPath.of(Path.of(mount.source())), RawPath.of(mount.mountpoint()), Set.of());
    assertThat(diff.differences()).isEmpty();
  }

  private static Path state(Mount mount) {
    return mount.stateDirectory().resolve(mount.name() + ".tree");
  }

  private static List<String> warnings(Mount mount) throws IOException {
    try (Stream<String> lines = Files.lines(mount.log())) {
      return lines.filter(line -> line.contains(" WARN ")).toList();
    }
  }

  @Test
  void mountedAgain_originOrStateFileChangedMeanwhile_knowsTheTreeAndThenTheChanges()
      throws IOException {
    Dataset dataset = dataset();
    Mount mount = mount(dataset);
    assertThat(mount.stats().number("dataset.entries_loaded")).isZero();
    assertSameAsOrigin(mount);
    mount.umount().mustSucceed();
    try (Stream<Path> left = Files.list(mount.stateDirectory())) {
      assertThat(left).as("all that a mount leaves").containsExactly(state(mount));
    }
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(state(mount))))
        .isEqualTo("rw-------");

    Files.writeString(dataset.file(0), "changed");
    Files.delete(dataset.file(1));
    sandbox.command("rm", "-r", dataset.root().resolve("class_05").toString()).mustSucceed();
    Files.writeString(Files.createDirectory(dataset.root().resolve("new")).resolve("file"), "new");
    Files.setPosixFilePermissions(dataset.file(2), PosixFilePermissions.fromString("r--------"));
    again(mount);
    assertThat(mount.stats().number("dataset.entries_loaded")).isEqualTo(FILES + DIRECTORIES);
    assertSameAsOrigin(mount);
    assertThat(mount.path("class_05")).doesNotExist();
    assertThat(mount.path(dataset.files().get(1))).doesNotExist();
    mount.terminate();

    again(mount);
    assertThat(mount.stats().number("dataset.entries_loaded"))
        .as("less a file and a folder of %d, and two new ones", FILES / DIRECTORIES)
        .isEqualTo(FILES + DIRECTORIES - 1 - (FILES / DIRECTORIES + 1) + 2);
    assertSameAsOrigin(mount);
    assertThat(warnings(mount)).isEmpty();
    mount.terminate();
    assertDamageIsOneWarningAndTheRightTree(mount);
  }

  /** The state file is damaged, of another version, or cut off. */
  private void assertDamageIsOneWarningAndTheRightTree(Mount mount) throws IOException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    byte[] good = Files.readAllBytes(state(mount));
    byte[] flipped = good.clone();
    flipped[random.nextInt(good.length)] ^= (byte) (1 << random.nextInt(8));
    byte[] otherVersion = good.clone();
    otherVersion[8]++;
    int warnings = 0;
    for (byte[] bytes :
        List.of(flipped, otherVersion, Arrays.copyOf(good, random.nextInt(good.length)))) {
      Files.write(state(mount), bytes);
      again(mount);
      assertThat(mount.stats().number("dataset.entries_loaded")).as("seed %d", seed).isZero();
      assertSameAsOrigin(mount);
      warnings++;
      assertThat(warnings(mount)).as("seed %d", seed).hasSize(warnings);
      assertThat(warnings(mount).get(warnings - 1)).contains(state(mount).toString());
      mount.terminate();
      assertThat(Files.size(state(mount))).as("seed %d: written anew", seed).isGreaterThan(1000);
    }
  }

  @Test
  void stateDirectory_full_isOneWarningAndNothingElse() throws IOException {
    Dataset dataset = dataset();
    Path full = sandbox.folder("state");
    sandbox.command("mount", "-t", "tmpfs", "-o", "size=4k", "none", full.toString());
    Path filling = Files.write(full.resolve("filling"), new byte[4096]);
    Mount mount = mount(dataset);
    assertSameAsOrigin(mount);
    mount.terminate();

    assertThat(warnings(mount)).hasSize(1);
    assertThat(warnings(mount).get(0)).contains(state(mount).toString(), "No space left");
    try (Stream<Path> left = Files.list(full)) {
      assertThat(left).containsExactly(filling);
    }
  }
}
