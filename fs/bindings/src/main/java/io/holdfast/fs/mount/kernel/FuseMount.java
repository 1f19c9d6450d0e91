package io.holdfast.fs.mount.kernel;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.MountId;
import io.holdfast.fs.linux.MountTable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** The system call that mounts. Stateless. */
public final class FuseMount {
  private static final String TYPE = "fuse.holdfast";
  private static final long MS_NOSUID = 2;
  private static final long MS_NODEV = 4;

  /** A directory above the mountpoint may be renamed between two looks; hardly so many times. */
  private static final int LOOKS = 10;

  private FuseMount() {}

  /**
   * Mounts. The kernel decides about rights by owners and modes.
   *
   * @param fd /dev/fuse, open
   * @param source what the mount table shows as the source
   * @param mountpoint without a symlink: it was checked by this name, and a user may have put a
   *     symlink in the place of a directory since, which is not followed
   * @param flags of mount(2), besides those that no mount here is without
   * @param allowOther whether other users may use the mount
   * @return the identity of the new mount
   */
  public static MountId mount(
      int fd, String source, Path mountpoint, long flags, boolean allowOther) throws FsException {
    int place = Linux.openDirectory(mountpoint);
    if (place < 0) {
      throw Linux.failure(-place, "mounting at " + mountpoint);
    }
    try {
      String data =
          "fd=%d,rootmode=40000,user_id=0,group_id=0,default_permissions%s"
              .formatted(fd, allowOther ? ",allow_other" : "");
      int errno = mount(source, Linux.descriptorPath(place), flags | MS_NOSUID | MS_NODEV, data);
      if (errno != 0) {
        throw Linux.failure(errno, "mounting at " + mountpoint);
      }
      return find(place, mountpoint);
    } finally {
      LIBC.close(place);
    }
  }

  /** Returns 0 or an errno. */
  private static int mount(String source, String place, long flags, String data) {
    byte[][] texts = {
      Linux.pathBytes(source),
      Linux.pathBytes(place),
      TYPE.getBytes(StandardCharsets.UTF_8),
      data.getBytes(StandardCharsets.UTF_8)
    };
    long[] addresses = new long[texts.length];
    long memory = LIBC.malloc(Arrays.stream(texts).mapToLong(text -> text.length + 1L).sum());
    try {
      long next = memory;
      for (int i = 0; i < texts.length; i++) {
        addresses[i] = next;
        Memory.putString(next, texts[i]);
        next += texts[i].length + 1;
      }
      return LIBC.mount(addresses[0], addresses[1], addresses[2], flags, addresses[3]) == 0
          ? 0
          : Linux.errno();
    } finally {
      LIBC.free(memory);
    }
  }

  /** Finds the new mount where its directory is by now. */
  private static MountId find(int place, Path mountpoint) throws FsException {
    for (int look = 1; ; look++) {
      try {
        return MountTable.ownAt(Files.readSymbolicLink(Path.of(Linux.descriptorPath(place))));
      } catch (FsException e) {
        if (look == LOOKS) {
          throw e;
        }
      } catch (IOException e) {
        throw new FsException(FsError.IO, mountpoint + ": " + e.getMessage(), e);
      }
    }
  }
}
