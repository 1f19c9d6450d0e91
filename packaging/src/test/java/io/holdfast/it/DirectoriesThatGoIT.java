package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A daemon keeps nothing of directories in which users looked something up, once these have gone.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DirectoriesThatGoIT {
  private static final int DIRECTORIES = 2000;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  /** With jnr-fuse, two entries of a map stayed for each directory that was ever looked into. */
  @Test
  void directories_thatWereLookedIntoAndHaveGone_leaveNothingBehind() throws IOException {
    Path origin = sandbox.tmpfs("origin");
    Mount mount = sandbox.mount(origin, "--capacity", "64M");
    comeAndGo(origin, mount);
    long before = entriesOfMaps(mount);

    comeAndGo(origin, mount);
    long after = entriesOfMaps(mount);
    System.out.printf(
        "%d directories came and went: %d entries of maps, %d before%n",
        DIRECTORIES, after, before);
    assertThat(after - before).isLessThan(DIRECTORIES / 2);
  }

  private void comeAndGo(Path origin, Mount mount) throws IOException {
    for (int i = 0; i < DIRECTORIES; i++) {
      Files.createFile(Files.createDirectory(origin.resolve("d" + i)).resolve("f"));
    }
    mount.refresh();
    assertThat(count("find \"$1\" -type f -size 0", mount)).isEqualTo(DIRECTORIES);
    for (int i = 0; i < DIRECTORIES; i++) {
      Files.delete(origin.resolve("d" + i).resolve("f"));
      Files.delete(origin.resolve("d" + i));
    }
    mount.refresh();
    assertThat(count("ls \"$1\"", mount)).isZero();
  }

  /** How many lines a command gives. */
  private int count(String command, Mount mount) {
    String lines =
        sandbox
            .command("sh", "-c", command + " | wc -l", "sh", mount.mountpoint().toString())
            .mustSucceed()
            .out();
    return Integer.parseInt(lines.strip());
  }

  /** How many there are after a collection. */
  private long entriesOfMaps(Mount mount) {
    String histogram =
        sandbox
            .command("jcmd", Long.toString(mount.pid()), "GC.class_histogram")
            .mustSucceed()
            .out();
    Matcher row =
        Pattern.compile("\\d+: +(\\d+) +\\d+ +java.util.concurrent.ConcurrentHashMap\\$Node ")
            .matcher(histogram);
    assertThat(row.find()).isTrue();
    return Long.parseLong(row.group(1));
  }
}
