package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.host.FakeHost;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.linux.NamedThreads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DoctorCommandsTest {
  @TempDir Path temp;
  private FakeHost host;
  private CliRun run;

  @BeforeEach
  void makeHost() throws IOException {
    host = new FakeHost(temp.resolve("run"));
    host.uid = 1000;
    host.environment.put("XDG_STATE_HOME", temp.toString());
    run = new CliRun(host);
    Files.createDirectories(temp.resolve("run"));
  }

  @Test
  void doctor_deadMount_isAFailureWithItsMend() throws IOException {
    dead();
    assertThat(run.run("doctor", "gone")).as(run.err.toString()).isEqualTo(1);
    assertThat(run.out.toString())
        .contains("machine\n", "mount gone\n", "is dead: readers get")
        .contains("fix: holdfast umount /mnt/gone");
  }

  /** The doctor said that all was well, and of the mount by name that there was none. */
  @Test
  void doctor_deadCheckpointMount_isAFailure() {
    Path at = Path.of("/mnt/ckpt");
    host.mounts.add(
        new MountTable.Mount(
            1, at, "0:77", "fuse.holdfast", MountTable.CHECKPOINT_SOURCE + "/s", "user_id=1000"));
    for (String[] words : List.of(new String[] {"doctor"}, new String[] {"doctor", "/mnt/ckpt"})) {
      run.out.getBuffer().setLength(0);
      assertThat(run.run(words)).as(run.err.toString()).isEqualTo(1);
      assertThat(run.out.toString())
          .contains("mount /mnt/ckpt\n", "programs get 'Transport endpoint is not connected'")
          .contains("fix: holdfast umount /mnt/ckpt, and mount again with the same front");
    }
  }

  @Test
  void doctor_json_countsTheLevels() throws IOException {
    dead();
    assertThat(run.run("doctor", "--json", "/mnt/gone")).isEqualTo(1);
    Map<String, Object> report = JSON.std.mapFrom(run.out.toString());
    assertThat(report).containsKeys("ok", "warn", "findings");
    assertThat((Integer) report.get("fail")).isPositive();
  }

  @Test
  void doctor_unknownName_namesTheKnown() throws IOException {
    dead();
    assertThat(run.run("doctor", "other")).isEqualTo(1);
    assertThat(run.err.toString())
        .startsWith("holdfast: 'other' is no Holdfast mount: there are gone (/mnt/gone)")
        .hasLineCount(1);
  }

  @Test
  void debug_writesAnArchiveForItsOwnerOnly() throws IOException {
    dead();
    Path file = temp.resolve("report.zip");
    assertThat(run.run("debug", "gone", "--output", file.toString()))
        .as(run.err.toString())
        .isZero();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(run.out.toString()).startsWith(file + "  ").contains("doctor.txt  ", "log.txt");
    try (ZipFile zip = new ZipFile(file.toFile())) {
      assertThat(zip.stream().map(entry -> entry.getName().replaceFirst("[^/]*/", "")))
          .contains("FILES", "doctor.json", "machine/meminfo.txt", "mounts/gone/log.txt");
    }
  }

  /**
   * The archive was written by the name of the file that was created some seconds before: as root,
   * in a directory of another user, over whatever file that user had led the name to.
   */
  @Test
  void debug_aLinkInThePlaceOfTheNewFile_isNotFollowed() throws Exception {
    dead();
    Path others = Files.writeString(temp.resolve("of-others"), "theirs");
    Path link = Files.createSymbolicLink(temp.resolve("link"), others);
    Path file = temp.resolve("report.zip");
    FutureTask<Path> swap =
        new FutureTask<>(
            () -> {
              while (!Files.exists(file)) {
                Thread.sleep(1);
              }
              return Files.move(link, file, StandardCopyOption.ATOMIC_MOVE);
            });
    NamedThreads.start("swap", swap);

    assertThat(run.run("debug", "gone", "--output", file.toString())).isZero();

    assertThat(swap.get()).isSymbolicLink();
    assertThat(others).hasContent("theirs");
  }

  @Test
  void debug_badPlace_isUsage() throws IOException {
    Path there = Files.writeString(temp.resolve("there"), "mine");
    assertThat(run.run("debug", "--output", there.toString())).isEqualTo(2);
    assertThat(run.err.toString())
        .contains("'" + there + "' exists: choose another")
        .hasLineCount(1);
    assertThat(there).hasContent("mine");
    run.err.getBuffer().setLength(0);
    assertThat(run.run("debug", "--output", temp.resolve("no/x.zip").toString())).isEqualTo(2);
    assertThat(run.err.toString()).contains("does not exist").hasLineCount(1);
    run.err.getBuffer().setLength(0);
    host.mount(temp.resolve("mnt"), "fuse.holdfast", Host.PathState.HUNG);
    assertThat(run.run("debug", "--output", temp.resolve("mnt/x.zip").toString())).isEqualTo(2);
    assertThat(run.err.toString()).contains("is on a mount of Holdfast").hasLineCount(1);
  }

  private void dead() throws IOException {
    Files.writeString(host.control.processFile("gone"), "4711\n/mnt/gone\n");
    host.mount(Path.of("/mnt/gone"), "fuse.holdfast", Host.PathState.HUNG);
  }
}
