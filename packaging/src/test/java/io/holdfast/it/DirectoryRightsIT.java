package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Directories change under a mount that believes names for an hour. A user without rights does not
 * get files that the directories deny by now, and that the user could not read before; users with
 * rights go on.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DirectoryRightsIT {
  @RegisterExtension static final Sandbox SANDBOX = new Sandbox();

  private static final Duration DEADLINE = Duration.ofSeconds(60);

  private static Path origin = Path.of("/nonexistent");
  private static Mount mount;

  @BeforeAll
  static void mount() throws IOException {
    origin = SANDBOX.folder("origin");
    for (String directory : List.of("swapped", "closed", "far/b/c", "listed/b", "version/b")) {
      write(directory + "/known", "known");
    }
    write("secret/file", "secret");
    chmod("secret", "rwx------");
    mount = SANDBOX.mount(origin, "--capacity", "64M", "--metadata-ttl", "1h");
    mount.awaitStats("the scan", stats -> Boolean.TRUE.equals(stats.at("dataset.scanned")));
  }

  @AfterAll
  static void forget() {
    mount = null;
  }

  private static void write(String path, String content) throws IOException {
    Path file = origin.resolve(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, content);
  }

  private static void chmod(String path, String mode) throws IOException {
    Files.setPosixFilePermissions(origin.resolve(path), PosixFilePermissions.fromString(mode));
  }

  /** Returns the error of a user without any right who reads the file. */
  private static String nobodyReads(String path) {
    Child.Result result =
        SANDBOX.command(
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "cat",
            mount.path(path).toString());
    return result.exit() == 0 ? result.out() : result.err().replaceAll("(?s).*: |\\n", "");
  }

  @Test
  void directoryReplacedByAClosedOne_nobody_isDeniedWhatIsInIt() throws IOException {
    assertThat(nobodyReads("swapped/known")).isEqualTo("known");

    Files.move(origin.resolve("swapped"), origin.resolve("swapped.old"));
    Files.move(origin.resolve("secret"), origin.resolve("swapped"));

    assertThat(nobodyReads("swapped/file")).isEqualTo("Permission denied");
    assertThat(mount.path("swapped/file")).hasContent("secret");
    assertThat(nobodyReads("swapped/file")).isEqualTo("Permission denied");
  }

  @Test
  void directoryClosed_nobody_isDeniedANewName() throws IOException {
    assertThat(nobodyReads("closed/known")).isEqualTo("known");

    chmod("closed", "rwx------");
    write("closed/new", "new");

    assertThat(nobodyReads("closed/new")).isEqualTo("Permission denied");
    assertThat(mount.path("closed/new")).hasContent("new");
  }

  @Test
  void directoryClosedTwoLevelsUp_nobody_isDeniedANewName() throws IOException {
    assertThat(nobodyReads("far/b/c/known")).isEqualTo("known");

    chmod("far", "rwx------");
    write("far/b/c/new", "new");

    assertThat(nobodyReads("far/b/c/new")).isEqualTo("Permission denied");
    assertThat(mount.path("far/b/c/new")).hasContent("new");
  }

  @Test
  void directoryClosedTwoLevelsUp_nobody_isDeniedANewVersion() throws IOException {
    assertThat(nobodyReads("version/b/known")).isEqualTo("known");

    chmod("version", "rwx------");
    write("version/b/known", "another");
    mount.refresh("version/b/known");

    assertThat(nobodyReads("version/b/known")).isEqualTo("Permission denied");
    assertThat(mount.path("version/b/known")).hasContent("another");
  }

  /** A listing may bring names, with their nodes, none of which anybody has looked up. */
  @Test
  void directoryClosedTwoLevelsUp_nobody_isDeniedANewNameThatWasListed() throws IOException {
    assertThat(nobodyReads("listed/b/known")).isEqualTo("known");

    chmod("listed", "rwx------");
    write("listed/b/new", "new");
    assertThat(SANDBOX.command("ls", "-l", mount.path("listed/b").toString()).out())
        .contains("new");

    assertThat(nobodyReads("listed/b/new")).isEqualTo("Permission denied");
  }

  /**
   * The files in a directory are closed, moved away or replaced before the directory is opened, so
   * nobody ever had a right to the old ones.
   */
  @Test
  void directoryOpened_nobody_doesNotGetWhatWasThereWhenItWasClosed() throws IOException {
    for (String path : List.of("opened/closed", "opened/moved", "opened/b/closed", "opened/open")) {
      write(path, "old");
    }
    Path link = Files.createSymbolicLink(origin.resolve("opened/link"), Path.of("../secret.old"));
    write("secret.old", "old");
    chmod("opened", "rwx------");
    for (String path : List.of("closed", "moved", "b/closed", "open", "link")) {
      assertThat(mount.path("opened/" + path)).hasContent("old");
    }
    assertThat(nobodyReads("opened/open")).isEqualTo("Permission denied");

    chmod("opened/closed", "rw-------");
    chmod("opened/b/closed", "rw-------");
    Files.move(origin.resolve("opened/moved"), origin.resolve("secret/moved"));
    Files.delete(link);
    Files.createSymbolicLink(link, Path.of("nowhere"));
    chmod("opened", "rwxr-xr-x");
    write("opened/new", "new");
    assertThat(mount.path("opened/new")).hasContent("new");

    Await.until(DEADLINE, "open", () -> nobodyReads("opened/open").equals("old"));
    assertThat(nobodyReads("opened/closed")).isEqualTo("Permission denied");
    assertThat(nobodyReads("opened/b/closed")).isEqualTo("Permission denied");
    assertThat(nobodyReads("opened/moved")).isEqualTo("No such file or directory");
    assertThat(nobodyReads("opened/link")).isEqualTo("No such file or directory");
  }

  /**
   * Programs took what the daemon said of it for an empty directory. The kernel may know better.
   */
  @Test
  void directoryMovedAway_listing_isWholeOrAnError() throws IOException {
    write("away/b/known", "known");
    String directory = mount.path("away/b").toString();
    assertThat(SANDBOX.command("ls", directory).mustSucceed().out()).isEqualTo("known\n");

    Files.move(origin.resolve("away"), origin.resolve("away.old"));

    Child.Result result = SANDBOX.command("ls", directory);
    String told = result.exit() == 0 ? result.out() : result.err().replaceAll("(?s).*: ", "");
    assertThat(told).isIn("known\n", "Stale file handle\n");
  }

  /** Also by a path relative to the program's directory, which the kernel does not look up. */
  @Test
  void rightsChangedAbove_programWithin_noticesNothing() throws IOException {
    write("work/b/known", "known");
    Path here = mount.path("work/b");
    String program = "cd \"$0\" && cat known && echo && read go && cat new";
    Child child = SANDBOX.start("sh", "-c", program, here.toString());
    child.awaitLine(1, DEADLINE);

    chmod("work", "rwxr-x--x");
    chmod("work/b", "rwxr-x--x");
    write("work/b/new", "new");
    child.tell("go");

    assertThat(child.await(DEADLINE).mustSucceed().out()).endsWith("new");
  }
}
