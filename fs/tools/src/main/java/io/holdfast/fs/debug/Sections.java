package io.holdfast.fs.debug;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.daemon.Version;
import io.holdfast.fs.doctor.BoundedCommand;
import io.holdfast.fs.doctor.Diagnosis;
import io.holdfast.fs.doctor.Doctor;
import io.holdfast.fs.doctor.DoctorText;
import io.holdfast.fs.doctor.MachineFiles;
import io.holdfast.fs.doctor.Subject;
import io.holdfast.fs.units.Visible;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;

/**
 * The sections of an archive: about the machine, and about each mount. Immutable; touches no mount.
 */
public final class Sections {
  private static final Duration COMMAND_DEADLINE = Duration.ofSeconds(3);
  private static final int LARGEST_OUTPUT = 1 << 20;

  private static final List<String> SYSTEM =
      List.of(
          "etc/os-release",
          "proc/version",
          "proc/cmdline",
          "proc/uptime",
          "proc/loadavg",
          "proc/filesystems",
          "proc/swaps");

  private static final List<String> KERNEL_SETTINGS =
      List.of(
          "proc/sys/vm/max_map_count",
          "proc/sys/vm/swappiness",
          "proc/sys/vm/overcommit_memory",
          "proc/sys/vm/min_free_kbytes",
          "proc/sys/vm/watermark_scale_factor",
          "proc/sys/vm/vfs_cache_pressure",
          "proc/sys/vm/zone_reclaim_mode",
          "proc/sys/vm/nr_hugepages",
          "proc/sys/fs/file-nr",
          "proc/sys/fs/nr_open",
          "proc/sys/fs/mount-max",
          "proc/sys/fs/fanotify/max_user_marks",
          "proc/sys/fs/fanotify/max_user_groups",
          "proc/sys/fs/fanotify/max_queued_events",
          "proc/sys/fs/fuse/max_pages_limit",
          "proc/sys/fs/fuse/default_request_timeout",
          "proc/sys/fs/fuse/max_request_timeout",
          "proc/sys/kernel/pid_max",
          "proc/sys/kernel/threads-max",
          "sys/module/fuse/parameters/max_user_bgreq",
          "sys/module/fuse/parameters/max_user_congthresh",
          "sys/module/fuse/parameters/enable_uring",
          "sys/module/zswap/parameters/enabled",
          "sys/kernel/mm/transparent_hugepage/enabled",
          "sys/kernel/mm/transparent_hugepage/shmem_enabled",
          "etc/fuse.conf");

  private static final List<String> PRESSURE =
      List.of("proc/pressure/cpu", "proc/pressure/memory", "proc/pressure/io");

  private final Doctor.Machine machine;
  private final MachineFiles files;

  /** Creates the sections of a machine. */
  public Sections(Doctor.Machine machine) {
    this.machine = machine;
    this.files = machine.files();
  }

  /**
   * Returns the sections about the machine and some mounts.
   *
   * @param secrets takes the mounts' secrets as they are found
   */
  public List<Section> of(List<Subject> subjects, Consumer<String> secrets) {
    List<Section> sections = new ArrayList<>(doctor(subjects));
    sections.add(new Section("version.txt", Sections::version));
    sections.add(new Section("machine/system.txt", () -> KernelFilesText.all(files, SYSTEM)));
    sections.add(
        new Section("machine/sysctl.txt", () -> KernelFilesText.lines(files, KERNEL_SETTINGS)));
    sections.add(new Section("machine/pressure.txt", () -> KernelFilesText.all(files, PRESSURE)));
    for (String file : List.of("meminfo", "vmstat")) {
      sections.add(new Section("machine/" + file + ".txt", () -> files.read("proc/" + file)));
    }
    sections.add(new Section("machine/mountinfo.txt", () -> files.read("proc/self/mountinfo")));
    sections.add(new Section("machine/limits.txt", () -> files.read("proc/self/limits")));
    sections.add(new Section("machine/cgroup.txt", () -> new CgroupText(files).of("self")));
    sections.add(
        new Section(
            "machine/dmesg.txt", () -> command(List.of("sh", "-c", "dmesg | tail -n 400"))));
    Set<String> folders = new HashSet<>();
    for (Subject subject : subjects) {
      String folder = "mounts/" + folder(subject, folders) + "/";
      sections.addAll(new MountSections(machine, subject, folder).list(secrets));
    }
    return sections;
  }

  /** Returns a folder that no mount has yet: several users may have mounts of one name. */
  private static String folder(Subject subject, Set<String> taken) {
    String name = Visible.of(subject.name().replaceAll("^/", "").replace('/', '-'));
    String folder = name;
    for (int i = 2; !taken.add(folder); i++) {
      folder = name + "-" + i;
    }
    return folder;
  }

  /** Returns both forms of the doctor's report, from one examination. */
  private List<Section> doctor(List<Subject> subjects) {
    FutureTask<List<Diagnosis>> examination =
        new FutureTask<>(() -> new Doctor(machine).examine(subjects));
    Callable<List<Diagnosis>> report =
        () -> {
          examination.run(); // the second call does nothing
          return examination.get();
        };
    return List.of(
        new Section("doctor.txt", () -> DoctorText.of(get(report), (level, word) -> word)),
        new Section(
            "doctor.json",
            () ->
                JSON.std
                    .with(JSON.Feature.PRETTY_PRINT_OUTPUT)
                    .asString(DoctorText.map(get(report)))));
  }

  private static <T> T get(Callable<T> task) throws IOException {
    try {
      return task.call();
    } catch (ExecutionException e) {
      throw new IOException(String.valueOf(e.getCause()), e);
    } catch (Exception e) {
      throw new IOException(e.toString(), e);
    }
  }

  private static String version() {
    StringBuilder text = new StringBuilder("holdfast " + Version.VERSION + "\n");
    for (String property :
        List.of("java.version", "java.vendor", "java.home", "os.version", "os.arch")) {
      text.append(property).append(' ').append(System.getProperty(property)).append('\n');
    }
    return text.toString();
  }

  /** Runs a command and returns its output. */
  static String command(List<String> words) throws IOException, InterruptedException {
    BoundedCommand.Output output =
        BoundedCommand.run(COMMAND_DEADLINE, LARGEST_OUTPUT, words)
            .orElseThrow(
                () ->
                    new IOException(
                        "no answer of '%s' in %d s"
                            .formatted(words.get(0), COMMAND_DEADLINE.toSeconds())));
    if (output.exit() != 0) {
      throw new IOException(output.text());
    }
    return output.all();
  }
}
