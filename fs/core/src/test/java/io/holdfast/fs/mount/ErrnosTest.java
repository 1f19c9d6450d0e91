package io.holdfast.fs.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsError;
import java.util.EnumMap;
import java.util.Map;
import jnr.constants.platform.Errno;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class ErrnosTest {
  private static final Map<FsError, Errno> EXPECTED = new EnumMap<>(FsError.class);

  static {
    EXPECTED.put(FsError.NOT_FOUND, Errno.ENOENT);
    EXPECTED.put(FsError.NOT_DIRECTORY, Errno.ENOTDIR);
    EXPECTED.put(FsError.IS_DIRECTORY, Errno.EISDIR);
    EXPECTED.put(FsError.ACCESS_DENIED, Errno.EACCES);
    EXPECTED.put(FsError.NOT_PERMITTED, Errno.EPERM);
    EXPECTED.put(FsError.NAME_TOO_LONG, Errno.ENAMETOOLONG);
    EXPECTED.put(FsError.SYMLINK, Errno.ELOOP);
    EXPECTED.put(FsError.INVALID, Errno.EINVAL);
    EXPECTED.put(FsError.NO_ATTRIBUTE, Errno.ENODATA);
    EXPECTED.put(FsError.RANGE, Errno.ERANGE);
    EXPECTED.put(FsError.UNSUPPORTED, Errno.EOPNOTSUPP);
    EXPECTED.put(FsError.STALE, Errno.ESTALE);
    EXPECTED.put(FsError.IO, Errno.EIO);
    EXPECTED.put(FsError.TIMED_OUT, Errno.EIO);
    EXPECTED.put(FsError.ORIGIN_SILENT, Errno.EIO);
    EXPECTED.put(FsError.NO_MEMORY, Errno.ENOMEM);
    EXPECTED.put(FsError.BUSY, Errno.EBUSY);
    EXPECTED.put(FsError.UNAVAILABLE, Errno.EIO);
  }

  @ParameterizedTest
  @EnumSource
  void negative_ofEveryError_isItsErrno(FsError error) {
    assertThat(EXPECTED).containsKey(error);
    assertThat(Errnos.negative(error)).isEqualTo(-EXPECTED.get(error).intValue());
  }
}
