package io.holdfast.it;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Contents that tell where they come from. Every record of 64 bytes names its file, version and
 * offset:
 *
 * <pre>
 * 0        8         16       24                    64
 * | file   | version | offset | five words of noise |
 * </pre>
 *
 * The noise follows from the three names, so that any changed byte shows. Needs nothing but the
 * JDK: readers in processes of their own use it.
 */
public final class Stamps {
  public static final int RECORD = 64;

  private static final int NOISE_WORDS = 5;

  private Stamps() {}

  /** The version of some bytes, or a description of the error. */
  public record Finding(long version, String wrong) {
    public boolean isWhole() {
      return wrong.isEmpty();
    }
  }

  /** The bytes of a part of a file. */
  public static byte[] bytes(long file, long version, long offset, int length) {
    long first = offset / RECORD * RECORD;
    int skip = (int) (offset - first);
    int records = (skip + length + RECORD - 1) / RECORD;
    ByteBuffer buffer = ByteBuffer.allocate(records * RECORD).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < records; i++) {
      put(buffer, file, version, first + (long) i * RECORD);
    }
    return Arrays.copyOfRange(buffer.array(), skip, skip + length);
  }

  /** The version of bytes that were read at an offset that is a multiple of {@link #RECORD}. */
  public static Finding check(long file, long offset, byte[] bytes, int length) {
    ByteBuffer expected = ByteBuffer.allocate(RECORD).order(ByteOrder.LITTLE_ENDIAN);
    ByteBuffer actual = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    long version = -1;
    for (int at = 0; at + RECORD <= length; at += RECORD) {
      long here = actual.getLong(at + Long.BYTES);
      if (version == -1) {
        version = here;
      }
      if (here != version) {
        return new Finding(
            version,
            "version %d at %d, version %d at %d".formatted(version, offset, here, offset + at));
      }
      expected.clear();
      put(expected, file, here, offset + at);
      if (!Arrays.equals(expected.array(), 0, RECORD, bytes, at, at + RECORD)) {
        return new Finding(version, "bytes of nothing at %d".formatted(offset + at));
      }
    }
    return checkTail(file, offset, bytes, length, version);
  }

  private static Finding checkTail(long file, long offset, byte[] bytes, int length, long version) {
    int at = length / RECORD * RECORD;
    if (version != -1 && at < length) {
      byte[] tail = bytes(file, version, offset + at, length - at);
      if (!Arrays.equals(tail, 0, tail.length, bytes, at, length)) {
        return new Finding(version, "bytes of nothing at %d".formatted(offset + at));
      }
    }
    return new Finding(version, "");
  }

  private static void put(ByteBuffer buffer, long file, long version, long offset) {
    buffer.putLong(file).putLong(version).putLong(offset);
    long seed = file * 0x9E3779B97F4A7C15L ^ version * 0xC2B2AE3D27D4EB4FL ^ offset;
    for (int i = 0; i < NOISE_WORDS; i++) {
      seed = seed * 6364136223846793005L + 1442695040888963407L;
      buffer.putLong(seed ^ (seed >>> 29));
    }
  }
}
