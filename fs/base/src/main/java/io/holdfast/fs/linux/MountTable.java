package io.holdfast.fs.linux;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The mounts that this process sees, as the kernel lists them in {@code /proc/self/mountinfo}.
 * Reading the list touches none of the mounts and cannot hang. Immutable.
 */
public final class MountTable {
  private static final String HOLDFAST_TYPE = "fuse.holdfast";

  /** Types of filesystems whose files the kernel makes up, for programs that run the machine. */
  private static final Set<String> PSEUDO_TYPES =
      Set.of(
          "binder",
          "binfmt_misc",
          "bpf",
          "cgroup",
          "cgroup2",
          "configfs",
          "debugfs",
          "devpts",
          "devtmpfs",
          "efivarfs",
          "fusectl",
          "hugetlbfs",
          "mqueue",
          "nfsd",
          "nsfs",
          "proc",
          "pstore",
          "resctrl",
          "rpc_pipefs",
          "securityfs",
          "selinuxfs",
          "smackfs",
          "sysfs",
          "tracefs",
          "xenfs");

  /** Types of filesystems whose files are on this machine. */
  private static final Set<String> LOCAL_TYPES =
      Set.of(
          "ext2",
          "ext3",
          "ext4",
          "xfs",
          "btrfs",
          "tmpfs",
          "ramfs",
          "overlay",
          "zfs",
          "f2fs",
          "bcachefs",
          "vfat",
          "exfat",
          "squashfs",
          "erofs",
          "iso9660");

  /** The beginning of the source of a checkpoint mount; that of a dataset is a path or a URL. */
  public static final String CHECKPOINT_SOURCE = "checkpoint:";

  /**
   * One mount.
   *
   * @param number its own number; a bind mount of the same device has another one
   * @param mountpoint the directory where it is mounted
   * @param device its number, as {@code major:minor}
   * @param type the filesystem's type, such as {@code fuse.holdfast}
   * @param source the device or text that was mounted
   * @param options the options of the filesystem, such as {@code user_id=0}
   */
  public record Mount(
      int number, Path mountpoint, String device, String type, String source, String options) {
    public boolean isFuse() {
      return type.equals("fuse") || type.startsWith("fuse.") || type.equals("fuseblk");
    }

    public boolean isHoldfast() {
      return type.equals(HOLDFAST_TYPE);
    }

    /** Tells whether this is a mount for checkpoints, and not of a dataset. */
    public boolean isCheckpoint() {
      return isHoldfast() && source.startsWith(CHECKPOINT_SOURCE);
    }

    /** Tells whether the kernel makes up the files there; these are no data. */
    public boolean isPseudo() {
      return PSEUDO_TYPES.contains(type);
    }

    /** Tells whether a look at its files may wait for another machine, or for a process. */
    public boolean mayHang() {
      return !isPseudo() && !LOCAL_TYPES.contains(type);
    }

    /** Returns the user that mounted it, for mounts of FUSE. */
    public Optional<String> userId() {
      for (String option : options.split(",", -1)) {
        if (option.startsWith("user_id=")) {
          return Optional.of(option.substring("user_id=".length()));
        }
      }
      return Optional.empty();
    }
  }

  private final List<Mount> mounts;

  private MountTable(List<Mount> mounts) {
    this.mounts = mounts;
  }

  /** Makes a table of some mounts, the lowest first. */
  public static MountTable of(List<Mount> mounts) {
    return new MountTable(List.copyOf(mounts));
  }

  /**
   * Reads the list of this process.
   *
   * @throws IOException if /proc is not mounted
   */
  public static MountTable read() throws IOException {
    // paths may hold bytes that are no UTF-8; such entries do not matter, but must not fail the
    // others
    byte[] bytes = Files.readAllBytes(Path.of("/proc/self/mountinfo"));
    return parse(new String(bytes, StandardCharsets.UTF_8));
  }

  /**
   * Returns the identity of the mount of Holdfast that is the uppermost mount exactly at a path.
   *
   * @throws FsException UNAVAILABLE where there is none
   */
  public static MountId ownAt(Path mountpoint) throws FsException {
    try {
      return read()
          .at(mountpoint)
          .filter(Mount::isHoldfast)
          .map(MountId::of)
          .orElseThrow(() -> new FsException(FsError.UNAVAILABLE, mountpoint + ": not mounted"));
    } catch (IOException e) {
      throw new FsException(FsError.IO, "the mount table cannot be read: " + e.getMessage(), e);
    }
  }

  /** Reads the text of a mountinfo file; see proc(5). */
  public static MountTable parse(String text) {
    List<Mount> mounts = new ArrayList<>();
    for (String line : text.split("\n", -1)) {
      int dash = line.indexOf(" - ");
      String[] left = line.split(" ", 6);
      String[] right = dash < 0 ? new String[0] : line.substring(dash + 3).split(" ", 3);
      if (left.length == 6 && right.length == 3) {
        mounts.add(
            new Mount(
                Integer.parseInt(left[0]),
                Path.of(unescape(left[4])),
                left[2],
                right[0],
                unescape(right[1]),
                right[2]));
      }
    }
    return of(mounts);
  }

  /** Returns the uppermost mount exactly at a path. */
  public Optional<Mount> at(Path path) {
    Optional<Mount> found = Optional.empty();
    for (Mount mount : mounts) {
      if (mount.mountpoint().equals(path)) {
        found = Optional.of(mount);
      }
    }
    return found;
  }

  /** Tells whether something is mounted at a path, be it below a mount of Holdfast. */
  public boolean hasOther(Path path) {
    return mounts.stream()
        .anyMatch(mount -> mount.mountpoint().equals(path) && !mount.isHoldfast());
  }

  /** Returns all mounts of Holdfast, the lowest first. */
  public List<Mount> holdfast() {
    return mounts.stream().filter(Mount::isHoldfast).toList();
  }

  /** Returns the mount that a path is on. */
  public Optional<Mount> covering(Path path) {
    Mount found = null;
    for (Mount mount : mounts) {
      boolean nearer =
          found == null || mount.mountpoint().getNameCount() >= found.mountpoint().getNameCount();
      if (path.startsWith(mount.mountpoint()) && nearer) {
        found = mount;
      }
    }
    return Optional.ofNullable(found);
  }

  /** Returns the mount that has the files of a path, below mounts of Holdfast over it. */
  public Optional<Mount> storeOf(Path path) {
    return of(mounts.stream().filter(mount -> !mount.isHoldfast()).toList()).covering(path);
  }

  /** Returns the mounts within a directory, without one at the directory itself. */
  public List<Mount> below(Path directory) {
    return mounts.stream()
        .filter(mount -> mount.mountpoint().startsWith(directory))
        .filter(mount -> !mount.mountpoint().equals(directory))
        .toList();
  }

  /** Returns the mount of a number. */
  public Optional<Mount> numbered(int number) {
    return mounts.stream().filter(mount -> mount.number() == number).findFirst();
  }

  /** Returns the mounts of a device, {@code major:minor}. */
  public List<Mount> onDevice(String device) {
    return mounts.stream().filter(mount -> mount.device().equals(device)).toList();
  }

  /**
   * Replaces the three octal digits by which the kernel, and mount(8), write blanks, tabs, newlines
   * and backslashes.
   */
  public static String unescape(String text) {
    if (text.indexOf('\\') < 0) {
      return text;
    }
    StringBuilder plain = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) == '\\' && i + 3 < text.length()) {
        plain.append((char) Integer.parseInt(text.substring(i + 1, i + 4), 8));
        i += 3;
      } else {
        plain.append(text.charAt(i));
      }
    }
    return plain.toString();
  }
}
