package io.holdfast.fs.bpf;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs instructions as the kernel does, as far as our programs have such, and has a file with its
 * inode and superblock. Fails where a register is read before it is set, a place is read that has
 * nothing, or the program runs out of itself.
 */
final class Machine {
  private static final long ARGUMENTS = 0x1000;
  private static final long STACK = 0x8000;
  private static final long FILE = 0x10000;
  private static final long INODE = 0x20000;
  private static final long SUPERBLOCK = 0x30000;

  /** What a map and the memory of an array are to the program, from the descriptor. */
  static final long MAPS = 0x40000;

  private static final long MEMORY = 0x50000;

  private static final int GET_CURRENT_PID_TGID = 14;
  private static final int RINGBUF_OUTPUT = 130;

  final Map<Long, Long> memory = new HashMap<>();
  private final Map<Integer, Long> registers = new HashMap<>(Map.of(1, ARGUMENTS, 10, STACK));

  /** The thread that runs the program, in the lower half, and its process. */
  long current;

  /** What an output to a ring returns, and what it got: the map, and then 8 bytes each. */
  long output;

  final List<Long> written = new ArrayList<>();

  /** Puts a file into an argument of the function, counted from 0. */
  void file(FileOffsets at, int argument, int mode, int device, int magic) {
    argument(argument, FILE);
    memory.put(FILE + at.inode(), INODE);
    memory.put(INODE + at.mode(), (long) mode);
    memory.put(INODE + at.superblock(), SUPERBLOCK);
    memory.put(SUPERBLOCK + at.device(), Integer.toUnsignedLong(device));
    memory.put(SUPERBLOCK + at.magic(), Integer.toUnsignedLong(magic));
  }

  void inode(FileOffsets at, long number, long size) {
    memory.put(INODE + at.number(), number);
    memory.put(INODE + at.size(), size);
  }

  void argument(int index, long value) {
    memory.put(ARGUMENTS + 8L * index, value);
  }

  /** Returns the first number of an array. */
  long number(int descriptor) {
    return memory.getOrDefault(MEMORY + descriptor, 0L);
  }

  long run(long[] program) {
    int at = 0;
    for (int steps = 0; steps < program.length; steps++) {
      long instruction = program[at++];
      int code = (int) instruction & 0xff;
      int to = (int) (instruction >> 8) & 0xf;
      int from = (int) (instruction >> 12) & 0xf;
      int offset = (short) (instruction >> 16);
      int value = (int) (instruction >> 32);
      switch (code) {
        case 0x79 -> registers.put(to, load(from, offset));
        case 0x61 -> registers.put(to, load(from, offset) & 0xffff_ffffL);
        case 0x69 -> registers.put(to, load(from, offset) & 0xffffL);
        case 0x7b -> memory.put(registers.get(to) + offset, registers.get(from));
        case 0xdb -> memory.merge(registers.get(to) + offset, registers.get(from), Long::sum);
        case 0x54 -> registers.put(to, registers.get(to) & value & 0xffff_ffffL);
        case 0x07 -> registers.put(to, registers.get(to) + value);
        case 0x77 -> registers.put(to, registers.get(to) >>> value);
        case 0xb7 -> registers.put(to, (long) value);
        case 0xbf -> registers.put(to, registers.get(from));
        case 0x18 -> {
          assertThat(program[at++]).isZero();
          registers.put(to, (from == 1 ? MAPS : MEMORY) + value);
        }
        case 0x16 -> at += registers.get(to).intValue() == value ? offset : 0;
        case 0x56 -> at += registers.get(to).intValue() != value ? offset : 0;
        case 0x85 -> call(value);
        case 0x95 -> {
          return registers.get(0);
        }
        default -> throw new AssertionError("no such instruction: %02x".formatted(code));
      }
    }
    throw new AssertionError("the program does not end");
  }

  private void call(int function) {
    switch (function) {
      case GET_CURRENT_PID_TGID -> registers.put(0, current);
      case RINGBUF_OUTPUT -> {
        written.add(registers.get(1));
        for (long part = 0; part < registers.get(3); part += Long.BYTES) {
          written.add(memory.get(registers.get(2) + part));
        }
        assertThat(registers.get(4)).isZero();
        registers.put(0, output);
      }
      default -> throw new AssertionError("no such function: " + function);
    }
    for (int register = 1; register <= 5; register++) {
      registers.remove(register);
    }
  }

  private long load(int register, int offset) {
    Long value = memory.get(registers.get(register) + offset);
    assertThat(value).as("what r%d + %d leads to", register, offset).isNotNull();
    return value;
  }
}
