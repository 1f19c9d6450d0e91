package io.holdfast.fs.mount.jnr;

/** The kernel's names of the operations that may reach a read-only mount, with their numbers. */
enum Opcode {
  LOOKUP(1),
  FORGET(2),
  GETATTR(3),
  READLINK(5),
  UNLINK(10),
  OPEN(14),
  READ(15),
  STATFS(17),
  RELEASE(18),
  GETXATTR(22),
  LISTXATTR(23),
  FLUSH(25),
  INIT(26),
  OPENDIR(27),
  READDIR(28),
  RELEASEDIR(29),
  GETLK(31),
  SETLK(32),
  ACCESS(34),
  INTERRUPT(36),
  BMAP(37),
  DESTROY(38),
  IOCTL(39),
  POLL(40),
  BATCH_FORGET(42),
  LSEEK(46);

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

  int code() {
    return code;
  }

  /** Returns the name of a number, {@code OTHER} for one that is not expected. */
  static String nameOf(int code) {
    return code >= 0 && code < MOST && BY_CODE[code] != null ? BY_CODE[code].name() : "OTHER";
  }

  /** Tells whether no reply is expected. */
  static boolean isForget(int code) {
    return code == FORGET.code || code == BATCH_FORGET.code;
  }
}
