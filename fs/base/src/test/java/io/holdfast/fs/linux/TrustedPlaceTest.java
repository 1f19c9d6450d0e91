package io.holdfast.fs.linux;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TrustedPlaceTest {
  private static final int NOBODY = 65534;

  @TempDir Path folder;

  private Path directory(String name, int mode) throws IOException {
    Path directory = Files.createDirectory(folder.resolve(name));
    Files.setAttribute(directory, "unix:mode", mode);
    return directory;
  }

  private static void assertRefused(Path file, String why) {
    assertThatExceptionOfType(TrustedPlace.Untrusted.class)
        .isThrownBy(() -> TrustedPlace.check("the log", file))
        .withMessageContaining(why)
        .withMessageStartingWith("the log ");
  }

  private static void assertSocketRefused(Path socket, String why) {
    assertThatExceptionOfType(TrustedPlace.Untrusted.class)
        .isThrownBy(() -> TrustedPlace.checkSocket("the log", socket))
        .withMessageContaining(why);
  }

  @Test
  void file_inDirectoriesOfThisUser_isTrusted() throws IOException {
    Path file = directory("mine", 0755).resolve("log");
    TrustedPlace.check("the log", file);
    Files.createFile(file);
    TrustedPlace.check("the log", file);
    TrustedPlace.check("the log", folder.resolve("not/yet/there"));
  }

  @Test
  void file_inDirectoryThatOthersWrite_isRefusedWithWhatToDo() throws IOException {
    Path shared = directory("shared", 0777);
    assertRefused(shared.resolve("log"), "mode 0777): choose another place, or 'chown");
    for (int people : new int[] {100, 1000, NOBODY}) {
      Path group = directory("group-" + people, 0775);
      Files.setAttribute(group, "unix:gid", people);
      assertRefused(group.resolve("log"), "mode 0775)");
    }
    Path below = Files.createDirectory(shared.resolve("below"));
    Files.setPosixFilePermissions(below, PosixFilePermissions.fromString("rwx------"));
    assertRefused(below.resolve("log"), "is in " + shared + ",");
    assertRefused(Files.createSymbolicLink(folder.resolve("way"), below).resolve("log"), "shared");
  }

  /** Ubuntu's /var/log is root:syslog 0775. */
  @Test
  void file_inDirectoryOfAServicesGroup_isTrusted() throws IOException {
    Path group = directory("service", 0775);
    Files.setAttribute(group, "unix:gid", 104);
    TrustedPlace.check("the log", group.resolve("log"));
    Files.setAttribute(group, "unix:mode", 0777);
    assertRefused(group.resolve("log"), "mode 0777)");
  }

  @Test
  void file_inStickyDirectory_mustBeThisUsersOwn() throws IOException {
    Path sticky = directory("sticky", 01777);
    Path file = sticky.resolve("log");
    TrustedPlace.check("the log", file);
    Files.createFile(file);
    TrustedPlace.check("the log", file);
    Files.setAttribute(file, "unix:uid", NOBODY);
    assertRefused(file, "belongs to user 65534");
    Files.delete(file);
    Files.createSymbolicLink(file, folder.resolve("victim"));
    assertRefused(file, "is a symbolic link");
  }

  /** A program that takes a log's lines may be another user's. */
  @Test
  void socket_ofAnotherUser_isTrustedWhereOthersMayNotWrite() throws IOException {
    Path socket = Files.createFile(directory("mine", 0755).resolve("socket"));
    TrustedPlace.checkSocket("the log", socket);
    TrustedPlace.checkSocket("the log", folder.resolve("not/yet/there"));
    Files.setAttribute(socket, "unix:uid", NOBODY);
    TrustedPlace.checkSocket("the log", socket);
    Files.setAttribute(socket.getParent(), "unix:uid", NOBODY);
    TrustedPlace.checkSocket("the log", socket);
    Files.setAttribute(socket, "unix:uid", 0);
    assertSocketRefused(socket, "owner 65534");
    Path sticky = directory("sticky", 01777).resolve("socket");
    TrustedPlace.checkSocket("the log", sticky);
    Files.createFile(sticky);
    TrustedPlace.checkSocket("the log", sticky);
    Files.setAttribute(sticky, "unix:uid", NOBODY);
    assertSocketRefused(sticky, "belongs to user 65534");
    assertSocketRefused(directory("shared", 0777).resolve("socket"), "mode 0777)");
    Path link = Files.createSymbolicLink(folder.resolve("link"), socket);
    assertSocketRefused(link, "is a symbolic link");
  }

  @Test
  void directory_ofAnotherUser_isRefused() throws IOException {
    Path another = directory("another", 0700);
    Files.setAttribute(another, "unix:uid", NOBODY);
    assertRefused(another.resolve("log"), "owner 65534");
  }
}
