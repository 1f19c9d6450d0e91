package io.holdfast.fs.doctor;

import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.daemon.Version;
import io.holdfast.fs.linux.MountTable;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Examines a machine and mounts on it: all probes side by side, in a bounded time whatever state
 * the mounts, their daemons and their origins are in. Immutable; thread-safe.
 */
public final class Doctor {
  /** The scope of what is not about a mount. */
  public static final String MACHINE = "machine";

  private static final Duration DEADLINE = Duration.ofSeconds(6);
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private final Surroundings around;

  /**
   * Where the doctor looks.
   *
   * @param files what the kernel says
   * @param uid the user that asks
   * @param abilities what this process may do
   * @param controls where daemons have their sockets
   * @param mounts the mount table
   * @param logs where daemons of this user log, unless they are told otherwise
   * @param states where they keep what they know of datasets
   * @param clock the time
   */
  public record Surroundings(
      MachineFiles files,
      int uid,
      Abilities abilities,
      List<ControlDirectory> controls,
      MountTable mounts,
      Path logs,
      Path states,
      Clock clock) {

    /** Returns the memory of the machine, in bytes. */
    public long memory() {
      return MemoryProbe.total(files);
    }

    /** Returns what finds the mounts. */
    public MountFinder finder() {
      return new MountFinder(controls, mounts, files);
    }
  }

  /** Prepares an examination. */
  public Doctor(Surroundings around) {
    this.around = around;
  }

  /** Examines the machine and some mounts, and returns what was found, in a fixed order. */
  public List<Diagnosis> examine(List<Subject> subjects) {
    List<ProbeRunner.Task> tasks = new ArrayList<>();
    machine().forEach(probe -> tasks.add(new ProbeRunner.Task(MACHINE, probe)));
    for (Subject subject : subjects) {
      mount(subject).forEach(probe -> tasks.add(new ProbeRunner.Task(subject.name(), probe)));
    }
    return new ProbeRunner(DEADLINE).run(tasks);
  }

  private List<Probe> machine() {
    MachineFiles files = around.files();
    return List.of(
        new KernelProbe(files),
        new FuseProbe(files, around.abilities()),
        new BindingProbe(around.uid(), around.abilities()),
        new JavaProbe(),
        new PrivilegesProbe(files, around.uid()),
        new MappingsProbe(files),
        new MemoryProbe(files),
        new PromisesProbe(around.finder(), files),
        new FanotifyProbe(files),
        new ClockProbe(around.clock()),
        new DirectoryProbe("state", around.states(), around.mounts()),
        new DirectoryProbe("logs", around.logs(), around.mounts()),
        new LeftoversProbe(around.finder()));
  }

  private List<Probe> mount(Subject subject) {
    List<Probe> probes = new ArrayList<>();
    MachineFiles files = around.files();
    probes.add(new DaemonProbe(subject, files, around.uid()));
    probes.add(new ConnectionProbe(subject, files));
    if (subject.pid() != 0 && subject.socket() != null) {
      Asked asked = Asked.begin(subject.socket(), PAUSE);
      probes.add(new AnswerProbe(subject, asked, Version.VERSION));
      probes.add(new OriginProbe(subject, asked, files));
      probes.add(new StoreProbe(subject, asked, around.clock()));
      probes.add(new CacheProbe(asked, files));
      probes.add(new DaemonMemoryProbe(subject, asked, files));
      probes.add(new PeersProbe(asked));
      probes.add(new PeerClocksProbe(asked, around.clock()));
    }
    if (subject.socket() != null) {
      LogFile log = LogFile.of(subject, files, around.logs());
      probes.add(new LogProbe(log, around.clock()));
    }
    return probes;
  }
}
