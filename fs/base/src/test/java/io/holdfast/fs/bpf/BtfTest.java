package io.holdfast.fs.bpf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Reads what kernels say of themselves: those of Debian 11 (5.10.218), 12 (6.1.180) and 12's
 * backports (6.12.117), and another (6.18.44), cut to what is needed by {@code
 * packaging/e2e/bpf/cut-btf}.
 */
@Timeout(60)
class BtfTest {
  private static final int PTR = 2;
  private static final int STRUCT = 4;
  private static final int TYPEDEF = 8;
  private static final int FUNC_PROTO = 13;

  static byte[] recorded(String kernel) throws IOException {
    try (InputStream in = BtfTest.class.getResourceAsStream("linux-" + kernel + ".btf")) {
      return in.readAllBytes();
    }
  }

  static FileOffsets offsets(byte[] btf, String function) throws FsException {
    Btf types = Btf.parse(btf);
    return FileOffsets.of(types, types.function(function));
  }

  @ParameterizedTest
  @CsvSource({
    "5.10, 32, 0, 64, 80, 40, 16, 96",
    "6.1, 32, 0, 64, 80, 40, 16, 96",
    "6.12, 40, 0, 64, 80, 40, 16, 96",
    "6.18, 32, 0, 64, 80, 40, 16, 96",
  })
  void offsets_ofKernels_areTheirs(
      String kernel,
      int inode,
      int mode,
      int number,
      int size,
      int superblock,
      int device,
      int magic)
      throws Exception {
    FileOffsets expected = new FileOffsets(inode, mode, number, size, superblock, device, magic);
    assertThat(offsets(recorded(kernel), "security_file_ioctl")).isEqualTo(expected);
    assertThat(offsets(recorded(kernel), "bpf_lsm_file_ioctl")).isEqualTo(expected);
    assertThat(offsets(recorded(kernel), "security_file_open")).isEqualTo(expected);
  }

  @Test
  void function_thatIsNotThere_isNamed() {
    assertThatThrownBy(() -> Btf.parse(recorded("6.1")).function("security_file"))
        .isInstanceOf(FsException.class)
        .hasMessage("this kernel has no function security_file");
  }

  @Test
  void member_thatIsNotThereOrAnother_isNamed() throws Exception {
    Btf btf = Btf.parse(recorded("6.1"));
    int file = btf.pointee(btf.parameter(btf.function("security_file_ioctl"), 0));
    assertThatThrownBy(() -> btf.member(file, "f_inod", 8))
        .isInstanceOf(FsException.class)
        .hasMessage("this kernel has no member f_inod");
    assertThatThrownBy(() -> btf.member(file, "f_inode", 4))
        .isInstanceOf(FsException.class)
        .hasMessage("this kernel's member f_inode is another");
  }

  @Test
  void parameter_thatIsNotThere_isRefused() throws Exception {
    Btf btf = Btf.parse(recorded("6.1"));
    int function = btf.function("security_file_ioctl");
    assertThatThrownBy(() -> btf.parameter(function, 3))
        .isInstanceOf(FsException.class)
        .hasMessage("a function of this kernel has no parameter 4");
  }

  @Test
  void read_ofNoFile_saysWhichIsMissing(@TempDir Path directory) {
    assertThatThrownBy(() -> Btf.read(directory.resolve("vmlinux")))
        .isInstanceOf(FsException.class)
        .hasMessageStartingWith("no BTF of this kernel: ");
  }

  @Test
  void read_ofAnotherFile_saysSo(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("vmlinux"), "a file with other content");
    assertThatThrownBy(() -> Btf.read(file))
        .isInstanceOf(FsException.class)
        .hasMessage("the BTF of this kernel is not understood: it does not begin as BTF does");
  }

  @Test
  void parse_ofAnotherVersion_saysSo() throws IOException {
    byte[] btf = recorded("6.1");
    btf[2] = 2;
    assertThatThrownBy(() -> Btf.parse(btf)).hasMessageEndingWith("its version is 2");
  }

  @Test
  void parse_ofAnUnknownKind_saysSo() {
    byte[] btf = btf(0, 31 << 24, 0);
    assertThatThrownBy(() -> Btf.parse(btf)).hasMessageEndingWith("of the unknown kind 31");
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 8, 12, 16, 20})
  void parse_ofPartsBehindTheEnd_saysSo(int field) throws IOException {
    byte[] btf = recorded("6.1");
    ByteBuffer.wrap(btf).order(ByteOrder.LITTLE_ENDIAN).putInt(field, -8);
    assertThatThrownBy(() -> Btf.parse(btf)).hasMessageEndingWith("end behind its 5504 bytes");
  }

  /** Whatever of it has arrived: an answer, or the reason why there is none. */
  @Test
  void cutBtf_isAnsweredOrRefused() throws IOException {
    byte[] whole = recorded("6.12");
    for (int length = 0; length < whole.length; length++) {
      ask(Arrays.copyOf(whole, length));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void damagedBtf_isAnsweredOrRefused(long seed) throws IOException {
    Random random = new Random(seed);
    byte[] whole = recorded("6.18");
    for (int i = 0; i < 20_000; i++) {
      byte[] damaged = whole.clone();
      for (int count = 1 + random.nextInt(4); count > 0; count--) {
        damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
      }
      ask(damaged);
    }
  }

  private static void ask(byte[] btf) {
    try {
      FileOffsets offsets = offsets(btf, "security_file_ioctl");
      assertThat(
              List.of(
                  offsets.inode(),
                  offsets.mode(),
                  offsets.number(),
                  offsets.size(),
                  offsets.superblock(),
                  offsets.device(),
                  offsets.magic()))
          .allSatisfy(offset -> assertThat(offset).isBetween(0, (int) Short.MAX_VALUE));
    } catch (FsException e) {
      assertThat(e.getMessage()).isNotBlank();
    }
  }

  @Test
  void typesThatLeadToThemselves_areRefused() throws FsException {
    // 1: typedef of 2, 2: typedef of 1, 3: a function without parameters that returns nothing
    byte[] btf = btf(0, TYPEDEF << 24, 2, 0, TYPEDEF << 24, 1, 0, FUNC_PROTO << 24, 0);
    Btf types = Btf.parse(btf);
    assertThatThrownBy(() -> types.pointee(1)).hasMessageEndingWith("type 1 leads to no end");
    assertThatThrownBy(() -> types.pointee(7)).hasMessageEndingWith("there is no type 7");
    assertThatThrownBy(() -> types.pointee(-1)).isInstanceOf(FsException.class);
    assertThatThrownBy(() -> types.pointee(0)).isInstanceOf(FsException.class);
    assertThatThrownBy(() -> types.member(3, "f_inode", 8))
        .hasMessageEndingWith("type 3 is no structure");
    assertThatThrownBy(() -> types.parameter(1, 0)).isInstanceOf(FsException.class);
  }

  /** A bit field, and a member further away than an instruction can reach. */
  @ParameterizedTest
  @ValueSource(ints = {0x01000000, 3, -8, (Short.MAX_VALUE + 1) * 8})
  void memberAtAnOddPlace_isRefused(int place) throws FsException {
    // 1: a structure with the member "x" of type 2, 2: a pointer to void
    byte[] btf = btf(0, STRUCT << 24 | 1, 8, 1, 2, place, 0, PTR << 24, 0);
    Btf types = Btf.parse(btf);
    assertThatThrownBy(() -> types.member(1, "x", 8))
        .hasMessage("this kernel's member x is another");
  }

  @Test
  void kernelOfThisMachine_isUnderstoodIfItDescribesItself() {
    if (Files.exists(Btf.OF_KERNEL)) {
      assertThatCode(
              () -> {
                Btf btf = Btf.read(Btf.OF_KERNEL);
                FileOffsets.of(btf, btf.function("security_file_ioctl"));
              })
          .doesNotThrowAnyException();
    }
  }

  /** Returns BTF with some words as types, and with "x" as the name at 1. */
  private static byte[] btf(int... words) {
    byte[] names = "\0x\0".getBytes(StandardCharsets.US_ASCII);
    int length = words.length * Integer.BYTES;
    ByteBuffer btf = ByteBuffer.allocate(24 + length + names.length).order(ByteOrder.LITTLE_ENDIAN);
    btf.putInt(0x1EB9F).putInt(24).putInt(0).putInt(length).putInt(length).putInt(names.length);
    for (int word : words) {
      btf.putInt(word);
    }
    return btf.put(names).array();
  }
}
