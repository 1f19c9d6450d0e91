package io.holdfast.fs.cli;

import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.linux.Fstab;
import io.holdfast.fs.linux.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A machine on which all is well, until a test says otherwise. Paths are those of the real machine.
 */
final class FakeHost implements Host {
  int uid;
  long memory = 100_000_000_000L;
  final Map<String, String> environment = new HashMap<>();
  final ControlDirectory control;
  final List<ControlDirectory> controlOfOthers = new ArrayList<>();
  final List<MountTable.Mount> mounts = new ArrayList<>();
  final Map<Path, PathProbe.State> states = new HashMap<>();
  final Set<Path> unreadable = new HashSet<>();
  final Set<Path> unwritable = new HashSet<>();
  final List<String> fstab = new ArrayList<>();
  final Set<Path> empty = new HashSet<>();
  Device device = Device.USABLE;
  boolean mayMount = true;
  boolean fusermount = true;
  boolean libfuse = true;
  boolean userAllowOther = true;
  boolean detachFails;

  /** A mount is gone when it is to be detached, though it was there a moment ago. */
  boolean goesBeforeDetach;

  final List<Path> configurationDirectories = new ArrayList<>();
  final List<Path> ownDirectories = new ArrayList<>();
  final List<Path> detached = new ArrayList<>();

  FakeHost(Path controlDirectory) {
    control = ControlDirectory.at(controlDirectory);
  }

  /** Mounts something on top of the existing mounts. */
  void mount(Path at, String type, PathProbe.State state) {
    mounts.add(new MountTable.Mount(at, "0:77", type, "something", "rw,user_id=7,group_id=7"));
    states.put(at, state);
  }

  @Override
  public int uid() {
    return uid;
  }

  @Override
  public Map<String, String> environment() {
    return environment;
  }

  @Override
  public long memory() {
    return memory;
  }

  @Override
  public List<Path> configurationDirectories() {
    return configurationDirectories;
  }

  @Override
  public ControlDirectory control() {
    return control;
  }

  @Override
  public List<ControlDirectory> controlOfOthers() {
    return controlOfOthers;
  }

  @Override
  public MountTable mounts() {
    return MountTable.of(mounts);
  }

  @Override
  public Fstab fstab() {
    return Fstab.parse(fstab);
  }

  @Override
  public boolean isEmpty(Path directory) {
    return empty.contains(directory);
  }

  @Override
  public PathProbe.State probe(Path path) {
    if (states.containsKey(path)) {
      return states.get(path);
    }
    if (!Files.exists(path)) {
      return PathProbe.State.MISSING;
    }
    return Files.isDirectory(path) ? PathProbe.State.DIRECTORY : PathProbe.State.OTHER;
  }

  @Override
  public Path locate(Path path) {
    try {
      return path.toRealPath();
    } catch (IOException e) {
      return path;
    }
  }

  @Override
  public Path realPath(Path path) throws IOException {
    return path.toRealPath();
  }

  @Override
  public boolean canRead(Path directory) {
    return !unreadable.contains(directory);
  }

  @Override
  public boolean canWrite(Path directory) {
    return !unwritable.contains(directory);
  }

  @Override
  public Device device() {
    return device;
  }

  @Override
  public boolean mayMount() {
    return mayMount;
  }

  @Override
  public boolean hasFusermount() {
    return fusermount;
  }

  @Override
  public boolean hasLibfuse() {
    return libfuse;
  }

  @Override
  public String libfuseInstallation() {
    return "'apt install libfuse2'";
  }

  @Override
  public boolean userAllowOther() {
    return userAllowOther;
  }

  @Override
  public List<Path> ownDirectories() {
    return ownDirectories;
  }

  @Override
  public void detach(Path mountpoint) throws IOException {
    if (detachFails) {
      throw new IOException("Operation not permitted");
    }
    if (goesBeforeDetach) {
      mounts.removeIf(mount -> mount.mountpoint().equals(mountpoint));
      throw new IOException("Invalid argument");
    }
    detached.add(mountpoint);
    for (int i = mounts.size() - 1; i >= 0; i--) {
      if (mounts.get(i).mountpoint().equals(mountpoint)) {
        mounts.remove(i);
        break;
      }
    }
    if (MountTable.of(mounts).at(mountpoint).isEmpty()) {
      states.remove(mountpoint);
    }
  }
}
