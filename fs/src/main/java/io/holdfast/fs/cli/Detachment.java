package io.holdfast.fs.cli;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;

/** A daemon's parting from the terminal and the process that started it. Tests put in their own. */
class Detachment {
  private static final int O_RDWR = 2;

  /** Leaves the terminal and its signals: what the user types there is no longer meant for us. */
  void leaveTerminal() {
    // Fails only for the leader of a process group, which a child just started is not.
    LIBC.setsid();
  }

  /** Makes descriptors lead to nothing. */
  void silence(int... descriptors) {
    long path = Linux.scratch().path();
    Memory.putString(path, Linux.pathBytes("/dev/null"));
    int nothing = LIBC.openat(Linux.AT_FDCWD, path, O_RDWR | Linux.O_CLOEXEC, 0);
    if (nothing < 0) {
      return;
    }
    for (int descriptor : descriptors) {
      LIBC.dup2(nothing, descriptor);
    }
    LIBC.close(nothing);
  }
}
