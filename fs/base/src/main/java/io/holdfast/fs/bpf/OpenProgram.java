package io.holdfast.fs.bpf;

import static io.holdfast.fs.bpf.Program.ARGUMENTS;
import static io.holdfast.fs.bpf.Program.INODE;
import static io.holdfast.fs.bpf.Program.OBJECT;
import static io.holdfast.fs.bpf.Program.RESULT;
import static io.holdfast.fs.bpf.Program.STACK;
import static io.holdfast.fs.bpf.Program.VALUE;
import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.bpf.Bpf.Hook;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A program in the kernel that writes each open of a regular file of one mount, by whatever thread
 * and way, to an {@link OpenRing}. It leaves out the opens of this process.
 *
 * <p>The kernel runs the program behind the function that asks its security modules whether a file
 * may be opened, which is called for every open on the machine. Opens that they refuse, and those
 * that only name a file (O_PATH), are not told.
 *
 * <p>The kernel numbers threads as its first pid namespace does, so the daemon has to be in that
 * one. Needs Linux 5.8. Immutable; thread-safe. Source: {@code Documentation/bpf/ringbuf.rst} of
 * Linux.
 */
public final class OpenProgram {
  /** The name that tools show for the program and its memory. */
  private static final String NAME = "holdfast_opens";

  private static final String FUNCTION = "security_file_open";

  private static final Path PID_NAMESPACE = Path.of("/proc/self/ns/pid");

  /** The number of the first one, which is the same on every machine: PROC_PID_INIT_INO. */
  private static final String FIRST_PID_NAMESPACE = "pid:[4026531836]";

  // functions of the kernel, BPF_FUNC_*
  private static final int GET_CURRENT_PID_TGID = 14;
  private static final int RINGBUF_OUTPUT = 130;

  // the arguments of the function and what it returns, 8 bytes each
  private static final int FILE = 0;
  private static final int RETURNED = 8;

  private final int function;
  private final FileOffsets offsets;
  private final int device;
  private final int ownProcess;

  private OpenProgram(int function, FileOffsets offsets, int device, int ownProcess) {
    this.function = function;
    this.offsets = offsets;
    this.device = device;
    this.ownProcess = ownProcess;
  }

  /** Makes a program for the mount whose filesystem has a device number. */
  static OpenProgram of(Btf btf, int device) throws FsException {
    requireFirstPidNamespace();
    int function = btf.function(FUNCTION);
    FileOffsets offsets = FileOffsets.of(btf, function);
    return new OpenProgram(function, offsets, device, (int) ProcessHandle.current().pid());
  }

  private static void requireFirstPidNamespace() throws FsException {
    try {
      if (Files.readSymbolicLink(PID_NAMESPACE).toString().equals(FIRST_PID_NAMESPACE)) {
        return;
      }
    } catch (IOException e) {
      throw new FsException(FsError.UNSUPPORTED, "no " + PID_NAMESPACE, e);
    }
    throw new FsException(
        FsError.UNSUPPORTED,
        "this process has a pid namespace of its own, and programs have the numbers of the first"
            + " one");
  }

  /**
   * Begins to write opens. To be called by the thread that reads the ring: its descriptors are that
   * thread's.
   *
   * @throws FsException if the kernel does not take the program, with the reason
   */
  public OpenRing begin() throws FsException {
    return OpenRing.create(
        NAME,
        (ring, lost) -> {
          int program = load(ring, lost);
          try {
            return Bpf.link(program);
          } finally {
            LIBC.close(program); // the link keeps it
          }
        });
  }

  /** Has the kernel check the program, and does not use it. */
  void check() throws FsException {
    OpenRing.create(NAME, this::load).close();
  }

  private int load(int ring, int lost) throws FsException {
    return Bpf.load(
        Hook.FEXIT, function, NAME, instructions(offsets, device, ownProcess, ring, lost));
  }

  /**
   * Returns the program's instructions, each as the kernel has it in eight bytes.
   *
   * @param ring the descriptor of the ring
   * @param lost the descriptor of the array whose first number counts what found no room
   */
  static long[] instructions(FileOffsets at, int device, int ownProcess, int ring, int lost) {
    Program program =
        new Program()
            .load64(VALUE, ARGUMENTS, RETURNED)
            .leaveUnlessEqual32(VALUE, 0)
            .load64(OBJECT, ARGUMENTS, FILE)
            .leaveUnlessOf(device, at, OBJECT, INODE)
            .call(GET_CURRENT_PID_TGID)
            .copy(VALUE, RESULT)
            .shiftRight64(VALUE, Integer.SIZE)
            .leaveIfEqual32(VALUE, ownProcess)
            .store64(STACK, OpenRing.THREAD - OpenRing.RECORD, RESULT)
            .load64(VALUE, INODE, at.number())
            .store64(STACK, OpenRing.INODE - OpenRing.RECORD, VALUE)
            .load64(VALUE, INODE, at.size())
            .store64(STACK, OpenRing.SIZE - OpenRing.RECORD, VALUE);
    return output(program, ring, lost);
  }

  /** Ends a program that has made a record on its stack. */
  static long[] output(Program program, int ring, int lost) {
    return program
        .map(1, ring)
        .copy(2, STACK)
        .add64(2, -OpenRing.RECORD)
        .set(3, OpenRing.RECORD)
        .set(4, 0)
        .call(RINGBUF_OUTPUT)
        .leaveIfEqual32(RESULT, 0)
        .memory(1, lost)
        .set(2, 1)
        .atomicAdd64(1, 2)
        .out(0);
  }
}
