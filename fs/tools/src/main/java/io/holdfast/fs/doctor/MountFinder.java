package io.holdfast.fs.doctor;

import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.daemon.SupervisedMount;
import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Finds the mounts of this machine from the control directories and the mount table, and the files
 * that dead mounts have left. Touches no mount. Immutable.
 */
public final class MountFinder {
  private static final int ROOT = 0;
  private static final int NOBODY = -1;
  private static final int LONGEST_PID = 32;

  private final List<ControlDirectory> controls;
  private final MountTable mounts;
  private final MachineFiles files;
  private final int uid;
  private final ToIntFunction<Path> owners;

  /**
   * Creates a finder.
   *
   * @param controls the directories of daemons' sockets, of all users that this user may see
   * @param mounts the mount table
   * @param files the files of the kernel
   */
  public MountFinder(List<ControlDirectory> controls, MountTable mounts, MachineFiles files) {
    this(controls, mounts, files, Procfs.ownUid(), MountFinder::owner);
  }

  /**
   * Creates the same for any user.
   *
   * @param uid the user that asks
   * @param owners returns the user that a file or process belongs to
   */
  MountFinder(
      List<ControlDirectory> controls,
      MountTable mounts,
      MachineFiles files,
      int uid,
      ToIntFunction<Path> owners) {
    this.controls = controls;
    this.mounts = mounts;
    this.files = files;
    this.uid = uid;
    this.owners = owners;
  }

  /** Returns the owner of a file, of a link itself; {@link #NOBODY} if it is not there. */
  private static int owner(Path file) {
    try {
      return (Integer) Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    } catch (IOException e) {
      return NOBODY;
    }
  }

  private int owner(ControlDirectory control) {
    return control.user().orElseGet(() -> owners.applyAsInt(control.path()));
  }

  /**
   * A control directory that a dead daemon has left, though nothing is mounted.
   *
   * @param owner the user whose directory it is
   */
  record Leftover(String name, long pid, Path mountpoint, Path directory, int owner) {}

  /** Returns all mounts of datasets. */
  public List<Subject> mounts() {
    return all().stream().filter(subject -> !subject.isCheckpoint()).toList();
  }

  /**
   * Returns all mounts, of datasets and for checkpoints: those with a living daemon, with a dead
   * one, and without a known one.
   */
  public List<Subject> all() {
    List<Subject> found = new ArrayList<>();
    Set<String> devices = new HashSet<>();
    Set<Object> shown = new HashSet<>();
    for (ControlDirectory control : controls) {
      int owner = owner(control);
      control.running().stream()
          .map(daemon -> subject(control, daemon, true))
          .filter(subject -> subject.isTrusted() || isMountOf(owner, subject, shown))
          .forEach(found::add);
      for (RunningDaemon dead : control.dead()) {
        Subject subject = subject(control, dead, false);
        if (subject.mount() != null || subject.supervisor() != 0) {
          found.add(subject);
        }
      }
    }
    for (Subject subject : found) {
      if (subject.mount() != null) {
        devices.add(subject.mount().device());
      }
    }
    for (MountTable.Mount mount : mounts.holdfast()) {
      // the same device a second time is a bind mount, as in a container
      if (devices.add(mount.device())) {
        String name = mount.mountpoint().toString();
        found.add(new Subject(name, mount.mountpoint(), mount, 0, 0, 0, null, null));
      }
    }
    return found;
  }

  /**
   * Tells whether the kernel knows of a mount of another user, who may have made up any number of
   * daemons. A mount and a process count once.
   *
   * @param shown takes what has been counted
   */
  private static boolean isMountOf(int owner, Subject subject, Set<Object> shown) {
    MountTable.Mount mount = subject.mount();
    return mount != null
        && mount.userId().equals(Optional.of(Integer.toUnsignedString(owner)))
        && shown.add(mount.device())
        && (subject.pid() == 0 || shown.add(subject.pid()));
  }

  /** Returns the leftovers of dead daemons whose mounts have gone. */
  List<Leftover> leftovers() {
    List<Leftover> left = new ArrayList<>();
    for (ControlDirectory control : controls) {
      for (RunningDaemon dead : control.dead()) {
        boolean mounted = mountAt(dead.mountpoint()) != null;
        if (!mounted && supervisor(control, dead.name()) == 0) {
          left.add(
              new Leftover(
                  dead.name(), dead.pid(), dead.mountpoint(), control.path(), owner(control)));
        }
      }
    }
    return left;
  }

  /** Returns the mount of that name or mountpoint. */
  public Optional<Subject> find(String nameOrMountpoint) {
    List<Subject> all = all();
    Optional<Subject> named =
        all.stream().filter(subject -> subject.name().equals(nameOrMountpoint)).findFirst();
    if (named.isPresent() || nameOrMountpoint.isEmpty()) {
      return named;
    }
    Path path = Path.of(nameOrMountpoint).toAbsolutePath().normalize();
    return all.stream().filter(subject -> subject.mountpoint().equals(path)).findFirst();
  }

  private Subject subject(ControlDirectory control, RunningDaemon daemon, boolean alive) {
    Path state = control.stateDirectory(daemon.name());
    int owner = owner(control);
    boolean trusted = owner == uid || owner == ROOT;
    // a user may have written the number of any process
    boolean its = trusted || owners.applyAsInt(files.path("proc/" + daemon.pid())) == owner;
    return new Subject(
        daemon.name(),
        daemon.mountpoint(),
        mountAt(daemon.mountpoint()),
        alive && its ? daemon.pid() : 0,
        alive ? 0 : daemon.pid(),
        supervisor(control, daemon.name()),
        daemon.socket(),
        trusted ? state : null);
  }

  private MountTable.@Nullable Mount mountAt(Path mountpoint) {
    MountTable.Mount top = null;
    for (MountTable.Mount mount : mounts.holdfast()) {
      if (mount.mountpoint().equals(mountpoint)) {
        top = mount;
      }
    }
    return top;
  }

  private long supervisor(ControlDirectory control, String name) {
    try {
      long pid = Long.parseLong(control.stateText(name, "supervisor", LONGEST_PID).strip());
      List<String> words = files.procfs().commandLine(Long.toString(pid));
      return SupervisedMount.isSupervisor(words, control.stateDirectory(name)) ? pid : 0;
    } catch (IOException | NumberFormatException e) {
      return 0;
    }
  }
}
