package io.holdfast.fs.bpf;

import java.util.Arrays;
import java.util.BitSet;

/**
 * Assembles a program of the kernel's virtual machine (BPF). A program asks one question after the
 * other, and where an answer is not the wanted one, it leaves: it goes on at the place that {@link
 * #out} ends it with. Not thread-safe. Source: {@code
 * Documentation/bpf/standardization/instruction-set.rst} of Linux.
 */
final class Program {
  // registers; the kernel's functions take their arguments in 1 to 5, and keep 6 and above
  static final int RESULT = 0;
  static final int ARGUMENTS = 1;
  static final int OBJECT = 2;
  static final int VALUE = 3;
  static final int INODE = 6;
  static final int STACK = 10;

  // codes of instructions
  private static final int LOAD_16 = 0x69;
  private static final int LOAD_32 = 0x61;
  private static final int LOAD_64 = 0x79;
  private static final int STORE_64 = 0x7B;
  private static final int ATOMIC_ADD_64 = 0xDB;
  private static final int AND_32 = 0x54;
  private static final int ADD_64 = 0x07;
  private static final int SHIFT_RIGHT_64 = 0x77;
  private static final int SET = 0xB7;
  private static final int COPY = 0xBF;
  private static final int JUMP_IF_EQUAL_32 = 0x16;
  private static final int JUMP_IF_OTHER_32 = 0x56;
  private static final int CALL = 0x85;
  private static final int EXIT = 0x95;

  /** The first of two instructions; the second has the upper half of the number. */
  private static final int SET_64 = 0x18;

  /** In the place of a register: the number is a map's descriptor, and stands for the map. */
  private static final int OF_MAP = 1;

  /** The same, and stands for the memory of an array. */
  private static final int OF_MEMORY = 2;

  private static final int S_IFMT = 0xF000;
  private static final int S_IFREG = 0x8000;

  /** The number in the superblock of each FUSE. */
  static final int FUSE_SUPER_MAGIC = 0x65735546;

  private long[] instructions = new long[64];
  private int count;

  /** The jumps whose target is not known yet: a bit for each instruction. */
  private final BitSet leaving = new BitSet();

  Program load16(int to, int from, int offset) {
    return add(LOAD_16, to, from, offset, 0);
  }

  Program load32(int to, int from, int offset) {
    return add(LOAD_32, to, from, offset, 0);
  }

  Program load64(int to, int from, int offset) {
    return add(LOAD_64, to, from, offset, 0);
  }

  Program store64(int to, int offset, int from) {
    return add(STORE_64, to, from, offset, 0);
  }

  /** Adds a register to a number in memory, in one step for all processors. */
  Program atomicAdd64(int to, int from) {
    return add(ATOMIC_ADD_64, to, from, 0, 0);
  }

  Program set(int to, int value) {
    return add(SET, to, 0, 0, value);
  }

  Program copy(int to, int from) {
    return add(COPY, to, from, 0, 0);
  }

  Program add64(int to, int value) {
    return add(ADD_64, to, 0, 0, value);
  }

  Program shiftRight64(int to, int bits) {
    return add(SHIFT_RIGHT_64, to, 0, 0, bits);
  }

  Program and32(int to, int value) {
    return add(AND_32, to, 0, 0, value);
  }

  /** Sets a register to a map. */
  Program map(int to, int descriptor) {
    return add(SET_64, to, OF_MAP, 0, descriptor).add(0, 0, 0, 0, 0);
  }

  /** Sets a register to the first byte of an array. */
  Program memory(int to, int descriptor) {
    return add(SET_64, to, OF_MEMORY, 0, descriptor).add(0, 0, 0, 0, 0);
  }

  /** Calls a function of the kernel: the number is BPF_FUNC_*. */
  Program call(int function) {
    return add(CALL, 0, 0, 0, function);
  }

  /** Jumps over some instructions if the lower half of a register is a number. */
  Program skipIfEqual32(int register, int value, int instructionsToSkip) {
    return add(JUMP_IF_EQUAL_32, register, 0, instructionsToSkip, value);
  }

  /** Leaves if the lower half of a register is a number. */
  Program leaveIfEqual32(int register, int value) {
    leaving.set(count);
    return add(JUMP_IF_EQUAL_32, register, 0, 0, value);
  }

  /** Leaves unless the lower half of a register is a number. */
  Program leaveUnlessEqual32(int register, int value) {
    leaving.set(count);
    return add(JUMP_IF_OTHER_32, register, 0, 0, value);
  }

  /**
   * Leaves unless a file is a regular one of a mount: its filesystem has the mount's device number,
   * and is a FUSE. The kernel gives the number to another filesystem some time after the mount has
   * gone.
   *
   * @param file the register that leads to the file; another than {@link #VALUE}
   * @param inode the register that leads to its inode then
   */
  Program leaveUnlessOf(int device, FileOffsets at, int file, int inode) {
    return load64(inode, file, at.inode())
        .load16(VALUE, inode, at.mode())
        .and32(VALUE, S_IFMT)
        .leaveUnlessEqual32(VALUE, S_IFREG)
        .load64(OBJECT, inode, at.superblock())
        .load32(VALUE, OBJECT, at.device())
        .leaveUnlessEqual32(VALUE, device)
        .load64(VALUE, OBJECT, at.magic())
        .leaveUnlessEqual32(VALUE, FUSE_SUPER_MAGIC);
  }

  Program exit(int result) {
    return set(RESULT, result).add(EXIT, 0, 0, 0, 0);
  }

  /** Ends the program, and has those who leave end with a result. */
  long[] out(int result) {
    int end = count;
    leaving.stream().forEach(at -> instructions[at] |= (end - at - 1 & 0xffffL) << 16);
    exit(result);
    return Arrays.copyOf(instructions, count);
  }

  /** Jumps are counted from the next instruction. */
  private Program add(int code, int to, int from, int offset, int value) {
    if (count == instructions.length) {
      instructions = Arrays.copyOf(instructions, 2 * count);
    }
    instructions[count++] =
        code | (long) to << 8 | (long) from << 12 | (offset & 0xffffL) << 16 | (long) value << 32;
    return this;
  }
}
