package io.holdfast.fs.origin.posix;

import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.linux.MountTable.Mount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The filesystems on this machine; any other may wait for a server, or for a process, without a
 * bound. Stateless.
 */
final class LocalFilesystems {
  private static final Logger log = LoggerFactory.getLogger(LocalFilesystems.class);

  /** By f_type of statfs. */
  private static final Set<Integer> TYPES =
      Set.of(
          0xEF53, // ext2, ext3, ext4
          0x58465342, // xfs
          0x9123683E, // btrfs
          0x01021994, // tmpfs
          0x858458F6, // ramfs
          0x794C7630, // overlayfs
          0x2FC12FC1, // zfs
          0xF2F52010, // f2fs
          0xCA451A4E, // bcachefs
          0x4D44, // vfat
          0x2011BAB0, // exfat
          0x73717368, // squashfs
          0xE0F5E1E2, // erofs
          0x9660); // iso9660

  private LocalFilesystems() {}

  /** Tells whether a filesystem is on this machine, by the f_type of its statfs. */
  static boolean contain(int type) {
    return TYPES.contains(type);
  }

  /**
   * Tells whether all filesystems that are mounted below an open directory are on this machine. No
   * call touches them. Without a mount table, one of them may not be.
   */
  static boolean areAllBelow(int fd) {
    try {
      Path directory = Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd));
      return others(MountTable.read().below(directory)).isEmpty();
    } catch (IOException e) {
      log.debug("no mount table: the dataset counts as one that may hang", e);
      return false;
    }
  }

  /** Logs that a device is another machine's or a process's, if it is. */
  static void warnOfOther(long device) {
    try {
      for (Mount mount : others(MountTable.read().onDevice(Statx.deviceName(device)))) {
        log.warn(
            "{} ({}) was mounted after the dataset, and may hang, with requests that need it; fix:"
                + " 'holdfast restart'",
            mount.mountpoint(),
            mount.type());
      }
    } catch (IOException e) {
      log.debug("no mount table to look the new file system up", e);
    }
  }

  /** Returns the mounts that may wait for another machine or a process. */
  static List<Mount> others(List<Mount> mounts) {
    return mounts.stream().filter(Mount::mayHang).toList();
  }
}
