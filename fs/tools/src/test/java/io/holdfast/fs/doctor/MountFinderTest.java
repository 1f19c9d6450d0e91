package io.holdfast.fs.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class MountFinderTest {
  @TempDir Path temp;
  private final List<FileChannel> locks = new ArrayList<>();
  private final List<MountTable.Mount> mounts = new ArrayList<>();

  @AfterEach
  void unlock() throws IOException {
    for (FileChannel lock : locks) {
      lock.close();
    }
  }

  @Test
  void mounts_livingDeadAndUnknown_areAllFound() throws IOException {
    daemon("alive", 41, "/mnt/alive", true);
    daemon("dead", 42, "/mnt/dead", false);
    mount("/mnt/alive", "0:1");
    mount("/mnt/dead", "0:2");
    mount("/mnt/unknown", "0:3");
    mount("/container/alive", "0:1");
    assertThat(finder().mounts())
        .extracting(subject -> subject.name() + " " + subject.pid() + " " + subject.deadPid())
        .containsExactly("alive 41 0", "dead 0 42", "/mnt/unknown 0 0");
    assertThat(finder().leftovers()).isEmpty();
  }

  @Test
  void leftovers_areOfDaemonsWithoutAMount() throws IOException {
    daemon("dead", 42, "/mnt/dead", false);
    assertThat(finder().mounts()).isEmpty();
    assertThat(new LeftoversProbe(finder(), Procfs.ownUid()).run())
        .singleElement()
        .satisfies(
            found -> {
              assertThat(found.text()).contains("'dead' (pid 42) died");
              // names may have dots: a pattern would be that of other mounts, too
              assertThat(found.fix())
                  .isEqualTo("mount it again, or 'holdfast umount --if-dead dead'");
            });
    assertThat(new LeftoversProbe(finder(7, Map.of(temp.resolve("run"), 8)), 7).run())
        .extracting(Finding::fix)
        .containsExactly("mount it again, or 'holdfast umount --if-dead dead' as user 8");
  }

  /**
   * A daemon that goes on with the store after an unmount was examined as a dataset's: "nothing is
   * mounted", and 'umount --force' as the fix.
   */
  @Test
  void checkpointMount_alsoWithoutItsMount_isNoDatasets() throws IOException {
    daemon("ckpt", 41, "/mnt/ckpt", true);
    new FakeMachine(temp)
        .file("run/ckpt.state/checkpoints", "")
        .file("proc/41/stat", "41 (java) S 1 1\n");

    assertThat(finder().mounts()).isEmpty();

    Subject subject = finder().find("ckpt").orElseThrow();
    assertThat(finder().all()).containsExactly(subject);
    assertThat(new DaemonProbe(subject, new MachineFiles(temp), 0).run())
        .extracting(finding -> finding.level() + " " + finding.fix())
        .containsExactly("OK ", "WARN 'holdfast umount ckpt' waits for that");
  }

  @Test
  void supervisor_counts_onlyWhileItRuns() throws IOException {
    daemon("dead", 42, "/mnt/dead", false);
    new FakeMachine(temp).file("run/dead.state/supervisor", "40\n");
    assertThat(finder().mounts()).isEmpty();
    new FakeMachine(temp).file("proc/40/cmdline", "/bin/sh\0/x/holdfast-supervise\0/run/b.state\0");
    assertThat(finder().mounts()).as("the supervisor of another mount").isEmpty();
    new FakeMachine(temp)
        .file("proc/40/cmdline", "/bin/sh\0/x/holdfast-supervise\0/run/dead.state\0");
    assertThat(finder().mounts())
        .singleElement()
        .satisfies(subject -> assertThat(subject.supervisor()).isEqualTo(40));
    assertThat(finder().leftovers()).isEmpty();
  }

  /** Root would wait for a writer of the pipe. */
  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void supervisor_isAPipe_isNone() throws Exception {
    daemon("dead", 42, "/mnt/dead", false);
    Path pipe = Files.createDirectory(temp.resolve("run/dead.state")).resolve("supervisor");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    assertThat(finder().leftovers()).hasSize(1);
  }

  /** Root would give the files that the user names away, and send signals to any process. */
  @Test
  void mounts_ofAnotherUser_nameNoFilesAndNoForeignProcess() throws IOException {
    daemon("other", 41, "/mnt/other", true);
    daemon("own", 43, "/mnt/own", true);
    mount("/mnt/other", "0:1", "ro,user_id=1000,group_id=1000");
    mount("/mnt/own", "0:2", "ro,user_id=1000,group_id=1000");
    Map<Path, Integer> owners =
        Map.of(
            temp.resolve("run"), 1000, temp.resolve("proc/41"), 0, temp.resolve("proc/43"), 1000);
    assertThat(finder(0, owners).mounts())
        .extracting(subject -> subject.name() + " " + subject.pid() + " " + subject.isTrusted())
        .containsExactly("other 0 false", "own 43 false");
    assertThat(finder(1000, owners).mounts())
        .extracting(subject -> subject.name() + " " + subject.pid() + " " + subject.isTrusted())
        .containsExactly("other 41 true", "own 43 true");
  }

  /**
   * A socket of a user's own answered with a huge capacity. Root's mounts had no room then, or gave
   * their memory up.
   */
  @Test
  void mounts_ofAnotherUser_countOnlyWithAMountOfTheirs_once() throws IOException {
    daemon("again", 43, "/mnt/theirs", true);
    daemon("none", 44, "/mnt/none", true);
    daemon("roots", 45, "/mnt/roots", true);
    daemon("same-process", 43, "/mnt/theirs-too", true);
    daemon("theirs", 46, "/mnt/theirs", true);
    mount("/mnt/roots", "0:1", "ro,user_id=0,group_id=0");
    mount("/mnt/theirs", "0:2", "ro,user_id=1000,group_id=1000");
    mount("/mnt/theirs-too", "0:3", "ro,user_id=1000,group_id=1000");
    Map<Path, Integer> owners = new HashMap<>();
    owners.put(temp.resolve("run"), 1000);
    for (int pid : List.of(43, 44, 45, 46)) {
      owners.put(temp.resolve("proc/" + pid), 1000);
    }

    assertThat(finder(0, owners).mounts())
        .filteredOn(subject -> subject.pid() != 0)
        .extracting(Subject::name)
        .containsExactly("again");
  }

  /** Root's directory is nobody else's to write to. */
  @Test
  void mounts_ofRoot_areTrustedByAll() throws IOException {
    daemon("root", 41, "/mnt/root", true);
    Map<Path, Integer> owners = Map.of(temp.resolve("run"), 0, temp.resolve("proc/41"), 0);
    assertThat(finder(1000, owners).mounts())
        .singleElement()
        .satisfies(subject -> assertThat(subject.pid()).isEqualTo(41))
        .satisfies(subject -> assertThat(subject.isTrusted()).isTrue());
  }

  @Test
  void find_takesNameOrMountpoint() throws IOException {
    daemon("alive", 41, "/mnt/alive", true);
    mount("/mnt/alive", "0:1");
    assertThat(finder().find("alive")).isPresent();
    assertThat(finder().find("/mnt/../mnt/alive/")).isPresent();
    assertThat(finder().find("other")).isEmpty();
    assertThat(finder().find("")).isEmpty();
  }

  private MountFinder finder() {
    return new MountFinder(
        List.of(ControlDirectory.at(temp.resolve("run"))),
        MountTable.of(mounts),
        new MachineFiles(temp));
  }

  private MountFinder finder(int uid, Map<Path, Integer> owners) {
    return new MountFinder(
        List.of(ControlDirectory.at(temp.resolve("run"))),
        MountTable.of(mounts),
        new MachineFiles(temp),
        uid,
        owners::get);
  }

  private void mount(String at, String device) {
    mount(at, device, "ro");
  }

  private void mount(String at, String device, String options) {
    mounts.add(new MountTable.Mount(1, Path.of(at), device, "fuse.holdfast", "/origin", options));
  }

  private void daemon(String name, long pid, String mountpoint, boolean alive) throws IOException {
    Path file = temp.resolve("run").resolve(name + ".pid");
    new FakeMachine(temp).file("run/" + name + ".pid", pid + "\n" + mountpoint + "\n");
    if (alive) {
      FileChannel lock =
          FileChannel.open(
              file.resolveSibling(name + ".lock"),
              StandardOpenOption.CREATE,
              StandardOpenOption.WRITE);
      locks.add(lock);
      assertThat(lock.tryLock()).isNotNull();
    }
    assertThat(Files.exists(file)).isTrue();
  }
}
