package io.holdfast.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.it.Await;
import io.holdfast.it.Child;
import io.holdfast.it.Mount;
import io.holdfast.it.Sandbox;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A source whose client on this machine keeps attributes for long, as that of NFS may. Another
 * client writes there.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CachedAttributesIT {
  private static final Duration START = Duration.ofSeconds(60);
  private static final int SECONDS = 3600;
  private static final int ITEM = 1 << 20;
  private static final int ITEMS = 8;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  /**
   * The client's attributes were believed: a refresh found nothing different, and a file was read
   * whose first bytes were of one version, and its last bytes of the next.
   */
  @Test
  void fileThatAnotherClientWrites_isNewAfterARefreshAndNeverMixed() throws IOException {
    Path store = Files.createDirectories(sandbox.folder("store").resolve("d")).getParent();
    Path small = Files.writeString(store.resolve("d/small"), "old");
    Path large = Files.write(store.resolve("d/large"), filled(1));
    Path root = sandbox.folder("origin");
    Child process = sandbox.start(Map.of(), FaultyOrigin.command(store, root, SECONDS));
    Await.until(START, "the source", () -> Files.exists(root.resolve("d/small")));
    sandbox.atEnd(
        () -> {
          sandbox.command("umount", root.toString());
          process.kill();
        });
    Mount mount = sandbox.mount(root, "--item-size", "1M");

    assertThat(mount.path("d/small")).hasContent("old");
    Files.writeString(small, "something else");
    mount.refresh();
    assertThat(mount.path("d/small")).hasContent("something else");
    Files.writeString(small, "the third");
    mount.refresh("d/small");
    assertThat(mount.path("d/small")).hasContent("the third");

    try (FileChannel file = FileChannel.open(mount.path("d/large"))) {
      assertThat(firstOfItem(file, 0)).isEqualTo((byte) 1);
      Files.write(large, filled(2));
      assertThatThrownBy(() -> firstOfItem(file, ITEMS - 1)).isInstanceOf(IOException.class);
    }
  }

  private static byte[] filled(int value) {
    byte[] bytes = new byte[ITEMS * ITEM];
    Arrays.fill(bytes, (byte) value);
    return bytes;
  }

  private static byte firstOfItem(FileChannel file, int item) throws IOException {
    ByteBuffer first = ByteBuffer.allocate(1);
    assertThat(file.read(first, (long) item * ITEM)).isEqualTo(1);
    return first.get(0);
  }
}
