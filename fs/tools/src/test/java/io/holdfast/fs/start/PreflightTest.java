package io.holdfast.fs.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.holdfast.fs.Await;
import io.holdfast.fs.checkpoint.daemon.StorePlace;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.FakeHost;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.Source;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One test for each thing that can be in the way of a mount. */
class PreflightTest {
  private static final String HOLDFAST = "fuse.holdfast";

  @TempDir Path temp;
  private FakeHost host;
  private Path source;
  private Path mountpoint;

  @BeforeEach
  void prepare() throws IOException {
    temp = temp.toRealPath();
    host = new FakeHost(Files.createDirectory(temp.resolve("run")));
    source = Files.createDirectory(temp.resolve("source"));
    mountpoint = Files.createDirectory(temp.resolve("mountpoint"));
  }

  @Test
  void paths_allWell_areResolved() throws IOException {
    Path link = Files.createSymbolicLink(temp.resolve("link"), source);
    Preflight.Result result = new Preflight(host).checkPaths(directory(link), mountpoint);
    assertThat(result.origin()).isEqualTo(directory(source));
    assertThat(result.mountpoint()).isEqualTo(mountpoint);
    assertThat(result.notes()).isEmpty();
  }

  @Test
  void paths_overItself_isAllowed() {
    Preflight.Result result = new Preflight(host).checkPaths(directory(source), source);
    assertThat(result.origin()).isEqualTo(directory(result.mountpoint()));
  }

  @Test
  void source_inS3_isLeftAloneWhileTheMountpointIsChecked() {
    Source objects = Source.parse("s3://bucket/train");
    Preflight.Result result = new Preflight(host).checkPaths(objects, mountpoint);
    assertThat(result.origin()).isEqualTo(objects);
    assertThat(result.mountpoint()).isEqualTo(mountpoint);
    refuses(objects, temp.resolve("none"), 2, "mountpoint '%s/none' does not exist");
    refuses(objects, Path.of("/"), 2, "mountpoint '/' is the whole machine");
  }

  @Test
  void source_missing_isUsage() {
    refuses(temp.resolve("none"), mountpoint, 2, "source '%s/none' does not exist: check the path");
  }

  @Test
  void source_file_isUsage() throws IOException {
    Path file = Files.createFile(temp.resolve("file"));
    refuses(file, mountpoint, 2, "source '%s/file' is not a directory: give a directory");
  }

  @Test
  void source_unreadable_isUsage() {
    host.uid = 1000;
    host.unreadable.add(source);
    refuses(
        source,
        mountpoint,
        2,
        "source '%s/source' cannot be read by user 1000: change its permissions, or run as another"
            + " user");
  }

  @Test
  void source_behindAClosedDirectory_isUsage() {
    host.states.put(source, Host.PathState.DENIED);
    refuses(source, mountpoint, 2, "source '%s/source' cannot be read by user 0: change");
  }

  @Test
  void source_hung_isToldWithoutWaiting() {
    host.states.put(source, Host.PathState.HUNG);
    refuses(source, mountpoint, 1, "source '%s/source' does not answer: check the storage");
  }

  @Test
  void source_onADeadMount_isTold() {
    host.states.put(source, Host.PathState.NOT_CONNECTED);
    refuses(source, mountpoint, 1, "source '%s/source' is on a mount whose daemon is gone");
  }

  @Test
  void source_withAnotherError_isTold() {
    host.states.put(source, Host.PathState.FAILED);
    refuses(source, mountpoint, 1, "source '%s/source' cannot be examined: check it with 'stat'");
  }

  @Test
  void mountpoint_missing_isUsage() {
    refuses(
        source,
        temp.resolve("none"),
        2,
        "mountpoint '%s/none' does not exist: create it with 'mkdir -p'");
  }

  @Test
  void mountpoint_file_isUsage() throws IOException {
    Path file = Files.createFile(temp.resolve("file"));
    refuses(source, file, 2, "mountpoint '%s/file' is not a directory: give a directory");
  }

  @Test
  void mountpoint_insideTheSource_isUsage() throws IOException {
    Path inside = Files.createDirectory(source.resolve("inside"));
    refuses(source, inside, 2, "mountpoint '%s/source/inside' is inside the source '%s/source'");
  }

  @Test
  void mountpoint_besideTheSourceWithTheSameBeginning_isAllowed() throws IOException {
    Path beside = Files.createDirectory(temp.resolve("source2"));
    assertThat(new Preflight(host).checkPaths(directory(source), beside).mountpoint())
        .isEqualTo(beside);
  }

  @Test
  void source_insideTheMountpoint_isUsage() throws IOException {
    Path inside = Files.createDirectory(mountpoint.resolve("inside"));
    refuses(
        inside,
        mountpoint,
        2,
        "source '%s/mountpoint/inside' is inside the mountpoint '%s/mountpoint'");
  }

  @Test
  void mountpoint_root_isUsage() {
    refuses(source, Path.of("/"), 2, "mountpoint '/' is the whole machine");
  }

  @Test
  void source_empty_isNotedWithTheLikelyCause() {
    host.empty.add(source);
    assertThat(new Preflight(host).checkPaths(directory(source), mountpoint).notes())
        .containsExactly(
            "the source '"
                + source
                + "' is empty: if it is to be on a file system of its own, that is not mounted");
    host.fstab.add("server:/x " + source + " nfs ro,noauto 0 0");
    assertThat(new Preflight(host).checkPaths(directory(source), mountpoint).notes())
        .containsExactly(
            "the source '"
                + source
                + "' is empty: '"
                + source
                + "' is in /etc/fstab and is not mounted");
  }

  @Test
  void sourceThatHasToBeMounted_isNot_isToldInOneLine() {
    Settings settings =
        Settings.builder(directory(source), mountpoint, 100L << 30)
            .set(SettingTable.REQUIRE_MOUNT, true)
            .build();
    requiresMount(settings, "it lies on the root file system");
    host.mount(Path.of("/"), "ext4", Host.PathState.DIRECTORY);
    requiresMount(settings, "it lies on the root file system");
    host.mount(temp, "ext4", Host.PathState.DIRECTORY);
    new Preflight(host).checkMachine(settings);
    host.fstab.add("server:/x " + source + " nfs");
    requiresMount(settings, "'" + source + "' is in /etc/fstab and is not mounted");
    host.mount(source, "nfs", Host.PathState.DIRECTORY);
    new Preflight(host).checkMachine(settings);
    host.empty.add(source);
    requiresMount(settings, "it is empty");
  }

  /**
   * In a container each volume is a mountpoint: a node that starts before its NFS server had a pod
   * that was ready over an empty directory.
   */
  @Test
  void sourceThatHasToBeMounted_volumeOnTheMachinesDisk_isToldInOneLine() {
    Settings settings =
        Settings.builder(directory(source), mountpoint, 100L << 30)
            .set(SettingTable.REQUIRE_MOUNT, true)
            .build();
    host.mounts.add(new MountTable.Mount(1, Path.of("/"), "0:40", "overlay", "overlay", "rw"));
    host.mounts.add(
        new MountTable.Mount(1, Path.of("/etc/hosts"), "8:1", "ext4", "/dev/sda1", "rw"));
    host.mounts.add(new MountTable.Mount(1, source, "8:1", "ext4", "/dev/sda1", "ro"));
    requiresMount(
        settings, "it lies on the machine's own disk, as the container's '/etc/hosts' does");
    host.mounts.add(new MountTable.Mount(1, source, "0:52", "nfs4", "filer:/data", "ro"));
    new Preflight(host).checkMachine(settings);
  }

  /** Checkpoints went to the directory below, on the machine's own disk. */
  @Test
  void storeOfCheckpoints_thatFstabNamesAndNobodyHasMounted_isRefused() {
    host.mount(Path.of("/"), "ext4", Host.PathState.DIRECTORY);
    Path run = source.resolve("run");
    StorePlace store = new StorePlace.Directory(source);
    new Preflight(host).checkCheckpoint(store, mountpoint);
    host.fstab.add("server:/x " + source + " nfs");
    for (Path path : List.of(source, run)) {
      CliException failure =
          catchThrowableOfType(
              CliException.class,
              () ->
                  new Preflight(host).checkCheckpoint(new StorePlace.Directory(path), mountpoint));
      assertThat(failure.exitCode()).isEqualTo(1);
      assertThat(failure)
          .hasMessage(
              "store '%s' is not mounted: '%s' is in /etc/fstab and is not mounted: mount it first"
                  .formatted(path, source));
    }
    host.mount(source, "nfs", Host.PathState.DIRECTORY);
    new Preflight(host).checkCheckpoint(store, mountpoint);
  }

  /** Another front began on the machine's own disk, and the store was taken from the first. */
  @Test
  void frontOfCheckpoints_belowAPlaceThatFstabNamesAndNobodyHasMounted_isRefused() {
    host.mount(Path.of("/"), "ext4", Host.PathState.DIRECTORY);
    StorePlace store = new StorePlace.Directory(source);
    Path disk = temp.resolve("nvme");
    host.fstab.add("LABEL=nvme " + disk + " ext4 nofail");
    CliException failure =
        catchThrowableOfType(
            CliException.class,
            () -> new Preflight(host).checkFront(disk.resolve("front"), store, mountpoint));
    assertThat(failure.exitCode()).isEqualTo(1);
    assertThat(failure)
        .hasMessage(
            "front '%s/front' is not mounted: '%s' is in /etc/fstab and is not mounted: mount it first"
                .formatted(disk, disk));
    host.mount(disk, "ext4", Host.PathState.DIRECTORY);
    new Preflight(host).checkFront(disk.resolve("front"), store, mountpoint);
  }

  /** The message was that of --state-dir, which this command does not have. */
  @Test
  void frontOfCheckpoints_onAPseudoFileSystem_isToldWithItsOption() {
    Path proc = temp.resolve("proc");
    host.mount(proc, "proc", Host.PathState.DIRECTORY);
    StorePlace store = new StorePlace.Directory(source);

    CliException failure =
        catchThrowableOfType(
            CliException.class,
            () -> new Preflight(host).checkFront(proc.resolve("x"), store, mountpoint));

    assertThat(failure)
        .hasMessage(
            "front '%s/x' is on a file system that holds no data (proc): choose another with --front"
                .formatted(proc));
    assertThat(failure.exitCode()).isEqualTo(2);
  }

  private void requiresMount(Settings settings, String why) {
    CliException failure =
        catchThrowableOfType(CliException.class, () -> new Preflight(host).checkMachine(settings));
    assertThat(failure.exitCode()).isEqualTo(1);
    assertThat(failure)
        .hasMessage(
            "source '%s' is not mounted (--require-mount): %s: mount its file system first"
                .formatted(source, why));
  }

  @Test
  void mountpoint_placeOfTheSystem_isUsage() throws IOException {
    refuses(
        source,
        Path.of("/etc"),
        2,
        "mountpoint '/etc' is a directory that the system needs: choose");
    refuses(
        source, Path.of("/usr"), 2, "mountpoint '/usr' would hide '/usr/local', which the system");
    refuses(
        source,
        Path.of("/tmp"),
        2,
        "mountpoint '/tmp' is a directory that the system needs: choose");
    Path link = Files.createSymbolicLink(temp.resolve("link"), Path.of("/var"));
    refuses(
        source, link, 2, "mountpoint '/var' would hide '/var/lib', which the system needs: choose");
  }

  /** A user who gives only a source named no mountpoint, so the message names the source. */
  @Test
  void source_placeOfTheSystem_isRefusedAsSource() {
    String message = "source '%1$s' cannot be mounted over itself: mountpoint '%1$s' %2$s";
    refuses(
        Path.of("/etc"),
        Path.of("/etc"),
        2,
        message.formatted("/etc", "is a directory that the system needs: choose another"));
    refuses(
        Path.of("/usr"),
        Path.of("/usr"),
        2,
        message.formatted("/usr", "would hide '/usr/local', which the system needs: choose"));
    refuses(Path.of("/"), Path.of("/"), 2, message.formatted("/", "is the whole machine: choose"));
  }

  @Test
  void mountpointAndSource_ofTheKernel_areUsage() {
    host.mount(mountpoint, "tracefs", Host.PathState.DIRECTORY);
    refuses(
        source,
        mountpoint,
        2,
        "mountpoint '%s/mountpoint' is on a file system of the kernel's (tracefs): choose another");
    host.mount(source, "cgroup2", Host.PathState.DIRECTORY);
    refuses(
        source,
        mountpoint,
        2,
        "source '%s/source' is on a file system that holds no data (cgroup2): give the dataset's"
            + " directory");
  }

  @Test
  void mountpoint_livingHoldfastMount_isRefusedAndKept() {
    host.mount(mountpoint, HOLDFAST, Host.PathState.DIRECTORY);
    refuses(
        source,
        mountpoint,
        1,
        "mountpoint '%s/mountpoint' is already a Holdfast mount (of something): end it with"
            + " 'holdfast umount %s/mountpoint'");
    assertThat(host.detached).isEmpty();
  }

  @Test
  void mountpoint_hungHoldfastMount_isRefusedAndKept() {
    host.mount(mountpoint, HOLDFAST, Host.PathState.HUNG);
    refuses(
        source,
        mountpoint,
        1,
        "mountpoint '%s/mountpoint' is a Holdfast mount that does not answer: end it with"
            + " 'holdfast umount --force %s/mountpoint'");
    assertThat(host.detached).isEmpty();
  }

  @Test
  void mountpoint_staleHoldfastMounts_areTakenAwayWithANote() throws IOException {
    host.mount(source, HOLDFAST, Host.PathState.NOT_CONNECTED);
    host.mount(source, HOLDFAST, Host.PathState.NOT_CONNECTED);
    Files.writeString(host.control.processFile("old"), "1\n" + source + "\n");
    Preflight.Result result = new Preflight(host).checkPaths(directory(source), source);
    assertThat(host.detached).containsExactly(source, source);
    assertThat(result.notes())
        .hasSize(2)
        .first()
        .isEqualTo("took away a stale mount at " + source + ", whose daemon had died");
    assertThat(host.control.path()).isEmptyDirectory();
  }

  @Test
  void mountpoint_staleMountThatStays_isTold() {
    host.mount(mountpoint, HOLDFAST, Host.PathState.NOT_CONNECTED);
    host.detachFails = true;
    refuses(
        source,
        mountpoint,
        1,
        "the stale mount at '%s/mountpoint' cannot be taken away (Operation not permitted): try"
            + " 'umount -l %s/mountpoint' as root");
  }

  @Test
  void mountpoint_endlessStaleMounts_areTold() {
    for (int i = 0; i < 20; i++) {
      host.mount(mountpoint, HOLDFAST, Host.PathState.NOT_CONNECTED);
    }
    refuses(source, mountpoint, 1, "mountpoint '%s/mountpoint' has too many dead mounts");
  }

  @Test
  void mountpoint_otherFuseMount_isBusy() {
    host.mount(mountpoint, "fuse.sshfs", Host.PathState.DIRECTORY);
    refuses(
        source,
        mountpoint,
        1,
        "mountpoint '%s/mountpoint' is busy: something is mounted there (type fuse.sshfs)");
  }

  @Test
  void mountpoint_otherDeadFuseMount_isTold() {
    host.mount(mountpoint, "fuse.sshfs", Host.PathState.NOT_CONNECTED);
    refuses(
        source,
        mountpoint,
        1,
        "mountpoint '%s/mountpoint' has a dead mount of type fuse.sshfs: take it away with");
    assertThat(host.detached).isEmpty();
  }

  @Test
  void mountpoint_otherFuseMountOverItself_isAllowed() {
    host.mount(source, "fuse.sshfs", Host.PathState.DIRECTORY);
    assertThat(new Preflight(host).checkPaths(directory(source), source).origin())
        .isEqualTo(directory(source));
  }

  @Test
  void mountpoint_mountOfAnotherKind_isAllowed() {
    host.mount(mountpoint, "nfs4", Host.PathState.DIRECTORY);
    assertThat(new Preflight(host).checkPaths(directory(source), mountpoint).origin())
        .isEqualTo(directory(source));
  }

  @Test
  void machine_allWell_passes() {
    new Preflight(host).checkMachine(settings(false));
    host.uid = 1000;
    host.mayMount = false;
    new Preflight(host).checkMachine(settings(false));
  }

  @Test
  void name_ofALivingMount_isRefused() throws IOException {
    Files.writeString(host.control.processFile("n"), "1\n/mnt/other\n");
    Path file = host.control.lockFile("n");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      assertThat(channel.tryLock()).isNotNull();
      refuses("the name 'n' is in use by the mount at /mnt/other: choose another one with --name");
    }
    new Preflight(host).checkMachine(settings(false));
  }

  /** Between two of its daemons a mount has none; its name is not free. */
  @Test
  void name_ofAMountThatIsStartedAgain_isRefused() throws IOException {
    Path state = Files.createDirectories(host.control.stateDirectory("n"));
    Process supervisor =
        new ProcessBuilder("sh", "-c", "read line; : holdfast-supervise", "sh", "" + state).start();
    try {
      Files.writeString(state.resolve("supervisor"), supervisor.pid() + "\n");
      refuses("the name 'n' is in use by a mount whose daemon is being started again");
    } finally {
      supervisor.destroy();
    }
    Await.until("the supervisor ended", () -> !supervisor.isAlive());
    new Preflight(host).checkMachine(settings(false));
  }

  @Test
  void device_missing_isTold() {
    host.device = Host.Device.MISSING;
    refuses("/dev/fuse is missing: load it with 'modprobe fuse', or start the container with");
  }

  @Test
  void device_denied_isTold() {
    host.uid = 1000;
    host.device = Host.Device.DENIED;
    refuses("not permitted to open /dev/fuse as user 1000: run as root, or start the container");
  }

  @Test
  void libfuse_missing_namesThePackage() {
    host.libfuse = false;
    refuses("libfuse 2 (libfuse.so.2) is missing: install it with 'apt install libfuse2'");
  }

  @Test
  void root_withoutTheCapability_isTold() {
    host.mayMount = false;
    refuses("not permitted to mount: root lacks CAP_SYS_ADMIN here");
  }

  @Test
  void user_withoutFusermount_isToldThePackage() {
    host.uid = 1000;
    host.fusermount = false;
    refuses(
        "not permitted to mount as user 1000: fusermount is missing: run as root, or install the"
            + " package fuse3 (fusermount)");
  }

  @Test
  void user_mountpointOfSomebodyElse_isTold() {
    host.uid = 1000;
    host.unwritable.add(mountpoint);
    refuses("not permitted to mount on '" + mountpoint + "' as user 1000: choose a directory");
  }

  @Test
  void user_allowOtherNotAllowed_isTold() {
    host.uid = 1000;
    host.userAllowOther = false;
    new Preflight(host).checkMachine(settings(false));
    CliException failure =
        catchThrowableOfType(
            CliException.class, () -> new Preflight(host).checkMachine(settings(true)));
    assertThat(failure.exitCode()).isEqualTo(1);
    assertThat(failure).hasMessageStartingWith("--allow-other is not permitted to users: write");
  }

  @Test
  void root_allowOther_needsNoPermission() {
    host.userAllowOther = false;
    new Preflight(host).checkMachine(settings(true));
  }

  @Test
  void mountpoint_withOurOwnFiles_isUsage() {
    host.ownDirectories.add(mountpoint.resolve("java"));
    CliException failure =
        catchThrowableOfType(
            CliException.class, () -> new Preflight(host).checkMachine(settings(false)));
    assertThat(failure.exitCode()).isEqualTo(2);
    assertThat(failure)
        .hasMessage(
            "mountpoint '%s' holds '%s/java', which Holdfast itself needs: choose another"
                .formatted(mountpoint, mountpoint));
  }

  @Test
  void mountpoint_withTheStateDirectory_isUsage() {
    Settings settings =
        Settings.builder(directory(source), mountpoint, host.memory())
            .set(SettingTable.STATE_DIR, mountpoint.resolve("state"))
            .build();
    CliException failure =
        catchThrowableOfType(CliException.class, () -> new Preflight(host).checkMachine(settings));
    assertThat(failure.exitCode()).isEqualTo(2);
    assertThat(failure).hasMessageContaining("/state', which Holdfast itself needs");
  }

  @Test
  void mountpoint_withTheLog_isUsage() {
    Settings settings =
        Settings.builder(directory(source), mountpoint, host.memory())
            .set(SettingTable.LOG_FILE, mountpoint.resolve("log"))
            .build();
    CliException failure =
        catchThrowableOfType(CliException.class, () -> new Preflight(host).checkMachine(settings));
    assertThat(failure.exitCode()).isEqualTo(2);
  }

  /** The next daemon would look for it on the mount that it is to serve. */
  @Test
  void mountpoint_withTheAccessLog_isUsage() {
    Settings.Builder builder = Settings.builder(directory(source), mountpoint, host.memory());
    builder.set(SettingTable.ACCESS_LOG, mountpoint.resolve("access.log"));
    CliException failure =
        catchThrowableOfType(
            CliException.class, () -> new Preflight(host).checkMachine(builder.build()));
    assertThat(failure.exitCode()).isEqualTo(2);
    assertThat(failure).hasMessageContaining("/access.log', which Holdfast itself needs");
  }

  @Test
  void mountpoint_withTheLogByALink_isUsage() throws IOException {
    Files.createDirectories(mountpoint.resolve("logs"));
    Path link = Files.createSymbolicLink(temp.resolve("link"), mountpoint.resolve("logs"));
    Settings settings =
        Settings.builder(directory(source), mountpoint, host.memory())
            .set(SettingTable.LOG_FILE, link)
            .build();
    CliException failure =
        catchThrowableOfType(CliException.class, () -> new Preflight(host).checkMachine(settings));
    assertThat(failure.exitCode()).isEqualTo(2);
  }

  private static Source directory(Path path) {
    return new Source.Directory(path);
  }

  private Settings settings(boolean allowOther) {
    return Settings.builder(directory(source), mountpoint, host.memory())
        .set(SettingTable.NAME, "n")
        .set(SettingTable.ALLOW_OTHER, allowOther)
        .build();
  }

  /** Once a mount was told to keep its state in /proc, and went on without a word. */
  @Test
  void stateDirectory_onAPseudoFileSystem_isUsage() {
    Path proc = temp.resolve("proc");
    host.mount(proc, "proc", Host.PathState.DIRECTORY);
    Settings settings =
        Settings.builder(directory(source), mountpoint, host.memory())
            .set(SettingTable.NAME, "n")
            .set(SettingTable.STATE_DIR, proc.resolve("x"))
            .build();
    CliException failure =
        catchThrowableOfType(CliException.class, () -> new Preflight(host).checkMachine(settings));
    assertThat(failure)
        .hasMessage(
            "--state-dir '%s/x' is on a file system that holds no data (proc): give a directory on a"
                    .formatted(proc)
                + " disk, or none");
    assertThat(failure.exitCode()).isEqualTo(2);
  }

  private void refuses(Path from, Path to, int exitCode, String message) {
    refuses(directory(from), to, exitCode, message);
  }

  private void refuses(Source from, Path to, int exitCode, String message) {
    CliException failure =
        catchThrowableOfType(CliException.class, () -> new Preflight(host).checkPaths(from, to));
    assertThat(failure).hasMessageStartingWith(message.replace("%s", temp.toString()));
    assertThat(failure).hasMessageContaining(": ");
    assertThat(failure.exitCode()).isEqualTo(exitCode);
  }

  private void refuses(String message) {
    CliException failure =
        catchThrowableOfType(
            CliException.class, () -> new Preflight(host).checkMachine(settings(false)));
    assertThat(failure).hasMessageStartingWith(message);
    assertThat(failure.exitCode()).isEqualTo(1);
  }
}
