package io.holdfast.fs.residency;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the machine lets this process pin. Immutable.
 *
 * @param canLock whether pages of the whole capacity may be locked
 * @param mappings how many residents there may be: each is one mapping, and the kernel bounds those
 *     of a process
 */
public record PinLimits(boolean canLock, long mappings) {
  private static final Logger log = LoggerFactory.getLogger(PinLimits.class);
  private static final Path MAX_MAP_COUNT = Path.of("/proc/sys/vm/max_map_count");

  /** Mappings left to the virtual machine, its libraries and its threads. */
  private static final long RESERVED_MAPPINGS = 8192;

  private static final int LONGEST_NUMBER = 32;
  private static final int RLIMIT_MEMLOCK = 8;
  private static final int CAP_IPC_LOCK = 14;

  /**
   * Raises the limits as far as this process may, and returns where they are then.
   *
   * @param capacity bytes that residents may take
   */
  public static PinLimits raise(long capacity) {
    long wanted =
        Math.min(Integer.MAX_VALUE - 1L, capacity / Linux.PAGE_SIZE + 2 * RESERVED_MAPPINGS);
    long mappings = Math.max(0, raiseMappings(wanted) - RESERVED_MAPPINGS);
    return new PinLimits(mayLock(capacity), mappings);
  }

  /**
   * Chooses how to pin, as {@code --pin} wants it and the machine allows it.
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

  private static long raiseMappings(long wanted) {
    long current = 65_530;
    try {
      current = read(MAX_MAP_COUNT);
      if (current < wanted) {
        Files.writeString(MAX_MAP_COUNT, Long.toString(wanted));
        return wanted;
      }
    } catch (IOException | NumberFormatException e) {
      log.debug("vm.max_map_count stays at {}", current, e);
    }
    return current;
  }

  /**
   * Reads a number in one piece: of a file like this the kernel gives nothing to a second read, and
   * {@link Files#readString} begins with a byte of its own.
   */
  private static long read(Path file) throws IOException {
    byte[] text = new byte[LONGEST_NUMBER];
    try (InputStream in = Files.newInputStream(file)) {
      int length = Math.max(0, in.read(text));
      return Long.parseLong(new String(text, 0, length, StandardCharsets.US_ASCII).strip());
    }
  }

  private static boolean mayLock(long capacity) {
    return hasCapability(CAP_IPC_LOCK) || lockableBytes() >= capacity;
  }

  /** Raises the limit of what a process without rights may lock, and returns it, in bytes. */
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

  private static boolean hasCapability(int bit) {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith("CapEff:")) {
          return (Long.parseUnsignedLong(line.substring("CapEff:".length()).strip(), 16) >> bit & 1)
              != 0;
        }
      }
    } catch (IOException | NumberFormatException e) {
      log.debug("capabilities unknown", e);
    }
    return false;
  }
}
