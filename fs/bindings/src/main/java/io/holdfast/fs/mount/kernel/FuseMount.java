package io.holdfast.fs.mount.kernel;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;

/** The system calls that mount and unmount. Stateless. */
public final class FuseMount {
  private static final String TYPE = "fuse.holdfast";
  private static final long MS_NOSUID = 2;
  private static final long MS_NODEV = 4;
  private static final int MNT_DETACH = 2;

  private FuseMount() {}

  /**
   * Mounts. The kernel decides about rights by owners and modes.
   *
   * @param fd /dev/fuse, open
   * @param source what the mount table shows as the source
   * @param flags of mount(2), besides those that no mount here is without
   * @param allowOther whether other users may use the mount
   */
  public static void mount(int fd, String source, Path mountpoint, long flags, boolean allowOther)
      throws FsException {
    String data =
        "fd=%d,rootmode=40000,user_id=0,group_id=0,default_permissions%s"
            .formatted(fd, allowOther ? ",allow_other" : "");
    byte[][] texts = {
      Linux.pathBytes(source),
      Linux.pathBytes(mountpoint.toString()),
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
      long all = flags | MS_NOSUID | MS_NODEV;
      if (LIBC.mount(addresses[0], addresses[1], addresses[2], all, addresses[3]) != 0) {
        throw Linux.failure(Linux.errno(), "mounting at " + mountpoint);
      }
    } finally {
      LIBC.free(memory);
    }
  }

  /**
   * Unmounts.
   *
   * @param detach whether also while files are open; they stay usable then
   * @return 0 or an errno
   */
  public static int unmount(Path mountpoint, boolean detach) {
    long path = Linux.scratch().path();
    Memory.putString(path, Linux.pathBytes(mountpoint.toString()));
    return LIBC.umount2(path, detach ? MNT_DETACH : 0) == 0 ? 0 : Linux.errno();
  }
}
