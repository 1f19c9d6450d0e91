package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Names of 255 bytes in letters of several bytes, paths of 4,095 bytes, and longer ones that a walk
 * reaches step by step are listed, looked up and read; also by the next daemon and the next mount.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LongNamesIT {
  private static final Duration START = Duration.ofSeconds(60);

  /** Directories below one another, of 256 bytes each with its slash: 6,400 bytes. */
  private static final int LEVELS = 25;

  /** Each level has a directory and two files, one of them with the longest name there is. */
  private static final String WALK =
      """
      import os, sys
      root, levels, makes = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "make"
      directory, longest = "\\u754c" * 85, "\\U0001f680" * 63 + "abc"
      at = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
      for level in range(levels):
          content = {"f": b"%d" % level, longest: b"%d long" % level}
          if makes:
              os.mkdir(directory, dir_fd=at)
              for name, data in content.items():
                  with open(name, "wb", opener=lambda n, f: os.open(n, f, 0o644, dir_fd=at)) as file:
                      file.write(data)
          assert sorted(os.listdir(at)) == sorted([directory, *content]), (level, os.listdir(at))
          for name, data in content.items():
              assert os.stat(name, dir_fd=at).st_size == len(data), (level, name)
              with open(name, "rb", opener=lambda n, f: os.open(n, f, dir_fd=at)) as file:
                  assert file.read() == data, (level, name)
          below = os.open(directory, os.O_RDONLY | os.O_DIRECTORY, dir_fd=at)
          os.close(at)
          at = below
      # the longest path that one call takes: 4,095 bytes and the NUL behind them
      path = root
      while len(path.encode()) + 256 <= 4093:
          path += "/" + directory
      path += "/" * (4094 - len(path.encode())) + "f"
      with open(path, "rb") as file:
          print(len(path.encode()), file.read().decode())
      """;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private String walk(Path root, String what) {
    return sandbox
        .command("python3", "-c", WALK, root.toString(), Integer.toString(LEVELS), what)
        .mustSucceed()
        .out();
  }

  @Test
  void names_asLongAsTheyCanBe_areWholeAlsoForTheNextDaemonAndMount() throws IOException {
    Path origin = sandbox.tmpfs("origin");
    String made = walk(origin, "make");
    assertThat(made).startsWith("4095 ");
    Mount mount = sandbox.mount(origin, "--capacity", "64M");
    mount.awaitStats("the scan", stats -> Boolean.TRUE.equals(stats.at("dataset.scanned")));
    assertThat(mount.stats().number("dataset.files")).isEqualTo(2L * LEVELS);
    assertThat(walk(mount.mountpoint(), "look")).startsWith("4095 ");
    if (System.getProperty("holdfast.binding").equals("kernel")) {
      mount.signal(Posix.SIGKILL);
      mount.findAgain(START);
      assertThat(walk(mount.mountpoint(), "look")).startsWith("4095 ");
    }
    mount.refresh();
    mount.umount().mustSucceed();

    mount.started(sandbox.run(Map.of(), mount.command("--capacity", "64M")).mustSucceed());
    assertThat(mount.stats().number("dataset.entries_loaded")).isEqualTo(3L * LEVELS);
    assertThat(walk(mount.mountpoint(), "look")).startsWith("4095 ");
  }
}
