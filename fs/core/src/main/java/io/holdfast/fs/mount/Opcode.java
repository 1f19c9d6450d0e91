package io.holdfast.fs.mount;

import org.jspecify.annotations.Nullable;

/** The kernel's names of the operations that may reach a read-only mount, with their numbers. */
public enum Opcode {
  LOOKUP(1),
  FORGET(2),
  GETATTR(3),
  READLINK(5),
  SETATTR(4),
  SYMLINK(6),
  MKNOD(8),
  MKDIR(9),
  UNLINK(10),
  RMDIR(11),
  RENAME(12),
  LINK(13),
  OPEN(14),
  READ(15),
  WRITE(16),
  STATFS(17),
  RELEASE(18),
  FSYNC(20),
  SETXATTR(21),
  GETXATTR(22),
  LISTXATTR(23),
  REMOVEXATTR(24),
  FLUSH(25),
  INIT(26),
  OPENDIR(27),
  READDIR(28),
  RELEASEDIR(29),
  FSYNCDIR(30),
  GETLK(31),
  SETLK(32),
  SETLKW(33),
  ACCESS(34),
  CREATE(35),
  INTERRUPT(36),
  BMAP(37),
  DESTROY(38),
  IOCTL(39),
  POLL(40),
  BATCH_FORGET(42),
  READDIRPLUS(44),
  FALLOCATE(43),
  RENAME2(45),
  LSEEK(46),
  COPY_FILE_RANGE(47),
  STATX(52),
  TMPFILE(51);

  private static final int MOST = 64;
  private static final Opcode[] BY_CODE = new Opcode[MOST];

  static {
    for (Opcode opcode : values()) {
      BY_CODE[opcode.code] = opcode;
    }
  }

  private final int code;

  Opcode(int code) {
    this.code = code;
  }

  public int code() {
    return code;
  }

  /** Returns the name of an operation's number, or {@code OTHER}. */
  public static String nameOf(int code) {
    return code >= 0 && code < MOST && BY_CODE[code] != null ? BY_CODE[code].name() : "OTHER";
  }

  /** Returns the operation of a number, or null if the number is not known. */
  public static @Nullable Opcode of(int code) {
    return code >= 0 && code < MOST ? BY_CODE[code] : null;
  }

  /** Tells whether the kernel expects no reply. */
  public static boolean isForget(int code) {
    return code == FORGET.code || code == BATCH_FORGET.code;
  }
}
