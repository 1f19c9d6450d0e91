package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.control.ControlServer;
import io.holdfast.fs.host.FakeHost;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.linux.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The helpers that mount(8) and umount(8) call. */
class HelperCommandsTest {
  @TempDir Path temp;
  private FakeHost host;
  private CliRun run;
  private Path source;
  private Path mountpoint;

  @BeforeEach
  void prepare() throws IOException {
    temp = temp.toRealPath();
    host = new FakeHost(temp.resolve("run"));
    host.uid = 1000;
    host.environment.put("HOME", temp.toString());
    run = new CliRun(host);
    source = Files.createDirectory(temp.resolve("source"));
    mountpoint = Files.createDirectory(temp.resolve("mnt"));
  }

  @Test
  void mount_withOptions_isThatOfTheCommand() {
    int code =
        run.run(
            "mount.holdfast",
            source.toString(),
            mountpoint.toString(),
            "-v",
            "-f",
            "-n",
            "-o",
            "rw,capacity=64G,nofail");
    assertThat(code).isZero();
    assertThat(run.out.toString().strip())
        .isEqualTo("holdfast mount --capacity=64G -- " + source + " " + mountpoint);
  }

  @Test
  void mount_byName_hasItsSourceFromTheFile() throws IOException {
    Path files = Files.createDirectories(temp.resolve(".config/holdfast"));
    Files.writeString(files.resolve("photos.yaml"), "source: " + source + "\ncapacity: 64G\n");
    host.configurationDirectories.add(files);

    assertThat(run.run("mount.holdfast", "photos", mountpoint.toString(), "-vf")).isZero();
    assertThat(run.out.toString().strip())
        .isEqualTo("holdfast mount --name=photos -- " + source + " " + mountpoint);
  }

  /**
   * libmount gives the helper the real path of a source that exists: {@code data} of fstab became
   * {@code /data} at boot, and the empty mountpoint was mounted over itself.
   */
  @Test
  void mount_byNameThatMountMadeAPathOf_hasItsSourceFromTheFile() throws IOException {
    Path files = Files.createDirectories(temp.resolve(".config/holdfast"));
    Files.writeString(files.resolve("mnt.yaml"), "source: " + source + "\n");
    host.configurationDirectories.add(files);
    String way = Files.createSymbolicLink(temp.resolve("way"), mountpoint).toString();
    host.fstab.add("mnt " + mountpoint + " holdfast _netdev,nofail 0 0");
    String real = mountpoint.toString();

    for (String each : new String[] {real, way}) {
      assertThat(run.run("mount.holdfast", real, each, "-vf")).isZero();
      assertThat(run.out.toString().strip())
          .endsWith("holdfast mount --name=mnt -- " + source + " " + each);
    }
  }

  @Test
  void mount_ofAPath_staysOneWhereFstabHasNoSuchName() throws IOException {
    String real = source.toString();
    host.fstab.add(real + " " + mountpoint + " holdfast ro 0 0");
    host.fstab.add("source " + temp.resolve("other") + " holdfast ro 0 0");

    assertThat(run.run("mount.holdfast", real, mountpoint.toString(), "-vf")).isZero();
    assertThat(run.out.toString().strip())
        .isEqualTo("holdfast mount -- " + real + " " + mountpoint);
  }

  @Test
  void mount_byNameWithoutFile_isRefused() {
    assertThat(run.run("mount.holdfast", "photos", mountpoint.toString())).isEqualTo(1);
    assertThat(run.err.toString().strip())
        .isEqualTo(
            "holdfast: 'photos' is neither a path nor s3://BUCKET/PREFIX, nor the name of a mount:"
                + " there is no /etc/holdfast/photos.yaml");
  }

  @Test
  void mount_byNameOfAFileWithAMistake_isAnIncorrectInvocation() throws IOException {
    Path files = Files.createDirectories(temp.resolve(".config/holdfast"));
    Path file = Files.writeString(files.resolve("photos.yaml"), "sauce: " + source + "\n");
    host.configurationDirectories.add(files);

    assertThat(run.run("mount.holdfast", "photos", mountpoint.toString())).isEqualTo(1);
    assertThat(run.err.toString())
        .startsWith("holdfast: " + file + ":1: unknown key 'sauce'")
        .hasLineCount(1);
  }

  @Test
  void mount_thatIsWrong_hasTheExitCodesOfMount() {
    String there = mountpoint.toString();
    assertThat(run.run("mount.holdfast", "/gone", there)).isEqualTo(1);
    assertThat(run.run("mount.holdfast", source.toString(), there, "-o", "capcity=1G"))
        .isEqualTo(1);
    host.device = Host.Device.MISSING;
    assertThat(run.run("mount.holdfast", source.toString(), there, "-o", "capacity=1G"))
        .isEqualTo(32);
    assertThat(run.err.toString()).contains("/dev/fuse").contains("unknown option 'capcity'");
  }

  @Test
  void mount_inNamespace_isMadeByNsenter() {
    run.run("mount.holdfast", "/s", "/m", "-N", "/proc/7/ns/mnt", "-o", "keep=a", "-s");
    assertThat(run.became)
        .startsWith("/usr/bin/nsenter", "--mount=/proc/7/ns/mnt", "--")
        .endsWith("mount.holdfast", "/s", "/m", "-o", "keep=a", "-s");
  }

  @Test
  void umount_ofDeadDaemon_takesTheMountAway() {
    host.mount(mountpoint, "fuse.holdfast", Host.PathState.NOT_CONNECTED);
    assertThat(run.run("umount.holdfast", mountpoint.toString())).isZero();
    assertThat(host.detached).containsExactly(mountpoint);
  }

  @Test
  void umount_lazyOfHungMountWithoutDaemon_takesItAway() {
    host.mount(mountpoint, "fuse.holdfast", Host.PathState.HUNG);
    assertThat(run.run("umount.holdfast", mountpoint.toString(), "-n")).isEqualTo(32);
    assertThat(host.detached).isEmpty();
    assertThat(run.run("umount.holdfast", mountpoint.toString(), "-l")).isZero();
    assertThat(host.detached).containsExactly(mountpoint);
  }

  /** Programs that were saving lost their connection, although their files were to stay open. */
  @Test
  void umount_lazyOfACheckpointMount_leavesItsConnection() throws IOException {
    host.uid = 0;
    host.mounts.add(
        new MountTable.Mount(
            1, mountpoint, "0:77", "fuse.holdfast", MountTable.CHECKPOINT_SOURCE + "/s", "rw"));
    try (ControlServer server =
        ControlServer.start(host.control, "ckpt", mountpoint, new FakeCommands())) {
      assertThat(run.run("umount.holdfast", mountpoint.toString(), "-l")).as("%s", server).isZero();
    }
    assertThat(host.detachedLazily).containsExactly(mountpoint);
    assertThat(host.detached).isEmpty();
  }

  @Test
  void umount_ofWhatIsNoMount_fails() {
    assertThat(run.run("umount.holdfast", mountpoint.toString(), "-f", "-r", "-v")).isEqualTo(32);
    assertThat(run.err.toString()).contains("is not a Holdfast mount");
  }

  @Test
  void helpers_areNotShown() {
    assertThat(run.run("--help")).isZero();
    assertThat(run.run()).isEqualTo(2);
    assertThat(run.out + "" + run.err).doesNotContain("mount.holdfast").doesNotContain("manual");
  }

  @Test
  void version_asJson_isOneObject() {
    assertThat(run.run("version", "--json")).isZero();
    assertThat(run.out.toString().strip()).matches("\\{\"version\":\"[^\"]+\",\"java\":.*\"}");
  }
}
