package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;

import java.util.Optional;

/**
 * A filter of system calls (seccomp) under which no descriptor but the standard ones is a terminal:
 * the kernel answers TCGETS on it with ENOTTY itself. Python before 3.14 asks that for each file
 * that {@code open(path, 'rb')} opens, and the kernel would pass the question on to the mount.
 * Stateless. Source: seccomp(2), and {@code linux/filter.h} for the instructions.
 */
public final class SystemCallFilter {
  /** A processor that the filter knows. */
  enum Architecture {
    X86_64(0xC000003E, 16, 317),
    AARCH64(0xC00000B7, 29, 277);

    /** As AUDIT_ARCH_* has it. */
    final int audit;

    final int ioctl;
    final int seccomp;

    Architecture(int audit, int ioctl, int seccomp) {
      this.audit = audit;
      this.ioctl = ioctl;
      this.seccomp = seccomp;
    }

    /** The one that this Java runs on, if the filter knows it. */
    static Optional<Architecture> own() {
      return switch (System.getProperty("os.arch")) {
        case "amd64" -> Optional.of(X86_64);
        case "aarch64" -> Optional.of(AARCH64);
        default -> Optional.empty();
      };
    }
  }

  /** The first descriptor that the filter is for: those below are input and outputs. */
  static final int FIRST = 3;

  /** The request for a terminal's settings. */
  static final int TCGETS = 0x5401;

  /** The same for newer C libraries. */
  static final int TCGETS2 = 0x802C542A;

  static final int ALLOW = 0x7FFF0000;

  /** The call fails with ENOTTY. */
  static final int NO_TERMINAL = 0x00050000 | 25;

  /** Offsets in the {@code seccomp_data} that a filter looks at; a value's lower half is first. */
  private static final int NUMBER = 0;

  private static final int ARCHITECTURE = 4;
  private static final int DESCRIPTOR = 16;
  private static final int REQUEST = 24;

  private static final int LOAD = 0x20;
  private static final int IF_EQUAL = 0x15;
  private static final int IF_AT_LEAST = 0x35;
  private static final int RETURN = 0x06;

  private static final int SECCOMP_SET_MODE_FILTER = 1;

  /** Kernels before 5.16 would otherwise slow the program down for Spectre's sake. */
  private static final int SECCOMP_FILTER_FLAG_SPEC_ALLOW = 4;

  private static final int PR_SET_NO_NEW_PRIVS = 38;
  private static final int EACCES = 13;
  private static final int ENOSYS = 38;

  private SystemCallFilter() {}

  /**
   * Puts the calling thread, and the program that it becomes, under the filter for good. Without
   * CAP_SYS_ADMIN the kernel takes a filter only of those who give up the rights of set-user-ID
   * programs, which is then done too.
   *
   * @return 0, or the error number with which the kernel refused; then there is no filter, though
   *     the rights may have been given up
   */
  public static int install() {
    Optional<Architecture> own = Architecture.own();
    if (own.isEmpty()) {
      return ENOSYS;
    }
    int error = install(own.get());
    if (error == EACCES && LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
      error = install(own.get());
    }
    return error;
  }

  private static int install(Architecture own) {
    long[] program = program(own);
    long header = Linux.scratch().area();
    long instructions = header + 2 * Long.BYTES;
    Memory.putLong(header, program.length);
    Memory.putLong(header + Long.BYTES, instructions);
    for (int i = 0; i < program.length; i++) {
      Memory.putLong(instructions + (long) i * Long.BYTES, program[i]);
    }
    long result =
        LIBC.syscall(
            own.seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, header, 0);
    return result == 0 ? 0 : Linux.errno();
  }

  /** Returns the filter's instructions, each as the kernel has it in eight bytes. */
  static long[] program(Architecture architecture) {
    return new long[] {
      instruction(LOAD, 0, 0, ARCHITECTURE),
      instruction(IF_EQUAL, 0, 8, architecture.audit),
      instruction(LOAD, 0, 0, NUMBER),
      instruction(IF_EQUAL, 0, 6, architecture.ioctl),
      instruction(LOAD, 0, 0, REQUEST),
      instruction(IF_EQUAL, 1, 0, TCGETS),
      instruction(IF_EQUAL, 0, 3, TCGETS2),
      instruction(LOAD, 0, 0, DESCRIPTOR),
      instruction(IF_AT_LEAST, 0, 1, FIRST),
      instruction(RETURN, 0, 0, NO_TERMINAL),
      instruction(RETURN, 0, 0, ALLOW),
    };
  }

  /** Jumps are counted from the next instruction. */
  private static long instruction(int code, int ifTrue, int ifFalse, int value) {
    return code | (long) ifTrue << 16 | (long) ifFalse << 24 | (long) value << 32;
  }
}
