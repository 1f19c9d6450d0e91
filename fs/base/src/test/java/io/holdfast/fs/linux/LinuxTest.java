package io.holdfast.fs.linux;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.nio.charset.StandardCharsets;
import jnr.constants.platform.Errno;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class LinuxTest {
  @ParameterizedTest
  @CsvSource({
    "ENOENT, NOT_FOUND",
    "ENOTDIR, NOT_DIRECTORY",
    "EISDIR, IS_DIRECTORY",
    "EACCES, ACCESS_DENIED",
    "EPERM, NOT_PERMITTED",
    "ENAMETOOLONG, NAME_TOO_LONG",
    "ELOOP, SYMLINK",
    "EXDEV, SYMLINK",
    "EINVAL, INVALID",
    "ENODATA, NO_ATTRIBUTE",
    "ERANGE, RANGE",
    "EOPNOTSUPP, UNSUPPORTED",
    "ENOSYS, UNSUPPORTED",
    "ESTALE, STALE",
    "ETIMEDOUT, TIMED_OUT",
    "ENOMEM, NO_MEMORY",
    "EIO, IO",
    "ENXIO, IO",
    "EBUSY, IO"
  })
  void code_ofAnErrno_isItsWord(Errno errno, FsError error) {
    assertThat(Linux.code(errno.intValue())).isEqualTo(error);
    FsException failure = Linux.failure(errno.intValue(), "the thing");
    assertThat(failure.code()).isEqualTo(error);
    assertThat(failure).hasMessageStartingWith("the thing: ").hasMessageNotContaining("\n");
  }

  @Test
  void code_ofAnUnknownNumber_isIo() {
    assertThat(Linux.code(9999)).isEqualTo(FsError.IO);
    assertThat(Linux.describe(9999)).isEqualTo("error 9999");
  }

  @Test
  void pageSize_isAPowerOfTwo() {
    assertThat(Long.bitCount(Linux.PAGE_SIZE)).isEqualTo(1);
    assertThat(Linux.PAGE_SIZE).isGreaterThanOrEqualTo(4096);
  }

  @Test
  void memory_numbersAndStrings_roundTrip() {
    long at = Linux.scratch().area();
    Memory.putLong(at, 0x8877665544332211L);
    assertThat(Memory.getLong(at)).isEqualTo(0x8877665544332211L);
    assertThat(Memory.getInt(at)).isEqualTo(0x44332211);
    assertThat(Memory.getShort(at + 6)).isEqualTo(0x8877);
    assertThat(Memory.getByte(at + 7)).isEqualTo(0x88);
    Memory.putInt(at, -2);
    assertThat(Memory.getInt(at)).isEqualTo(-2);
    Memory.putString(at, "text".getBytes(StandardCharsets.UTF_8));
    assertThat(Memory.string(at)).isEqualTo("text".getBytes(StandardCharsets.UTF_8));
    Memory.copy(at, at + 100, 3);
    assertThat(Memory.bytes(at + 100, 3)).isEqualTo("tex".getBytes(StandardCharsets.UTF_8));
    Memory.clear(at, 5);
    assertThat(Memory.bytes(at, 5)).isEqualTo(new byte[5]);
  }
}
