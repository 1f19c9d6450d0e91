package io.holdfast.fs.bpf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsException;
import io.holdfast.fs.bpf.TerminalAnswer.Offsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TerminalAnswerTest {
  private static final int DEVICE = 45;
  private static final int REGULAR = 0x81A4;
  private static final int FUSE = 0x65735546;
  private static final long NO_TERMINAL = -25;
  private static final int TCGETS = 0x5401;

  private static final long FILE = 0x10000;
  private static final long INODE = 0x20000;
  private static final long SUPERBLOCK = 0x30000;

  /** As {@code bpftool prog dump xlated} and the kernel's own disassembler count and name them. */
  @Test
  void program_ofLinux61_isThis() throws Exception {
    Offsets offsets = BtfTest.offsets(BtfTest.recorded("6.1"), "security_file_ioctl");
    assertThat(Arrays.stream(TerminalAnswer.program(offsets, DEVICE)).mapToObj("%016x"::formatted))
        .containsExactly(
            "0000000000081379", // r3 = *(u64 *)(r1 + 8)
            "0000540100010316", // if w3 == TCGETS goto +1
            "802c542a000c0356", // if w3 != TCGETS2 goto +12
            "0000000000001279", // r2 = *(u64 *)(r1 + 0)
            "0000000000202279", // r2 = *(u64 *)(r2 + 32), f_inode
            "0000000000002369", // r3 = *(u16 *)(r2 + 0), i_mode
            "0000f00000000354", // w3 &= S_IFMT
            "0000800000070356", // if w3 != S_IFREG goto +7
            "0000000000282279", // r2 = *(u64 *)(r2 + 40), i_sb
            "0000000000102361", // r3 = *(u32 *)(r2 + 16), s_dev
            "0000002d00040356", // if w3 != 45 goto +4
            "0000000000602379", // r3 = *(u64 *)(r2 + 96), s_magic
            "6573554600020356", // if w3 != FUSE_SUPER_MAGIC goto +2
            "ffffffe7000000b7", // r0 = -ENOTTY
            "0000000000000095", // exit
            "00000000000000b7", // r0 = 0
            "0000000000000095"); // exit
  }

  @ParameterizedTest
  @ValueSource(strings = {"5.10", "6.1", "6.12", "6.18"})
  void question_aboutAFileOfTheMount_isAnswered(String kernel) throws Exception {
    assertThat(run(kernel, TCGETS, REGULAR, DEVICE, FUSE)).isEqualTo(NO_TERMINAL);
    assertThat(run(kernel, 0x802C542A, REGULAR, DEVICE, FUSE)).isEqualTo(NO_TERMINAL);
  }

  @ParameterizedTest
  @ValueSource(strings = {"5.10", "6.1", "6.12", "6.18"})
  void everythingElse_isLeftAlone(String kernel) throws Exception {
    for (int request : new int[] {0, 0x5402, 0x5413, 0x541B, 0x80045401, -1}) {
      assertThat(run(kernel, request, REGULAR, DEVICE, FUSE)).isZero();
    }
    for (int device : new int[] {0, 44, 46, DEVICE << 20, DEVICE | 1 << 20, -1}) {
      assertThat(run(kernel, TCGETS, REGULAR, device, FUSE)).isZero();
    }
    // directory, character device, block device, pipe, socket, symlink, nothing
    for (int mode : new int[] {0x41ED, 0x21B6, 0x61B6, 0x11B6, 0xC1FF, 0xA1FF, 0}) {
      assertThat(run(kernel, TCGETS, mode, DEVICE, FUSE)).isZero();
    }
    // ext4, tmpfs, overlay, devpts
    for (int magic : new int[] {0xEF53, 0x01021994, 0x794c7630, 0x1cd1}) {
      assertThat(run(kernel, TCGETS, REGULAR, DEVICE, magic)).isZero();
    }
  }

  /** The kernel passes 32 bits of the request, and whatever is above them in the register. */
  @Test
  void bitsAboveTheRequest_doNotCount() throws Exception {
    assertThat(run("6.1", 0xABCD_0000_0000_0000L | TCGETS, REGULAR, DEVICE, FUSE))
        .isEqualTo(NO_TERMINAL);
  }

  @ParameterizedTest
  @CsvSource({"0:45, 45", "8:1, 8388609", "4095:1048575, -1", "0:1048575, 1048575"})
  void device_ofTheMountTable_isTheKernelsNumber(String text, int number) throws FsException {
    assertThat(TerminalAnswer.number(text)).isEqualTo(number);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "45", "0:0", "0:-1", "-1:5", "4096:0", "0:1048576", "0:4:5", "a:b"})
  void device_thatIsNone_isRefused(String text) {
    assertThatThrownBy(() -> TerminalAnswer.number(text))
        .isInstanceOf(FsException.class)
        .hasMessage("no device number: " + text);
  }

  /** On any kernel and with any rights: a way, or one line that says why there is none. */
  @Test
  void check_onThisMachine_answersOrSaysWhyNot() {
    try {
      assertThat(TerminalAnswer.check()).isIn("lsm", "fmod_ret");
    } catch (FsException e) {
      assertThat(e.getMessage()).isNotBlank().hasLineCount(1);
    }
  }

  private static long run(String kernel, long request, int mode, int device, int magic)
      throws Exception {
    Offsets at = BtfTest.offsets(BtfTest.recorded(kernel), "security_file_ioctl");
    Machine machine = new Machine();
    machine.memory.put(Machine.ARGUMENTS, FILE);
    machine.memory.put(Machine.ARGUMENTS + 8, request);
    machine.memory.put(FILE + at.inode(), INODE);
    machine.memory.put(INODE + at.mode(), (long) mode);
    machine.memory.put(INODE + at.superblock(), SUPERBLOCK);
    machine.memory.put(SUPERBLOCK + at.device(), Integer.toUnsignedLong(device));
    machine.memory.put(SUPERBLOCK + at.magic(), Integer.toUnsignedLong(magic));
    return machine.run(TerminalAnswer.program(at, DEVICE));
  }

  /**
   * Runs instructions as the kernel does, as far as the program has such. Fails where a register is
   * read before it is set, a place is read that has nothing, or the program runs out of itself.
   */
  private static final class Machine {
    static final long ARGUMENTS = 0x1000;

    final Map<Long, Long> memory = new HashMap<>();
    private final Map<Integer, Long> registers = new HashMap<>(Map.of(1, ARGUMENTS));

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
          case 0x54 -> registers.put(to, registers.get(to) & value & 0xffff_ffffL);
          case 0xb7 -> registers.put(to, (long) value);
          case 0x16 -> at += registers.get(to).intValue() == value ? offset : 0;
          case 0x56 -> at += registers.get(to).intValue() != value ? offset : 0;
          case 0x95 -> {
            return registers.get(0);
          }
          default -> throw new AssertionError("no such instruction: %02x".formatted(code));
        }
      }
      throw new AssertionError("the program does not end");
    }

    private long load(int register, int offset) {
      Long value = memory.get(registers.get(register) + offset);
      assertThat(value).as("what r%d + %d leads to", register, offset).isNotNull();
      return value;
    }
  }
}
