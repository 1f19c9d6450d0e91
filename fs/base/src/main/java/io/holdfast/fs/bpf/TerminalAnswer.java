package io.holdfast.fs.bpf;

import static io.holdfast.fs.bpf.Program.ARGUMENTS;
import static io.holdfast.fs.bpf.Program.OBJECT;
import static io.holdfast.fs.bpf.Program.VALUE;
import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsException;
import io.holdfast.fs.bpf.Bpf.Hook;
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
 * <p>Needs Linux 5.7. Thread-safe. Source: {@code Documentation/bpf/prog_lsm.rst}.
 */
public final class TerminalAnswer implements AutoCloseable {
  /** The name that tools show for the program. */
  private static final String NAME = "holdfast_tcgets";

  private static final Path SECURITY_MODULES = Path.of("/sys/kernel/security/lsm");

  /** The request for a terminal's settings. */
  static final int TCGETS = 0x5401;

  /** The same for newer C libraries. */
  static final int TCGETS2 = 0x802C542A;

  private static final int ENOTTY = 25;

  // the arguments of the function, 8 bytes each
  private static final int FILE = 0;
  private static final int REQUEST = 8;

  private final Hook hook;

  /** The link, or the program that is not linked; -1 once it is closed. */
  private int descriptor;

  private TerminalAnswer(Hook hook, int descriptor) {
    this.hook = hook;
    this.descriptor = descriptor;
  }

  /** Returns how the kernel comes to the program, in a word. */
  public String way() {
    return hook.word;
  }

  /**
   * Loads the program in the first way that the kernel takes.
   *
   * @param device the number of the mount's filesystem
   * @param linked whether it begins to answer, too
   * @throws FsException if this process may not, or the kernel cannot, with the reason
   */
  static TerminalAnswer load(Btf btf, int device, boolean linked) throws FsException {
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
    int program = Bpf.load(hook, function, NAME, program(FileOffsets.of(btf, function), device));
    if (!linked) {
      return program;
    }
    try {
      return Bpf.link(program);
    } finally {
      LIBC.close(program); // the link keeps it
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
  static long[] program(FileOffsets at, int device) {
    return new Program()
        .load64(VALUE, ARGUMENTS, REQUEST)
        .skipIfEqual32(VALUE, TCGETS, 1)
        .leaveUnlessEqual32(VALUE, TCGETS2)
        .load64(OBJECT, ARGUMENTS, FILE)
        .leaveUnlessOf(device, at, OBJECT, OBJECT)
        .exit(-ENOTTY)
        .out(0);
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
