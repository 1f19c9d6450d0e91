package io.holdfast.fs.residency;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.nio.file.Files;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The limits of this process for pinning. Immutable.
 *
 * @param canLock whether pages of the whole capacity may be locked
 * @param mappings most residents: each takes one mapping, and the kernel limits the mappings of a
 *     process
 */
public record PinLimits(boolean canLock, long mappings) {
  private static final Logger log = LoggerFactory.getLogger(PinLimits.class);
  private static final String MAX_MAP_COUNT = "sys/vm/max_map_count";

  /** Mappings reserved for the virtual machine, its libraries and its threads. */
  private static final long RESERVED_MAPPINGS = 8192;

  /** The kernel's default. */
  private static final long DEFAULT_MAPPINGS = 65_530;

  private static final int RLIMIT_MEMLOCK = 8;
  private static final int CAP_IPC_LOCK = 14;

  /**
   * Raises the limits as far as this process may, and returns them.
   *
   * @param capacity bytes that residents may take
   */
  public static PinLimits raise(long capacity) {
    return raise(capacity, Procfs.host(), PinLimits::lockableBytes);
  }

  /**
   * The same of another machine.
   *
   * @param lockable raises what a process without rights may lock, and returns it
   */
  static PinLimits raise(long capacity, Procfs procfs, LongSupplier lockable) {
    long wanted =
        Math.min(Integer.MAX_VALUE - 1L, capacity / Linux.PAGE_SIZE + 2 * RESERVED_MAPPINGS);
    long mappings = Math.max(0, raiseMappings(procfs, wanted) - RESERVED_MAPPINGS);
    boolean canLock = procfs.hasCapability(CAP_IPC_LOCK, false) || lockable.getAsLong() >= capacity;
    return new PinLimits(canLock, mappings);
  }

  /**
   * Chooses how to pin, by {@code --pin} and by these limits.
   *
   * @param wanted null to lock where it is allowed
   * @return whether to lock pages, rather than only map them
   * @throws FsException where locking was asked for and is not allowed
   */
  public boolean choose(@Nullable Boolean wanted) throws FsException {
    if (Boolean.TRUE.equals(wanted) && !canLock) {
      throw new FsException(
          FsError.NOT_PERMITTED,
          "--pin hard: locking that much memory is not permitted: run as root, raise 'ulimit -l',"
              + " or use --pin soft");
    }
    return wanted == null ? canLock : wanted;
  }

  private static long raiseMappings(Procfs procfs, long wanted) {
    OptionalLong current = procfs.number(MAX_MAP_COUNT);
    if (current.isPresent() && current.getAsLong() < wanted) {
      try {
        Files.writeString(procfs.path(MAX_MAP_COUNT), Long.toString(wanted));
        return wanted;
      } catch (IOException e) {
        log.debug("vm.max_map_count stays at {}", current.getAsLong(), e);
      }
    }
    return current.orElse(DEFAULT_MAPPINGS);
  }

  /**
   * Raises the limit on locked memory for a process without CAP_IPC_LOCK, and returns it, in bytes.
   */
  public static long lockableBytes() {
    // struct rlimit: u64 soft, u64 hard; ~0 means no limit
    long limits = Linux.scratch().area();
    if (LIBC.getrlimit(RLIMIT_MEMLOCK, limits) != 0) {
      return 0;
    }
    long hard = Memory.getLong(limits + 8);
    Memory.putLong(limits, hard);
    LIBC.setrlimit(RLIMIT_MEMLOCK, limits);
    return hard < 0 ? Long.MAX_VALUE : hard;
  }
}
