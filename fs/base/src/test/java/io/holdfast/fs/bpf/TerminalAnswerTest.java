package io.holdfast.fs.bpf;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TerminalAnswerTest {
  private static final int DEVICE = 45;
  private static final int REGULAR = 0x81A4;
  private static final int FUSE = 0x65735546;
  private static final long NO_TERMINAL = -25;
  private static final int TCGETS = 0x5401;

  /** As {@code bpftool prog dump xlated} and the kernel's own disassembler count and name them. */
  @Test
  void program_ofLinux61_isThis() throws Exception {
    FileOffsets offsets = BtfTest.offsets(BtfTest.recorded("6.1"), "security_file_ioctl");
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

  private static long run(String kernel, long request, int mode, int device, int magic)
      throws Exception {
    FileOffsets at = BtfTest.offsets(BtfTest.recorded(kernel), "security_file_ioctl");
    Machine machine = new Machine();
    machine.file(at, 0, mode, device, magic);
    machine.argument(1, request);
    return machine.run(TerminalAnswer.program(at, DEVICE));
  }
}
