package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;

/**
 * The handle that the kernel gives a file of a FUSE mount: it has the number by which the daemon
 * knows the file.
 *
 * <pre>
 * struct file_handle: 0 handle_bytes u32, 4 handle_type s32, 8 upper half of the node's number u32,
 *                     12 lower half u32, 16 generation u32
 * </pre>
 */
public final class FuseHandle {
  private static final int TYPE = 4;
  private static final int UPPER = 8;
  private static final int LOWER = 12;
  private static final int MOUNT_ID = 20;

  /** FILEID_INO64_GEN, which FUSE has used since 2.6.27. */
  private static final int INO64_GEN = 0x81;

  private static final int INO64_GEN_BYTES = 12;

  private FuseHandle() {}

  /** Returns the node of an open file of a FUSE mount; 0 if the file has no such handle. */
  public static long node(int fd) {
    long path = Linux.scratch().path();
    Memory.putByte(path, 0);
    long handle = Linux.scratch().area();
    Memory.putInt(handle, INO64_GEN_BYTES);
    int flags = Linux.AT_EMPTY_PATH;
    boolean known =
        LIBC.name_to_handle_at(fd, path, handle, handle + MOUNT_ID, flags) == 0
            && Memory.getInt(handle + TYPE) == INO64_GEN;
    return known
        ? (long) Memory.getInt(handle + UPPER) << Integer.SIZE
            | Integer.toUnsignedLong(Memory.getInt(handle + LOWER))
        : 0;
  }
}
