package io.holdfast.fs.bpf;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.nio.charset.StandardCharsets;

/**
 * The system call bpf(2), as far as Holdfast needs it: it loads a program that runs in a function
 * of the kernel, and links the program to that function; and it makes memory that a program and
 * this process share. Stateless; thread-safe. Source: {@code linux/bpf.h}.
 */
final class Bpf {
  /** How a program gets into a function of the kernel. All have been there since Linux 5.7. */
  enum Hook {
    /** As a security module, where "bpf" is one of those. */
    LSM(29, 27, "lsm"),

    /** In front of a function, which it replaces where it returns an error. */
    FMOD_RET(26, 26, "fmod_ret"),

    /** Behind a function, with what that returns. */
    FEXIT(26, 25, "fexit");

    /** BPF_PROG_TYPE_*. */
    private final int program;

    /** The type of attachment, BPF_*. */
    private final int attachment;

    /** The kernel's word for it. */
    final String word;

    Hook(int program, int attachment, String word) {
      this.program = program;
      this.attachment = attachment;
      this.word = word;
    }
  }

  /** A kind of memory that a program and this process share. */
  enum Shared {
    /** Records of a program, in order; the first page is this process's, all others are read. */
    RING(27, 0, 0, 0),

    /** Numbers of 8 bytes. */
    ARRAY(2, Integer.BYTES, Long.BYTES, MMAPABLE);

    /** BPF_MAP_TYPE_*. */
    private final int type;

    private final int key;
    private final int value;
    private final int flags;

    Shared(int type, int key, int value, int flags) {
      this.type = type;
      this.key = key;
      this.value = value;
      this.flags = flags;
    }
  }

  private static final int MMAPABLE = 0x400;

  private static final int MAP_CREATE = 0;
  private static final int PROG_LOAD = 5;
  private static final int RAW_TRACEPOINT_OPEN = 17;

  /**
   * The attributes of MAP_CREATE: 0 type u32, 4 bytes of a key u32, 8 bytes of a value u32, 12
   * entries, or bytes of a ring, u32, 16 flags u32, 28 name, 16 bytes with a NUL.
   */
  private static final int MAP_ATTRIBUTES = 44;

  private static final int KEY = 4;
  private static final int VALUE = 8;
  private static final int ENTRIES = 12;
  private static final int FLAGS = 16;
  private static final int MAP_NAME = 28;

  /**
   * The attributes of PROG_LOAD: 0 type u32, 4 number of instructions u32, 8 instructions u64, 16
   * license u64, 24 log's level u32, 28 log's length u32, 32 log u64, 48 name, 16 bytes with a NUL,
   * 68 type of attachment u32, 108 number of the function u32.
   */
  private static final int ATTRIBUTES = 120;

  private static final int COUNT = 4;
  private static final int INSTRUCTIONS = 8;
  private static final int LICENSE = 16;
  private static final int LOG_LEVEL = 24;
  private static final int LOG_LENGTH = 28;
  private static final int LOG = 32;
  private static final int NAME = 48;
  private static final int ATTACHMENT = 68;
  private static final int FUNCTION = 108;

  /** The attributes of RAW_TRACEPOINT_OPEN: 0 name u64, which is none here, 8 program u32. */
  private static final int LINK_ATTRIBUTES = 16;

  private static final int LINKED = 8;

  /**
   * The kernel shows its structures only to programs that say that they are free to be used under
   * its own license.
   */
  private static final String FREE = "Dual MIT/GPL";

  /** Where the parts of a call begin in the scratch memory. */
  private static final int PROGRAM_AT = 128;

  private static final int LICENSE_AT = 4096;
  private static final int LOG_AT = 4224;
  private static final int LOG_BYTES = 60 << 10;

  private static final int EPERM = 1;

  private Bpf() {}

  /**
   * Makes memory that programs can use.
   *
   * @param entries the numbers of an array, or the bytes of a ring: a power of 2, and whole pages
   * @param name up to 15 letters, which tools show
   * @return a descriptor, which is closed in programs that this process becomes
   */
  static int share(Shared kind, int entries, String name) throws FsException {
    long area = Linux.scratch().area();
    Memory.clear(area, MAP_ATTRIBUTES);
    Memory.putInt(area, kind.type);
    Memory.putInt(area + KEY, kind.key);
    Memory.putInt(area + VALUE, kind.value);
    Memory.putInt(area + ENTRIES, entries);
    Memory.putInt(area + FLAGS, kind.flags);
    Memory.putString(area + MAP_NAME, name.getBytes(StandardCharsets.US_ASCII));
    int made = call(MAP_CREATE, area, MAP_ATTRIBUTES);
    if (made < 0) {
      throw Linux.failure(-made, "bpf(2) does not make memory for a program");
    }
    return made;
  }

  /**
   * Loads a program; the kernel checks it first.
   *
   * @param function the number of the function of the kernel that it is for, from its BTF
   * @param name up to 15 letters, which tools show
   * @param program at most 400 instructions
   * @return a descriptor, which is closed in programs that this process becomes
   * @throws FsException if the kernel does not take it, with what it says
   */
  static int load(Hook hook, int function, String name, long[] program) throws FsException {
    int made = load(hook, function, name, program, false);
    if (made >= 0) {
      return made;
    }
    if (made != -EPERM) {
      made = load(hook, function, name, program, true);
    }
    if (made >= 0) {
      return made;
    }
    throw new FsException(
        Linux.code(-made),
        "bpf(2) does not load a program: "
            + Linux.describe(-made)
            + (made == -EPERM ? "" : said()));
  }

  /** Returns a descriptor, or a negative errno. */
  private static int load(Hook hook, int function, String name, long[] program, boolean logged)
      throws FsException {
    long area = Linux.scratch().area();
    Memory.clear(area, ATTRIBUTES);
    Memory.putInt(area, hook.program);
    Memory.putInt(area + COUNT, program.length);
    Memory.putLong(area + INSTRUCTIONS, area + PROGRAM_AT);
    for (int i = 0; i < program.length; i++) {
      Memory.putLong(area + PROGRAM_AT + (long) i * Long.BYTES, program[i]);
    }
    Memory.putString(area + LICENSE_AT, FREE.getBytes(StandardCharsets.US_ASCII));
    Memory.putLong(area + LICENSE, area + LICENSE_AT);
    Memory.putString(area + NAME, name.getBytes(StandardCharsets.US_ASCII));
    Memory.putInt(area + ATTACHMENT, hook.attachment);
    Memory.putInt(area + FUNCTION, function);
    if (logged) {
      Memory.putInt(area + LOG_LEVEL, 1);
      Memory.putInt(area + LOG_LENGTH, LOG_BYTES);
      Memory.putLong(area + LOG, area + LOG_AT);
      Memory.putByte(area + LOG_AT, 0);
    }
    return call(PROG_LOAD, area, ATTRIBUTES);
  }

  /** Returns the last line of the kernel's log of a load, with a colon before it. */
  private static String said() {
    byte[] log = Memory.string(Linux.scratch().area() + LOG_AT);
    return new String(log, StandardCharsets.UTF_8)
        .lines()
        .filter(line -> !line.isBlank() && !line.startsWith("processed "))
        .reduce((before, last) -> last)
        .map(line -> ": " + line.strip())
        .orElse("");
  }

  /**
   * Has the kernel run a program in the function that it was loaded for, as long as the link is
   * open.
   *
   * @return the link's descriptor, which is closed in programs that this process becomes
   */
  static int link(int program) throws FsException {
    long area = Linux.scratch().area();
    Memory.clear(area, LINK_ATTRIBUTES);
    Memory.putInt(area + LINKED, program);
    int made = call(RAW_TRACEPOINT_OPEN, area, LINK_ATTRIBUTES);
    if (made < 0) {
      throw Linux.failure(-made, "bpf(2) does not link a program");
    }
    return made;
  }

  private static int call(int command, long attributes, int length) throws FsException {
    long result = LIBC.syscall(number(), command, attributes, length, 0);
    return result < 0 ? -Linux.errno() : (int) result;
  }

  private static int number() throws FsException {
    return switch (System.getProperty("os.arch")) {
      case "amd64" -> 321;
      case "aarch64" -> 280;
      default ->
          throw new FsException(FsError.UNSUPPORTED, "bpf(2) is not known on this processor");
    };
  }
}
