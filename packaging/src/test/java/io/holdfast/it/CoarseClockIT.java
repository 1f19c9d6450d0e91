package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A source whose times are whole seconds: ext4 with 128 bytes for each inode. */
@Tag(Sandbox.ANY_BINDING)
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CoarseClockIT {
  private static final int FILES = 60;
  private static final int ROUNDS = 2;
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private Path store() throws IOException {
    Path image = sandbox.root().resolve("image");
    sandbox.command("truncate", "-s", "64M", image.toString()).mustSucceed();
    sandbox.command("mkfs.ext4", "-q", "-I", "128", image.toString()).mustSucceed();
    Path folder = sandbox.folder("store");
    sandbox.mountImage(image, folder, "defaults");
    return Files.createDirectory(folder.resolve("origin"));
  }

  @Test
  void rewrittenInTheSecondOfTheFirstWrite_isNotStaleForEver() throws IOException {
    Path origin = store();
    Mount mount = sandbox.mount(origin, "--capacity", "64M", "--metadata-ttl", "200ms");
    int version = 0;
    for (int round = 0; round < ROUNDS; round++) {
      List<Child> readers = new ArrayList<>();
      for (int write = 0; write < 3; write++) {
        version++;
        for (int i = 0; i < FILES; i++) {
          Files.write(origin.resolve("f" + i), Stamps.bytes(i, version, 0, 5000));
        }
        readers.add(
            sandbox.start("sh", "-c", "cat \"$0\"/f* > /dev/null", mount.mountpoint().toString()));
      }
      readers.forEach(reader -> reader.await(DEADLINE));
      for (int i = 0; i < FILES; i++) {
        byte[] expected = Stamps.bytes(i, version, 0, 5000);
        Path file = mount.path("f" + i);
        Await.until(DEADLINE, "the last version", () -> hasContent(file, expected));
      }
    }
    assertThat(mount.settledStats().residentItems()).isEqualTo(FILES);
  }

  private static boolean hasContent(Path file, byte[] expected) {
    try {
      return java.util.Arrays.equals(Files.readAllBytes(file), expected);
    } catch (IOException e) {
      return false; // it has just changed
    }
  }
}
