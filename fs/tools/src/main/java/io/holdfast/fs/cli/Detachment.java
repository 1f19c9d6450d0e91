package io.holdfast.fs.cli;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.nio.file.Path;

/** A daemon's parting from the process that started it. Tests put in their own. */
class Detachment {
  private static final int O_WRONLY = 1;
  private static final int O_RDWR = 2;
  private static final int O_APPEND = 0x400;

  /** Makes descriptors lead to nothing. */
  void silence(int... descriptors) {
    redirect("/dev/null", O_RDWR, descriptors);
  }

  /** Makes the error output, where the virtual machine reports its own crash, lead to the log. */
  void errorsTo(Path log) {
    redirect(log.toString(), O_WRONLY | O_APPEND, 2);
  }

  private static void redirect(String file, int flags, int... descriptors) {
    long path = Linux.scratch().path();
    Memory.putString(path, Linux.pathBytes(file));
    int to = LIBC.openat(Linux.AT_FDCWD, path, flags | Linux.O_CLOEXEC, 0);
    if (to < 0) {
      return;
    }
    for (int descriptor : descriptors) {
      LIBC.dup2(to, descriptor);
    }
    LIBC.close(to);
  }
}
