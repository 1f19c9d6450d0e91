package io.holdfast.fs.mount.jnr;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Filesystem.Entry;
import io.holdfast.fs.mount.Opcode;
import io.holdfast.fs.origin.Attributes;
import java.nio.ByteOrder;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Headers as the kernel sends them. */
final class RequestTest {
  /** LOOKUP of "hello" in the root, by process 4711 of user 1000 and group 100. */
  private static final String LOOKUP =
      "2e000000" // len 46
          + "01000000" // opcode 1
          + "0200000000000000" // unique 2
          + "0100000000000000" // nodeid 1
          + "e8030000" // uid 1000
          + "64000000" // gid 100
          + "67120000" // pid 4711
          + "00000000"
          + "68656c6c6f00"; // name

  /** READ of a node beyond 32 bits, by the kernel itself. */
  private static final String READ =
      "50000000"
          + "0f000000"
          + "efcdab8967452301"
          + "8877665544332211"
          + "00000000"
          + "00000000"
          + "00000000"
          + "00000000";

  private static Request decode(String hex) {
    assumeTrue(ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN, "a little-endian machine");
    byte[] bytes = HexFormat.of().parseHex(hex);
    long memory = LIBC.malloc(bytes.length);
    try {
      Memory.put(memory, bytes, 0, bytes.length);
      Request request = new Request();
      request.setEntry(
          new Entry(
              99, new Attributes(Attributes.DIRECTORY | 0755, 1, 0, 0, 0, 7, 0, 1, 0, 0, 0, "")));
      request.begin(memory);
      return request;
    } finally {
      LIBC.free(memory);
    }
  }

  @Test
  void begin_lookup_takesTheHeader() {
    Request request = decode(LOOKUP);
    assertThat(request.opcode()).isEqualTo(Opcode.LOOKUP.code());
    assertThat(request.isLookup()).isTrue();
    assertThat(request.kernelNode()).isEqualTo(1);
    assertThat(request.thread()).isEqualTo(4711);
    assertThat(request.entry()).as("of the request before").isNull();
  }

  @Test
  void begin_read_takesTheHeader() {
    Request request = decode(READ);
    assertThat(request.opcode()).isEqualTo(Opcode.READ.code());
    assertThat(request.isLookup()).isFalse();
    assertThat(request.kernelNode()).isEqualTo(0x1122334455667788L);
    assertThat(request.thread()).isZero();
  }

  @Test
  void withoutKernel_isOverAfterAFailure() {
    Request request = new Request();
    assertThatThrownBy(
            () ->
                request.withoutKernel(
                    () -> {
                      assertThat(request.isWithoutKernel()).isTrue();
                      throw new IllegalStateException("ended");
                    }))
        .hasMessage("ended");
    assertThat(request.isWithoutKernel()).isFalse();
  }

  /** The numbers of linux/fuse.h, which never change. */
  @ParameterizedTest
  @CsvSource({
    "1,LOOKUP",
    "2,FORGET",
    "3,GETATTR",
    "5,READLINK",
    "10,UNLINK",
    "14,OPEN",
    "15,READ",
    "17,STATFS",
    "18,RELEASE",
    "22,GETXATTR",
    "23,LISTXATTR",
    "25,FLUSH",
    "26,INIT",
    "27,OPENDIR",
    "28,READDIR",
    "29,RELEASEDIR",
    "31,GETLK",
    "32,SETLK",
    "34,ACCESS",
    "36,INTERRUPT",
    "37,BMAP",
    "38,DESTROY",
    "39,IOCTL",
    "40,POLL",
    "42,BATCH_FORGET",
    "46,LSEEK",
    "4,SETATTR",
    "6,SYMLINK",
    "8,MKNOD",
    "9,MKDIR",
    "11,RMDIR",
    "12,RENAME",
    "13,LINK",
    "16,WRITE",
    "20,FSYNC",
    "21,SETXATTR",
    "24,REMOVEXATTR",
    "30,FSYNCDIR",
    "33,SETLKW",
    "35,CREATE",
    "43,FALLOCATE",
    "44,READDIRPLUS",
    "45,RENAME2",
    "47,COPY_FILE_RANGE",
    "51,TMPFILE",
    "52,STATX"
  })
  void nameOf_number_isTheKernelsName(int code, String name) {
    assertThat(Opcode.nameOf(code)).isEqualTo(name);
    assertThat(Opcode.valueOf(name).code()).isEqualTo(code);
  }

  @ParameterizedTest
  @CsvSource({"0", "7", "19", "63", "64", "4096", "-1", "2147483647", "-2147483648"})
  void nameOf_unexpectedNumber_isOther(int code) {
    assertThat(Opcode.nameOf(code)).isEqualTo("OTHER");
  }

  @ParameterizedTest
  @EnumSource
  void isForget_opcode_isTrueOfThoseWithoutReply(Opcode opcode) {
    assertThat(Opcode.isForget(opcode.code()))
        .isEqualTo(opcode == Opcode.FORGET || opcode == Opcode.BATCH_FORGET);
  }
}
