package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Has this process become another program: same number, input and outputs. All other threads end
 * when that succeeds. Stateless.
 */
public final class Exec {
  private static final int CLONE_FILES = 0x400;
  private static final int CLOSE_RANGE_CLOEXEC = 4;
  private static final int FIRST_AFTER_STANDARD = 3;
  private static final long SYS_CLOSE_RANGE = 436;
  private static final int RLIMIT_NOFILE = 7;
  private static final int SIG_SETMASK = 2;
  private static final long SIG_IGN = 1;

  /** SIGILL, SIGTRAP, SIGBUS, SIGFPE and SIGSEGV, a bit for each. */
  private static final long FAULTS = 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 10;

  /** Bytes of a set of signals, of which the kernel knows 64. */
  private static final int SIGSET_SIZE = 128;

  private Exec() {}

  /**
   * Becomes a program with no descriptors but the standard ones and those given.
   *
   * @param words the program, searched in PATH where it has no slash, and its arguments
   * @param descriptors what stays open besides the standard ones; before Linux 5.9 all do
   * @return the error number; this returns only on failure
   */
  public static int become(List<byte[]> words, Set<Integer> descriptors) {
    // a table of this thread's own: other threads may open files without O_CLOEXEC, as the virtual
    // machine does for those of its cgroup, between the next line and the last
    LIBC.unshare(CLONE_FILES);
    closeAllBut(descriptors);
    long vector = LIBC.malloc((words.size() + 1L) * Long.BYTES);
    for (int i = 0; i < words.size(); i++) {
      Memory.putLong(vector + (long) i * Long.BYTES, copy(words.get(i)));
    }
    Memory.putLong(vector + (long) words.size() * Long.BYTES, 0);
    LIBC.execvp(Memory.getLong(vector), vector);
    return Linux.errno();
  }

  /** Sets a variable of the environment that {@link #become} passes on; null takes it away. */
  public static void setVariable(String name, byte @Nullable [] value) {
    long copy = copy(Linux.pathBytes(name));
    if (value == null) {
      LIBC.unsetenv(copy);
    } else {
      LIBC.setenv(copy, copy(value), 1);
    }
  }

  /** Sets how many files may be open, where the limit that only root raises lets it. */
  public static void setFileLimit(long files) {
    long limits = Linux.scratch().area();
    if (LIBC.getrlimit(RLIMIT_NOFILE, limits) == 0) {
      Memory.putLong(limits, files);
      LIBC.setrlimit(RLIMIT_NOFILE, limits);
    }
  }

  /**
   * Has the calling thread, and what it becomes, block these signals and no others.
   *
   * @param signals a bit for each, from signal 1 on, as {@code /proc/PID/status} has it
   */
  public static void setBlockedSignals(long signals) {
    long set = Linux.scratch().area();
    Memory.clear(set, SIGSET_SIZE);
    Memory.putLong(set, signals);
    LIBC.pthread_sigmask(SIG_SETMASK, set, 0);
  }

  /**
   * Has this process, and what it becomes, ignore these signals; but not those of faults, which the
   * virtual machine handles to its end.
   *
   * @param signals a bit for each, from signal 1 on, as {@code /proc/PID/status} has it
   */
  public static void ignoreSignals(long signals) {
    for (long left = signals & ~FAULTS; left != 0; left &= left - 1) {
      LIBC.signal(Long.numberOfTrailingZeros(left) + 1, SIG_IGN);
    }
  }

  private static void closeAllBut(Set<Integer> descriptors) {
    int from = FIRST_AFTER_STANDARD;
    for (int kept : new TreeSet<>(descriptors)) {
      if (kept > from) {
        LIBC.syscall(SYS_CLOSE_RANGE, from, kept - 1, CLOSE_RANGE_CLOEXEC, 0);
      }
      from = Math.max(from, kept + 1);
    }
    LIBC.syscall(SYS_CLOSE_RANGE, from, ~0, CLOSE_RANGE_CLOEXEC, 0);
  }

  /** The copy is never freed: the process becomes another, or reports a failure and ends. */
  private static long copy(byte[] bytes) {
    long copy = LIBC.malloc(bytes.length + 1L);
    Memory.putString(copy, bytes);
    return copy;
  }
}
