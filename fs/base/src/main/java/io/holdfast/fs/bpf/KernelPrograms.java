package io.holdfast.fs.bpf;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Procfs;

/**
 * Makes the programs of a mount. Where the members of the kernel's structures are is read from the
 * running kernel's BTF, and the kernel checks the programs against the same BTF before it takes
 * them. Needs the rights to load programs. Immutable; thread-safe.
 */
public final class KernelPrograms {
  private static final int CAP_SYS_ADMIN = 21;
  private static final int CAP_PERFMON = 38;
  private static final int CAP_BPF = 39;

  /** No filesystem has it. */
  private static final int NO_DEVICE = 0;

  private final Btf btf;

  private KernelPrograms(Btf btf) {
    this.btf = btf;
  }

  /**
   * Reads what the kernel tells of itself, which takes a tenth of a second.
   *
   * @throws FsException if this process may not load programs, or the kernel tells nothing
   */
  public static KernelPrograms prepare() throws FsException {
    requireRights();
    return new KernelPrograms(Btf.read(Btf.OF_KERNEL));
  }

  private static void requireRights() throws FsException {
    Procfs procfs = Procfs.host();
    boolean all = procfs.hasCapability(CAP_SYS_ADMIN, true);
    if (!all && !(procfs.hasCapability(CAP_BPF, true) && procfs.hasCapability(CAP_PERFMON, true))) {
      throw new FsException(
          FsError.NOT_PERMITTED, "needs CAP_SYS_ADMIN, or CAP_BPF and CAP_PERFMON");
    }
  }

  /**
   * Begins to answer for a mount.
   *
   * @param device the number of its filesystem, as in {@code /proc/self/mountinfo}: {@code
   *     major:minor}
   * @throws FsException if the kernel does not take the program, with the reason
   */
  public TerminalAnswer answer(String device) throws FsException {
    return TerminalAnswer.load(btf, number(device), true);
  }

  /**
   * Finds out whether the kernel would take a program that answers, by loading one that is not
   * used.
   *
   * @return the way in which it would be used
   * @throws FsException with the reason, if it does not
   */
  public String checkAnswer() throws FsException {
    try (TerminalAnswer loaded = TerminalAnswer.load(btf, NO_DEVICE, false)) {
      return loaded.way();
    }
  }

  /**
   * Makes the program that tells the opens of a mount's files; it is not loaded yet.
   *
   * @param device as for {@link #answer}
   * @throws FsException if this process cannot use one, with the reason
   */
  public OpenProgram opens(String device) throws FsException {
    return OpenProgram.of(btf, number(device));
  }

  /**
   * Finds out whether the kernel would take a program that tells opens, by loading one that is not
   * used.
   *
   * @throws FsException with the reason, if it does not
   */
  public void checkOpens() throws FsException {
    OpenProgram.of(btf, NO_DEVICE).check();
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
}
