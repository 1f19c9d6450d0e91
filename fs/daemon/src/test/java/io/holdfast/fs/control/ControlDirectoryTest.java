package io.holdfast.fs.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class ControlDirectoryTest {
  @TempDir Path temp;

  @Test
  void of_root_isBelowRun() {
    assertThat(ControlDirectory.of(0, Map.of("XDG_RUNTIME_DIR", "/x")).path())
        .isEqualTo(Path.of("/run/holdfast"));
  }

  @Test
  void of_userWithRuntimeDirectory_isBelowIt() {
    assertThat(ControlDirectory.of(4711, Map.of("XDG_RUNTIME_DIR", "/run/user/4711")).path())
        .isEqualTo(Path.of("/run/user/4711/holdfast"));
  }

  @Test
  void of_userWithoutRuntimeDirectory_isBelowHome() {
    assertThat(ControlDirectory.of(987_654_321, Map.of("HOME", "/home/u")).path())
        .isEqualTo(Path.of("/home/u/.local/state/holdfast/run"));
    assertThat(
            ControlDirectory.of(987_654_321, Map.of("HOME", "/h", "XDG_RUNTIME_DIR", "x")).path())
        .isEqualTo(Path.of("/h/.local/state/holdfast/run"));
  }

  @Test
  void running_noDirectory_isEmpty() {
    ControlDirectory directory = ControlDirectory.at(temp.resolve("none"));
    assertThat(directory.running()).isEmpty();
    assertThat(directory.running("a")).isEmpty();
    assertThat(directory.leftoverOf(Path.of("/mnt"))).isEmpty();
  }

  @Test
  void running_ofAnotherUser_isTheDaemon() throws IOException {
    Path runtime = Files.createDirectories(temp.toRealPath().resolve("1000"));
    ControlDirectory directory = ControlDirectory.ofUser(runtime);
    Files.createDirectories(directory.stateDirectory("a"));
    Files.writeString(directory.processFile("a"), "42\n/mnt/a\n");
    Files.writeString(directory.processFile("dead"), "43\n/mnt/dead\n");
    Files.writeString(directory.stateDirectory("a").resolve("supervisor"), "41\n");
    try (FileChannel channel = lock(directory.lockFile("a"))) {
      assertThat(channel.isOpen()).isTrue();
      assertThat(directory.running())
          .containsExactly(
              new RunningDaemon("a", 42, Path.of("/mnt/a"), directory.path().resolve("a.sock")));
    }
    assertThat(directory.dead()).extracting(RunningDaemon::name).containsExactly("a", "dead");
    assertThat(directory.stateText("a", "supervisor", 32)).isEqualTo("41\n");
    assertThat(directory.user()).hasValue(1000);
  }

  /** A user led root by a link to a directory on a file system that never answers. */
  @Test
  void running_ofAnotherUser_followsNoLink() throws IOException {
    Path runtime = Files.createDirectories(temp.toRealPath().resolve("1000"));
    ControlDirectory directory = ControlDirectory.ofUser(runtime);
    Path elsewhere = Files.createDirectories(runtime.resolve("elsewhere/a.state"));
    Files.writeString(elsewhere.resolveSibling("a.pid"), "42\n/mnt/a\n");
    Files.writeString(elsewhere.resolve("supervisor"), "41\n");
    Files.createSymbolicLink(directory.path(), elsewhere.getParent());
    assertThat(directory.dead()).isEmpty();

    Files.delete(directory.path());
    Files.createDirectory(directory.path());
    Files.createSymbolicLink(directory.stateDirectory("a"), elsewhere);
    Files.createSymbolicLink(directory.processFile("a"), elsewhere.resolveSibling("a.pid"));
    assertThat(directory.dead()).isEmpty();
    assertThatThrownBy(() -> directory.stateText("a", "supervisor", 32))
        .isInstanceOf(IOException.class);
  }

  @Test
  void running_lockedFile_isTheDaemon() throws IOException {
    ControlDirectory directory = ControlDirectory.at(temp);
    write("a", "42\n/mnt/with blank\n");
    write("dead", "43\n/mnt/dead\n");
    try (FileChannel channel = lock(directory.lockFile("a"))) {
      assertThat(channel.isOpen()).isTrue();
      assertThat(directory.running())
          .containsExactly(
              new RunningDaemon("a", 42, Path.of("/mnt/with blank"), temp.resolve("a.sock")));
      assertThat(directory.leftoverOf(Path.of("/mnt/dead"))).contains("dead");
      assertThat(directory.leftoverOf(Path.of("/mnt/with blank"))).isEmpty();
    }
  }

  @Test
  void running_mountpointWithLineBreak_isKept() throws IOException {
    ControlDirectory directory = ControlDirectory.at(temp);
    write("a", "42\n/mnt/one\ntwo\n");
    try (FileChannel channel = lock(directory.lockFile("a"))) {
      assertThat(channel.isOpen()).isTrue();
      assertThat(directory.running("a").map(RunningDaemon::mountpoint))
          .contains(Path.of("/mnt/one\ntwo"));
    }
  }

  @Test
  void running_fileWithoutSense_isNoDaemon() throws IOException {
    ControlDirectory directory = ControlDirectory.at(temp);
    for (String text : new String[] {"", "\n", "x\n/mnt\n", "42", "42\n/\0\n"}) {
      write("a", text);
      try (FileChannel channel = lock(directory.lockFile("a"))) {
        assertThat(channel.isOpen()).isTrue();
        assertThat(directory.running()).isEmpty();
      }
    }
  }

  /** Root looks for the daemons of all users, and would wait for a writer of the pipe. */
  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void running_filesThatAreNoPlainFiles_areNoDaemon() throws Exception {
    ControlDirectory directory = ControlDirectory.at(temp);
    Files.setPosixFilePermissions(temp, PosixFilePermissions.fromString("rwxrwxrwx"));
    pipe(directory.processFile("pipe"));
    Files.createSymbolicLink(directory.processFile("zero"), Path.of("/dev/zero"));
    write("locked", "42\n/mnt\n");
    pipe(directory.lockFile("locked"));
    assertThat(directory.running()).isEmpty();
    assertThat(directory.dead()).extracting(RunningDaemon::name).containsExactly("locked");
    assertThat(directory.isHeld("locked")).isFalse();
  }

  /** The link's owner may lead it to pipes after the directory behind it was looked at. */
  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void running_pipeBehindALink_isNoDaemon() throws Exception {
    Path real = Files.createDirectory(temp.resolve("real"));
    pipe(real.resolve("pipe.pid"));
    Path link = Files.createSymbolicLink(temp.resolve("link"), real);
    assertThat(ControlDirectory.at(link).running()).isEmpty();
  }

  @Test
  void running_directoryFullOfFiles_seesSomeOfThem() throws IOException {
    ControlDirectory directory = ControlDirectory.at(temp);
    for (int i = 0; i < 600; i++) {
      write("n" + i, "42\n/mnt\n");
    }
    assertThat(directory.dead()).hasSize(512);
  }

  @Test
  void removeLeftovers_deadDaemon_removesSocketAndFile() throws IOException {
    ControlDirectory directory = ControlDirectory.at(temp);
    write("a", "42\n/mnt\n");
    Files.createFile(directory.socket("a"));
    assertThat(directory.removeLeftovers("a")).isTrue();
    assertThat(temp).isEmptyDirectory();
    assertThat(directory.removeLeftovers("a")).isFalse();
  }

  @Test
  void removeLeftovers_livingDaemon_keepsItsFiles() throws IOException {
    ControlDirectory directory = ControlDirectory.at(temp);
    write("a", "42\n/mnt\n");
    try (FileChannel channel = lock(directory.lockFile("a"))) {
      assertThat(channel.isOpen()).isTrue();
      assertThat(directory.removeLeftovers("a")).isFalse();
      assertThat(directory.processFile("a")).exists();
    }
  }

  /** Its lock is held by a thread that waits for its source and cannot be killed. */
  @Test
  void running_lockedByAZombie_isADaemonThatDied() throws Exception {
    ControlDirectory directory = ControlDirectory.at(temp);
    try (Zombie daemon = new Zombie();
        FileChannel channel = lock(directory.lockFile("a"))) {
      assertThat(channel.isOpen()).isTrue();
      write("a", daemon.pid() + "\n/mnt\n");
      assertThat(directory.running("a")).isPresent();

      daemon.kill();

      assertThat(directory.running("a")).isEmpty();
      assertThat(directory.leftoverOf(Path.of("/mnt"))).contains("a");
      assertThat(directory.removeLeftovers("a")).isTrue();
      assertThat(temp).isEmptyDirectory();
    }
  }

  @Test
  void removeLeftovers_anotherLooksWhetherTheDaemonLives_waitsForIt() throws Exception {
    ControlDirectory directory = ControlDirectory.at(temp);
    write("a", "42\n/mnt\n");
    FileChannel looking = lock(directory.lockFile("a"));
    CountDownLatch asked = new CountDownLatch(1);
    CompletableFuture<Boolean> removed =
        CompletableFuture.supplyAsync(
            () -> {
              asked.countDown();
              try {
                return directory.removeLeftovers("a");
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    asked.await();
    looking.close();
    assertThat(removed.get()).isTrue();
    assertThat(temp).isEmptyDirectory();
  }

  private void write(String name, String text) throws IOException {
    Files.writeString(temp.resolve(name + ".pid"), text);
  }

  private static void pipe(Path file) throws Exception {
    assertThat(new ProcessBuilder("mkfifo", file.toString()).start().waitFor()).isZero();
  }

  private static FileChannel lock(Path file) throws IOException {
    FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    assertThat(channel.tryLock()).isNotNull();
    return channel;
  }
}
