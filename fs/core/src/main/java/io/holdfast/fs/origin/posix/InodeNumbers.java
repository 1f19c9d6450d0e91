package io.holdfast.fs.origin.posix;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.OriginPath;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;

/**
 * Inode numbers of a dataset that other file systems are mounted in, or that has subvolumes of
 * btrfs. Their inodes have the same numbers as those of the dataset's own file system, and a mount
 * has one device: {@code find} would take a subvolume for a loop and pass it over, and {@code tar}
 * two files for hard links. So the numbers of another file system get other upper bits.
 *
 * <p>These depend on the path where the file system begins, and not on its device's number: other
 * nodes and later daemons have other device numbers. Thread-safe.
 */
final class InodeNumbers {
  private static final byte SLASH = '/';

  /** An odd number, so that different bits stay different (Fibonacci hashing). */
  private static final long SPREAD = 0x9e37_79b9_7f4a_7c15L;

  private static final long LOWER = 0xffff_ffffL;
  private static final long UPPER = Long.MAX_VALUE & ~LOWER;

  private final int root;
  private final LongConsumer found;

  /** The bits that the numbers of a device get; 0 for that of the dataset's root. */
  private final Map<Long, Long> bits = new ConcurrentHashMap<>();

  /**
   * Creates the numbers below a directory.
   *
   * @param root a descriptor of the directory, which stays the caller's
   * @param found takes each device of another file system, once
   */
  InodeNumbers(int root, LongConsumer found) {
    this.root = root;
    this.found = found;
  }

  /**
   * Returns the attributes of an entry with its number in the dataset.
   *
   * @param device the device with the entry
   * @param path a path of the entry, or of one on the same device below it
   */
  Attributes of(Attributes stat, long device, OriginPath path) {
    Long known = bits.get(device);
    long added = known == null ? learn(device, path) : known;
    return added == 0 ? stat : stat.withInode(number(stat, added));
  }

  private static long number(Attributes stat, long added) {
    boolean isShort = stat.generation() != 0; // there is room for 32 bits only
    return stat.inode() ^ (isShort ? added >>> Integer.SIZE : added & UPPER);
  }

  /** Finds the first directory on a path that is on a device. */
  private long learn(long device, OriginPath path) {
    byte[] bytes = path.bytes();
    long added = 0;
    if (Statx.call(root) != 0 || Statx.onDevice() != device) {
      int end = 0;
      do {
        end++;
        while (end < bytes.length && bytes[end] != SLASH) {
          end++;
        }
      } while (end < bytes.length && !isOn(device, Arrays.copyOf(bytes, end)));
      added = bits(Arrays.copyOf(bytes, Math.min(end, bytes.length)));
    }
    Long other = bits.putIfAbsent(device, added);
    if (other != null) {
      return other;
    }
    if (added != 0) {
      found.accept(device);
    }
    return added;
  }

  private boolean isOn(long device, byte[] path) {
    int fd = Linux.openBeneath(root, path, DirectoryPath.FLAGS);
    if (fd < 0) {
      return false;
    }
    try {
      return Statx.call(fd) == 0 && Statx.onDevice() == device;
    } finally {
      LIBC.close(fd);
    }
  }

  /** Returns bits for a path; some of the upper half are set. */
  private static long bits(byte[] path) {
    return (Arrays.hashCode(path) * SPREAD & UPPER) | 1L << Integer.SIZE;
  }
}
