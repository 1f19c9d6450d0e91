package io.holdfast.fs.debug;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.doctor.Abilities;
import io.holdfast.fs.doctor.Diagnosis;
import io.holdfast.fs.doctor.Doctor;
import io.holdfast.fs.doctor.FakeMachine;
import io.holdfast.fs.doctor.Subject;
import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.settings.Setting;
import io.holdfast.fs.settings.SettingTable;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BundleTest {
  private static final String SECRET = "correct-horse-battery-staple";

  @TempDir Path temp;

  @Test
  void sections_hangingOrFailing_sayWhyAndTheOthersAreThere() throws IOException {
    CountDownLatch end = new CountDownLatch(1);
    Bundle bundle = new Bundle(Duration.ofSeconds(4), () -> new Redactor(List.of(SECRET)));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    List<String> files =
        bundle.pack(
            out,
            "report",
            List.of(
                new Section(
                    "hangs",
                    () -> {
                      end.await();
                      return "";
                    }),
                new Section(
                    "fails",
                    () -> {
                      throw new IOException("because of " + SECRET);
                    }),
                new Section("well", () -> "a " + SECRET + " b"),
                new Section("large", () -> "x\n".repeat(Bundle.LARGEST_FILE))),
            Instant.parse("2026-11-21T12:00:00Z"));
    end.countDown();
    Map<String, String> unpacked = unpack(out);
    assertThat(unpacked.keySet())
        .containsExactly(
            "report/hangs", "report/fails", "report/well", "report/large", "report/FILES");
    assertThat(unpacked.get("report/hangs")).startsWith("missing: no answer in ");
    assertThat(unpacked.get("report/fails")).isEqualTo("missing: because of [removed]\n");
    assertThat(unpacked.get("report/well")).isEqualTo("a [removed] b");
    assertThat(unpacked.get("report/large")).hasSizeLessThanOrEqualTo(Bundle.LARGEST_FILE);
    assertThat(files).hasSize(4);
    assertThat(String.join("\n", files)).doesNotContain(SECRET);
  }

  /** A secret is put into every file that is read, and is in none of the archive. */
  @Test
  void archive_ofAMachineFullOfSecrets_hasNone() throws Exception {
    FakeMachine machine = new FakeMachine(temp);
    String words = "java\0io.holdfast\0--password=" + SECRET + "\0";
    machine
        .file("proc/41/environ", "PATH=/bin\0STORE_TOKEN=" + SECRET + "\0")
        .file("proc/41/cmdline", words)
        .file("proc/41/stat", "41 (java) T 1\n");
    for (String file :
        List.of(
            "etc/os-release",
            "etc/fuse.conf",
            "proc/version",
            "proc/cmdline",
            "proc/meminfo",
            "proc/vmstat",
            "proc/swaps",
            "proc/self/mountinfo",
            "proc/self/limits",
            "proc/self/cgroup",
            "proc/sys/vm/swappiness",
            "proc/pressure/io",
            "proc/41/status",
            "proc/41/limits",
            "proc/41/maps",
            "proc/41/smaps_rollup",
            "proc/41/cgroup",
            "proc/41/task/42/comm",
            "proc/41/task/42/stack",
            "proc/40/status",
            "state/command",
            "state/session",
            "state/restarts",
            "sys/fs/fuse/connections/77/waiting",
            "logs/x.log")) {
      machine.file(file, "something " + SECRET + " more\n");
    }
    MountTable.Mount mount =
        new MountTable.Mount(
            1, Path.of("/data"), "0:77", "fuse.holdfast", "s3://" + SECRET + "@b/p", "ro");
    Subject subject =
        new Subject(
            "x",
            Path.of("/data"),
            mount,
            41,
            0,
            40,
            temp.resolve("no.sock"),
            temp.resolve("state"));
    Doctor.Machine around = around(machine, mount);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    List<String> files =
        new DebugArchive(around, Map.of("OWN_PASSWORD", "another-secret-of-mine"))
            .write(out, "report", List.of(subject));
    Map<String, String> unpacked = unpack(out);
    assertThat(unpacked).hasSizeGreaterThan(20);
    assertThat(unpacked)
        .allSatisfy((name, text) -> assertThat(text).as(name).doesNotContain(SECRET));
    assertThat(unpacked.get("report/mounts/x/log.txt")).isEqualTo("something [removed] more");
    assertThat(unpacked.get("report/mounts/x/threads.txt")).contains("state T");
    assertThat(unpacked.get("report/machine/meminfo.txt")).contains("[removed]");
    // its daemon does not say which files hold more of them
    assertThat(files)
        .contains(
            "mounts/x/secrets.txt  missing: cannot be read: what cluster-secret-file, tls-key,"
                + " page-token-file name; only what looks like a secret was taken out");
  }

  /** The file of the page's password was none of them. */
  @Test
  void knownSecrets_areOfAllSettingsThatNameFilesWithSecrets() {
    assertThat(KnownSecrets.FILES)
        .contains(SettingTable.TLS_KEY.name())
        .containsAll(
            SettingTable.rows().stream()
                .map(Setting::name)
                .filter(Redactor::isSecretName)
                .toList());
  }

  /** Another user could name any file of root's as the log, and any process as the daemon. */
  @Test
  void archiveAndReport_ofAnotherUsersMount_haveNoFileThatItNames() throws Exception {
    FakeMachine machine = new FakeMachine(temp);
    machine
        .file("proc/41/environ", "PATH=/bin\0")
        .file("proc/41/stat", "41 (java) T 1\n")
        .file("logs/x.log", "2026-01-01T00:00:00Z ERROR of another mount\n");
    MountTable.Mount mount =
        new MountTable.Mount(1, Path.of("/data"), "0:77", "fuse.holdfast", "/origin", "ro");
    Subject subject =
        new Subject(
            "x", Path.of("/data"), mount, 41, 0, 0, temp.resolve("no.sock"), /* state= */ null);
    ByteArrayOutputStream out = new ByteArrayOutputStream();

    List<String> files =
        new DebugArchive(around(machine, mount), Map.of()).write(out, "report", List.of(subject));

    assertThat(files).anyMatch(line -> line.startsWith("mounts/x/stats-1.json"));
    assertThat(files)
        .noneMatch(line -> line.matches("mounts/x/(log|supervisor|threads)\\.txt.*"))
        .contains(
            "mounts/x/secrets.txt  missing: cannot be read: the files that a daemon of another user"
                + " names; only what looks like a secret was taken out");
    assertThat(new Doctor(around(machine, mount)).examine(List.of(subject)))
        .filteredOn(diagnosis -> diagnosis.scope().equals("x"))
        .extracting(Diagnosis::probe)
        .contains("daemon")
        .doesNotContain("log", "page");
  }

  /** Another user's mount may have the name of one of root's. */
  @Test
  void archive_ofMountsWithOneName_hasAFolderForEach() throws Exception {
    FakeMachine machine = new FakeMachine(temp);
    MountTable.Mount mount =
        new MountTable.Mount(1, Path.of("/data"), "0:77", "fuse.holdfast", "/origin", "ro");
    List<Subject> subjects =
        Stream.of("a", "a", "a-2", "/data/a", "data-a")
            .map(name -> new Subject(name, Path.of("/data"), mount, 0, 0, 0, null, null))
            .toList();
    ByteArrayOutputStream out = new ByteArrayOutputStream();

    new DebugArchive(around(machine, mount), Map.of()).write(out, "report", subjects);

    assertThat(unpack(out).keySet())
        .filteredOn(file -> file.contains("/mounts/"))
        .containsExactly(
            "report/mounts/a/connection.txt",
            "report/mounts/a-2/connection.txt",
            "report/mounts/a-2-2/connection.txt",
            "report/mounts/data-a/connection.txt",
            "report/mounts/data-a-2/connection.txt");
  }

  private Doctor.Machine around(FakeMachine machine, MountTable.Mount mount) {
    return new Doctor.Machine(
        machine.files(),
        0,
        new NoAbilities(),
        List.of(ControlDirectory.at(temp.resolve("run"))),
        MountTable.of(List.of(mount)),
        temp.resolve("logs"),
        temp.resolve("states"),
        Clock.systemUTC(),
        Doctor.Budget.NONE);
  }

  private static Map<String, String> unpack(ByteArrayOutputStream archive) throws IOException {
    Map<String, String> files = new LinkedHashMap<>();
    ZipInputStream zip = new ZipInputStream(new ByteArrayInputStream(archive.toByteArray()));
    for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
      files.put(entry.getName(), new String(zip.readAllBytes(), StandardCharsets.UTF_8));
    }
    return files;
  }

  /** A process that may do nothing. */
  private static final class NoAbilities implements Abilities {
    @Override
    public Device device() {
      return Device.MISSING;
    }

    @Override
    public boolean mayMount() {
      return false;
    }

    @Override
    public boolean hasFusermount() {
      return false;
    }

    @Override
    public boolean hasLibfuse() {
      return false;
    }

    @Override
    public String libfuseInstallation() {
      return "";
    }

    @Override
    public boolean userAllowOther() {
      return false;
    }
  }
}
