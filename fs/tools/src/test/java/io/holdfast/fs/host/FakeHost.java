package io.holdfast.fs.host;

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
public final class FakeHost implements Host {
  public int uid;
  public long memory = 100_000_000_000L;

  /** The memory of processes, by their number, that have another one. */
  public final Map<Long, Long> memoryOf = new HashMap<>();

  public final Map<String, String> environment = new HashMap<>();
  public final ControlDirectory control;
  public final List<ControlDirectory> controlOfOthers = new ArrayList<>();
  public final List<MountTable.Mount> mounts = new ArrayList<>();
  public final Map<Path, Host.PathState> states = new HashMap<>();
  public final Set<Path> unreadable = new HashSet<>();
  public final Set<Path> unwritable = new HashSet<>();
  public final List<String> fstab = new ArrayList<>();
  public final Set<Path> empty = new HashSet<>();
  public Device device = Device.USABLE;
  public boolean mayMount = true;
  public boolean fusermount = true;
  public boolean libfuse = true;
  public boolean userAllowOther = true;
  public boolean detachFails;

  /** A mount is gone when it is to be detached, though it was there a moment ago. */
  public boolean goesBeforeDetach;

  /** Runs after each look at the mount table. */
  public Runnable whenMountsAreRead = () -> {};

  public final List<Path> configurationDirectories = new ArrayList<>();
  public final List<Path> ownDirectories = new ArrayList<>();
  public final List<Path> detached = new ArrayList<>();
  public final List<Path> detachedLazily = new ArrayList<>();

  public FakeHost(Path controlDirectory) {
    control = ControlDirectory.at(controlDirectory);
  }

  /** Mounts something on top of the existing mounts. */
  public void mount(Path at, String type, Host.PathState state) {
    mounts.add(new MountTable.Mount(1, at, "0:77", type, "something", "rw,user_id=7,group_id=7"));
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
  public long memory(long pid) {
    return memoryOf.getOrDefault(pid, memory);
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
    MountTable table = MountTable.of(mounts);
    whenMountsAreRead.run();
    return table;
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
  public Host.PathState probe(Path path) {
    if (states.containsKey(path)) {
      return states.get(path);
    }
    if (!Files.exists(path)) {
      return Host.PathState.MISSING;
    }
    return Files.isDirectory(path) ? Host.PathState.DIRECTORY : Host.PathState.OTHER;
  }

  @Override
  public Path locate(Path path) {
    Path parent = path.getParent();
    try {
      return path.toRealPath();
    } catch (IOException e) {
      return parent == null ? path : locate(parent).resolve(path.getFileName());
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
  public void detachLazily(Path mountpoint) {
    detachedLazily.add(mountpoint);
    mounts.removeIf(mount -> mount.mountpoint().equals(mountpoint));
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
