package io.holdfast.fs.bpf;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.bpf.Bpf.Hook;
import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A program in the kernel that answers, for the files of one mount, that they are no terminals.
 * Python before 3.14 asks that (TCGETS) for each file that {@code open(path, 'rb')} opens, and the
 * kernel would pass each question on to the daemon. The program works as long as this object is
 * open, and this process lives.
 *
 * <p>The kernel runs the program before every ioctl on the machine. The program answers only if all
 * of these hold, and leaves everything else as it is:
 *
 * <ul>
 *   <li>The request is TCGETS or TCGETS2.
 *   <li>The file is a regular one. No terminal is one, whatever filesystem it is on.
 *   <li>The file's filesystem has the mount's device number, and is a FUSE. The kernel gives the
 *       number to another filesystem some time after the mount has gone. If that happens while the
 *       program still works, the answer is still the true one.
 * </ul>
 *
 * <p>Where the members of the kernel's structures are is read from the running kernel's BTF, and
 * the kernel checks the program against the same BTF before it takes it. Needs Linux 5.7 and the
 * rights to load programs. Thread-safe. Source: {@code Documentation/bpf/prog_lsm.rst}, and {@code
 * Documentation/bpf/standardization/instruction-set.rst} for the instructions.
 */
public final class TerminalAnswer implements AutoCloseable {
  /** The name that tools show for the program. */
  private static final String NAME = "holdfast_tcgets";

  /** No filesystem has it. */
  private static final int NO_DEVICE = 0;

  private static final Path SECURITY_MODULES = Path.of("/sys/kernel/security/lsm");

  private static final int CAP_SYS_ADMIN = 21;
  private static final int CAP_PERFMON = 38;
  private static final int CAP_BPF = 39;

  /** The request for a terminal's settings. */
  static final int TCGETS = 0x5401;

  /** The same for newer C libraries. */
  static final int TCGETS2 = 0x802C542A;

  /** The number in the superblock of each FUSE. */
  static final int FUSE_SUPER_MAGIC = 0x65735546;

  private static final int S_IFMT = 0xF000;
  private static final int S_IFREG = 0x8000;
  private static final int ENOTTY = 25;

  // codes of instructions
  private static final int LOAD_16 = 0x69;
  private static final int LOAD_32 = 0x61;
  private static final int LOAD_64 = 0x79;
  private static final int AND_32 = 0x54;
  private static final int SET = 0xB7;
  private static final int JUMP_IF_EQUAL_32 = 0x16;
  private static final int JUMP_IF_OTHER_32 = 0x56;
  private static final int EXIT = 0x95;

  // registers
  private static final int RESULT = 0;
  private static final int ARGUMENTS = 1;
  private static final int OBJECT = 2;
  private static final int VALUE = 3;

  // the arguments of the function, 8 bytes each
  private static final int FILE = 0;
  private static final int REQUEST = 8;

  /**
   * Where the program finds what it compares: offsets in bytes from the beginning of the structure.
   *
   * @param inode of the pointer to the inode, in a file
   * @param mode of the mode, in an inode
   * @param superblock of the pointer to the superblock, in an inode
   * @param device of the device number, in a superblock
   * @param magic of the filesystem's number, in a superblock
   */
  record Offsets(int inode, int mode, int superblock, int device, int magic) {
    /** Reads the offsets of the structures that a function gets. */
    static Offsets of(Btf btf, int function) throws FsException {
      int file = btf.pointee(btf.parameter(function, 0));
      Btf.Member toInode = btf.member(file, "f_inode", Long.BYTES);
      int inode = btf.pointee(toInode.type());
      Btf.Member toSuperblock = btf.member(inode, "i_sb", Long.BYTES);
      int superblock = btf.pointee(toSuperblock.type());
      return new Offsets(
          toInode.offset(),
          btf.member(inode, "i_mode", Short.BYTES).offset(),
          toSuperblock.offset(),
          btf.member(superblock, "s_dev", Integer.BYTES).offset(),
          btf.member(superblock, "s_magic", Long.BYTES).offset());
    }
  }

  private final Hook hook;

  /** The link, or the program that is not linked; -1 once it is closed. */
  private int descriptor;

  private TerminalAnswer(Hook hook, int descriptor) {
    this.hook = hook;
    this.descriptor = descriptor;
  }

  /**
   * Begins to answer for a mount.
   *
   * @param device the number of its filesystem, as in {@code /proc/self/mountinfo}: {@code
   *     major:minor}
   * @throws FsException if this process may not, or the kernel cannot, with the reason
   */
  public static TerminalAnswer begin(String device) throws FsException {
    return load(number(device), true);
  }

  /**
   * Finds out whether the kernel would take such a program, by loading one that is not used.
   *
   * @return the way in which it would be used
   * @throws FsException with the reason, if it does not
   */
  public static String check() throws FsException {
    try (TerminalAnswer loaded = load(NO_DEVICE, false)) {
      return loaded.way();
    }
  }

  /** Returns how the kernel comes to the program, in a word. */
  public String way() {
    return hook.word;
  }

  private static TerminalAnswer load(int device, boolean linked) throws FsException {
    requireRights();
    Btf btf = Btf.read(Btf.OF_KERNEL);
    List<Hook> hooks = new ArrayList<>();
    if (isSecurityModule()) {
      hooks.add(Hook.LSM);
    }
    hooks.add(Hook.FMOD_RET);
    FsException failure = null;
    for (Hook hook : hooks) {
      try {
        return new TerminalAnswer(hook, load(btf, hook, device, linked));
      } catch (FsException e) {
        if (failure != null) {
          e.addSuppressed(failure);
        }
        failure = e;
      }
    }
    throw failure;
  }

  /** Returns the descriptor of the link, or of the program if it is not to be linked. */
  private static int load(Btf btf, Hook hook, int device, boolean linked) throws FsException {
    int function = btf.function(hook == Hook.LSM ? "bpf_lsm_file_ioctl" : "security_file_ioctl");
    int program = Bpf.load(hook, function, NAME, program(Offsets.of(btf, function), device));
    if (!linked) {
      return program;
    }
    try {
      return Bpf.link(program);
    } finally {
      LIBC.close(program); // the link keeps it
    }
  }

  /** Returns the kernel's own form of a number such as {@code 0:45}. */
  static int number(String device) throws FsException {
    String[] numbers = device.split(":", -1);
    try {
      if (numbers.length == 2) {
        int major = Integer.parseUnsignedInt(numbers[0]);
        int minor = Integer.parseUnsignedInt(numbers[1]);
        if (major >>> 12 == 0 && minor >>> 20 == 0 && (major | minor) != 0) {
          return major << 20 | minor;
        }
      }
    } catch (NumberFormatException e) {
      throw new FsException(FsError.INVALID, "no device number: " + device, e);
    }
    throw new FsException(FsError.INVALID, "no device number: " + device);
  }

  private static void requireRights() throws FsException {
    Procfs procfs = Procfs.host();
    boolean all = procfs.hasCapability(CAP_SYS_ADMIN, true);
    if (!all && !(procfs.hasCapability(CAP_BPF, true) && procfs.hasCapability(CAP_PERFMON, true))) {
      throw new FsException(
          FsError.NOT_PERMITTED, "needs CAP_SYS_ADMIN, or CAP_BPF and CAP_PERFMON");
    }
  }

  /** Tells whether programs can be a security module: else the kernel takes and never runs them. */
  private static boolean isSecurityModule() {
    try {
      return List.of(Files.readString(SECURITY_MODULES).strip().split(",", -1)).contains("bpf");
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns the program's instructions, each as the kernel has it in eight bytes. */
  static long[] program(Offsets at, int device) {
    return new long[] {
      instruction(LOAD_64, VALUE, ARGUMENTS, REQUEST, 0),
      instruction(JUMP_IF_EQUAL_32, VALUE, 0, 1, TCGETS),
      instruction(JUMP_IF_OTHER_32, VALUE, 0, 12, TCGETS2),
      instruction(LOAD_64, OBJECT, ARGUMENTS, FILE, 0),
      instruction(LOAD_64, OBJECT, OBJECT, at.inode, 0),
      instruction(LOAD_16, VALUE, OBJECT, at.mode, 0),
      instruction(AND_32, VALUE, 0, 0, S_IFMT),
      instruction(JUMP_IF_OTHER_32, VALUE, 0, 7, S_IFREG),
      instruction(LOAD_64, OBJECT, OBJECT, at.superblock, 0),
      instruction(LOAD_32, VALUE, OBJECT, at.device, 0),
      instruction(JUMP_IF_OTHER_32, VALUE, 0, 4, device),
      instruction(LOAD_64, VALUE, OBJECT, at.magic, 0),
      instruction(JUMP_IF_OTHER_32, VALUE, 0, 2, FUSE_SUPER_MAGIC),
      instruction(SET, RESULT, 0, 0, -ENOTTY),
      instruction(EXIT, 0, 0, 0, 0),
      instruction(SET, RESULT, 0, 0, 0),
      instruction(EXIT, 0, 0, 0, 0),
    };
  }

  /** Jumps are counted from the next instruction. */
  private static long instruction(int code, int to, int from, int offset, int value) {
    return code
        | (long) to << 8
        | (long) from << 12
        | (offset & 0xffffL) << 16
        | (long) value << 32;
  }

  /** Ends the answers at once; the kernel passes the questions on again. */
  @Override
  public synchronized void close() {
    if (descriptor >= 0) {
      LIBC.close(descriptor);
      descriptor = -1;
    }
  }
}
