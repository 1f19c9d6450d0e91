package io.holdfast.fs.doctor;

import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.daemon.Version;
import io.holdfast.fs.linux.MountTable;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Examines a machine and its mounts: runs all probes side by side, in a bounded time whatever state
 * the mounts, their daemons and their origins are in. Immutable; thread-safe.
 */
public final class Doctor {
  /** The scope of findings that are not about a mount. */
  public static final String MACHINE = "machine";

  private static final Duration DEADLINE = Duration.ofSeconds(6);
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private final Machine machine;

  /**
   * The places where the doctor looks.
   *
   * @param files the files of the kernel
   * @param uid the user that asks
   * @param abilities the rights of this process
   * @param controls the directories of daemons' sockets
   * @param mounts the mount table
   * @param logs the directory where daemons of this user log by default
   * @param states the directory where they keep trees of datasets
   * @param clock the time
   * @param budget the memory that the node has for its mounts
   */
  public record Machine(
      MachineFiles files,
      int uid,
      Abilities abilities,
      List<ControlDirectory> controls,
      MountTable mounts,
      Path logs,
      Path states,
      Clock clock,
      Budget budget) {

    /** Returns the memory of the machine, in bytes. */
    public long memory() {
      return MemoryProbe.total(files);
    }

    /** Returns the finder of mounts. */
    public MountFinder finder() {
      return new MountFinder(controls, mounts, files);
    }
  }

  /**
   * The memory that a node has for all its mounts.
   *
   * @param bytes empty where its file does not say that
   * @param problem what is wrong with the file, in a line; empty where nothing is
   */
  public record Budget(OptionalLong bytes, String problem) {
    /** Nothing is said. */
    public static final Budget NONE = new Budget(OptionalLong.empty(), "");
  }

  /** Creates a doctor for a machine. */
  public Doctor(Machine machine) {
    this.machine = machine;
  }

  /** Examines the machine and some mounts, and returns the findings in a fixed order. */
  public List<Diagnosis> examine(List<Subject> subjects) {
    List<ProbeRunner.Task> tasks = new ArrayList<>();
    machineProbes().forEach(probe -> tasks.add(new ProbeRunner.Task(MACHINE, probe)));
    for (Subject subject : subjects) {
      mountProbes(subject).forEach(probe -> tasks.add(new ProbeRunner.Task(subject.name(), probe)));
    }
    return new ProbeRunner(DEADLINE).run(tasks);
  }

  private List<Probe> machineProbes() {
    MachineFiles files = machine.files();
    return List.of(
        new KernelProbe(files),
        new FuseProbe(files, new MountRequirements(machine.uid(), machine.abilities())),
        new BindingProbe(machine.uid(), machine.abilities()),
        new JavaProbe(),
        new PrivilegesProbe(files, machine.uid()),
        new MappingsProbe(files),
        new MemoryProbe(files),
        new PromisesProbe(machine.finder(), files, machine.budget()),
        new FanotifyProbe(files),
        new BpfProbe(),
        new ClockProbe(machine.clock()),
        new DirectoryProbe("state", machine.states(), machine.mounts()),
        new DirectoryProbe("logs", machine.logs(), machine.mounts()),
        new LeftoversProbe(machine.finder(), machine.uid()));
  }

  private List<Probe> mountProbes(Subject subject) {
    List<Probe> probes = new ArrayList<>();
    MachineFiles files = machine.files();
    probes.add(new DaemonProbe(subject, files, machine.uid()));
    probes.add(new ConnectionProbe(subject, files));
    if (subject.pid() != 0 && subject.socket() != null) {
      PendingAnswers pending = PendingAnswers.begin(subject.socket(), PAUSE);
      if (subject.isCheckpoint()) {
        probes.add(new CheckpointProbe(subject, pending));
      } else {
        addDatasetProbes(probes, subject, pending);
      }
    }
    if (subject.isTrusted()) {
      LogFile log = LogFile.of(subject, files, machine.logs());
      probes.add(new LogProbe(log, machine.clock()));
    }
    return probes;
  }

  private void addDatasetProbes(List<Probe> probes, Subject subject, PendingAnswers pending) {
    MachineFiles files = machine.files();
    probes.add(new AnswerProbe(subject, pending, Version.VERSION));
    probes.add(new OriginProbe(subject, pending, files));
    probes.add(new StoreProbe(subject, pending, files, machine.clock()));
    probes.add(new CacheProbe(pending, files));
    probes.add(new DaemonMemoryProbe(subject, pending, files));
    probes.add(new PeersProbe(pending));
    probes.add(new PeerClocksProbe(pending, machine.clock()));
    if (subject.isTrusted()) {
      probes.add(new PageTokenProbe(subject, pending, files));
    }
  }
}
