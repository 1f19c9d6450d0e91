package io.holdfast.fs.bpf;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OpenProgramTest {
  private static final int DEVICE = 45;
  private static final int REGULAR = 0x81A4;
  private static final int FUSE = 0x65735546;
  private static final int OWN = 4_000_000;
  private static final int RING = 7;
  private static final int LOST = 8;

  /** A thread of another process, in the lower half, and the process. */
  private static final long OTHER = 77L << 32 | 78;

  private static final long INODE = 0xFFEE_DDCC_BBAA_9988L;
  private static final long SIZE = 5L << 40;

  /** As {@code bpftool prog dump xlated} and the kernel's own disassembler count and name them. */
  @Test
  void instructions_ofLinux61_areThese() throws Exception {
    assertThat(Arrays.stream(instructions("6.1")).mapToObj("%016x"::formatted))
        .containsExactly(
            "0000000000081379", // r3 = *(u64 *)(r1 + 8)
            "00000000001f0356", // if w3 != 0 goto +31
            "0000000000001279", // r2 = *(u64 *)(r1 + 0)
            "0000000000202679", // r6 = *(u64 *)(r2 + 32), f_inode
            "0000000000006369", // r3 = *(u16 *)(r6 + 0), i_mode
            "0000f00000000354", // w3 &= S_IFMT
            "00008000001a0356", // if w3 != S_IFREG goto +26
            "0000000000286279", // r2 = *(u64 *)(r6 + 40), i_sb
            "0000000000102361", // r3 = *(u32 *)(r2 + 16), s_dev
            "0000002d00170356", // if w3 != 45 goto +23
            "0000000000602379", // r3 = *(u64 *)(r2 + 96), s_magic
            "6573554600150356", // if w3 != FUSE_SUPER_MAGIC goto +21
            "0000000e00000085", // call bpf_get_current_pid_tgid
            "00000000000003bf", // r3 = r0
            "0000002000000377", // r3 >>= 32
            "003d090000110316", // if w3 == 4000000 goto +17
            "00000000ffe80a7b", // *(u64 *)(r10 - 24) = r0
            "0000000000406379", // r3 = *(u64 *)(r6 + 64), i_ino
            "00000000fff03a7b", // *(u64 *)(r10 - 16) = r3
            "0000000000506379", // r3 = *(u64 *)(r6 + 80), i_size
            "00000000fff83a7b", // *(u64 *)(r10 - 8) = r3
            "0000000700001118", // r1 = map 7
            "0000000000000000",
            "000000000000a2bf", // r2 = r10
            "ffffffe800000207", // r2 += -24
            "00000018000003b7", // r3 = 24
            "00000000000004b7", // r4 = 0
            "0000008200000085", // call bpf_ringbuf_output
            "0000000000040016", // if w0 == 0 goto +4
            "0000000800002118", // r1 = memory of map 8
            "0000000000000000",
            "00000001000002b7", // r2 = 1
            "00000000000021db", // lock *(u64 *)(r1 + 0) += r2
            "00000000000000b7", // r0 = 0
            "0000000000000095"); // exit
  }

  @ParameterizedTest
  @ValueSource(strings = {"5.10", "6.1", "6.12", "6.18"})
  void openOfAFileOfTheMount_isWritten(String kernel) throws Exception {
    Machine machine = machine(kernel, REGULAR, DEVICE, FUSE);
    assertThat(machine.run(instructions(kernel))).isZero();
    assertThat(machine.written).containsExactly(Machine.MAPS + RING, OTHER, INODE, SIZE);
    assertThat(machine.number(LOST)).isZero();
  }

  @Test
  void openThatFindsNoRoom_isCounted() throws Exception {
    Machine machine = machine("6.1", REGULAR, DEVICE, FUSE);
    machine.output = -11;
    for (int count = 1; count <= 3; count++) {
      assertThat(machine.run(instructions("6.1"))).isZero();
      assertThat(machine.number(LOST)).isEqualTo(count);
      machine = again(machine);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"5.10", "6.1", "6.12", "6.18"})
  void everythingElse_isLeftOut(String kernel) throws Exception {
    for (int device : new int[] {0, 44, 46, DEVICE << 20, DEVICE | 1 << 20, -1}) {
      assertLeftOut(kernel, machine(kernel, REGULAR, device, FUSE));
    }
    // directory, character device, block device, pipe, socket, symlink, nothing
    for (int mode : new int[] {0x41ED, 0x21B6, 0x61B6, 0x11B6, 0xC1FF, 0xA1FF, 0}) {
      assertLeftOut(kernel, machine(kernel, mode, DEVICE, FUSE));
    }
    // ext4, tmpfs, overlay
    for (int magic : new int[] {0xEF53, 0x01021994, 0x794c7630}) {
      assertLeftOut(kernel, machine(kernel, REGULAR, DEVICE, magic));
    }
    Machine refused = machine(kernel, REGULAR, DEVICE, FUSE);
    refused.argument(1, -13); // EACCES of a security module
    assertLeftOut(kernel, refused);
    Machine own = machine(kernel, REGULAR, DEVICE, FUSE);
    own.current = (long) OWN << 32 | 5;
    assertLeftOut(kernel, own);
  }

  private static void assertLeftOut(String kernel, Machine machine) throws Exception {
    assertThat(machine.run(instructions(kernel))).isZero();
    assertThat(machine.written).isEmpty();
    assertThat(machine.number(LOST)).isZero();
  }

  private static long[] instructions(String kernel) throws Exception {
    FileOffsets at = BtfTest.offsets(BtfTest.recorded(kernel), "security_file_open");
    return OpenProgram.instructions(at, DEVICE, OWN, RING, LOST);
  }

  private static Machine machine(String kernel, int mode, int device, int magic) throws Exception {
    FileOffsets at = BtfTest.offsets(BtfTest.recorded(kernel), "security_file_open");
    Machine machine = new Machine();
    machine.file(at, 0, mode, device, magic);
    machine.inode(at, INODE, SIZE);
    machine.argument(1, 0);
    machine.current = OTHER;
    return machine;
  }

  /** Returns a machine with fresh registers and the same memory. */
  private static Machine again(Machine machine) {
    Machine next = new Machine();
    next.memory.putAll(machine.memory);
    next.current = machine.current;
    next.output = machine.output;
    return next;
  }
}
