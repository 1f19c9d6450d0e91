package io.holdfast.model;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Reads of any node, offset and length, as a kernel may ask for them, and requests of any extent
 * and range, as peers may: each gets the bytes that the file has there, or none. Run by
 * packaging/fuzz, with guard pages around all memory that is handed over.
 */
public final class ItemFuzz {
  private static final int MOST_STEPS = 16;

  /** The longest read: longer ones are refused, or take too long for what they may find. */
  private static final int LENGTH_BITS = 18;

  private static @Nullable HugeFiles world;

  private ItemFuzz() {}

  /** One input: some steps, each of a few numbers. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    ByteBuffer input = ByteBuffer.wrap(bytes);
    HugeFiles files = world();
    for (int i = 0; i < MOST_STEPS && input.hasRemaining(); i++) {
      int kind = next(input);
      int file = Math.floorMod(next(input), files.count());
      switch (kind & 3) {
        case 0 -> files.readNode(number(input), offset(input, files, file), length(input));
        case 1 -> files.items(file);
        case 2 -> {
          long extent = number(input);
          int itemLength = (int) number(input);
          int from = (int) number(input);
          boolean unused = files.ask(file, extent, itemLength, from, length(input));
        }
        default -> files.read(file, offset(input, files, file), length(input));
      }
      if ((kind & 0x80) != 0) {
        boolean unused = files.askWithin(file, number(input), length(input), length(input));
      }
    }
  }

  private static synchronized HugeFiles world() {
    if (world == null) {
      try {
        world = new HugeFiles();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      Runtime.getRuntime().addShutdownHook(new Thread(world::close));
    }
    return world;
  }

  /** Ends what the inputs were given to. */
  static synchronized void end() {
    if (world != null) {
      world.close();
      world = null;
    }
  }

  /**
   * Returns any number, or a neighbour of a power of two, of a file's end, or of a number that
   * collided once.
   */
  private static long offset(ByteBuffer input, HugeFiles files, int file) {
    int kind = next(input);
    long near = (byte) next(input) * (long) (1 << (kind >>> 2 & 15));
    return near
        + switch (kind & 3) {
          case 0 -> number(input);
          case 1 -> 1L << (next(input) & 63);
          case 2 -> files.size(file);
          default -> ((long) next(input) << 24) * HugeFiles.ITEM;
        };
  }

  private static int length(ByteBuffer input) {
    int kind = next(input);
    int length = (int) number(input);
    return kind < 16 ? length : length & (1 << LENGTH_BITS) - 1;
  }

  private static int next(ByteBuffer input) {
    return input.hasRemaining() ? input.get() & 0xff : 0;
  }

  /** Returns a number of up to eight bytes; the first byte says how many. */
  private static long number(ByteBuffer input) {
    int bytes = next(input) % (Long.BYTES + 1);
    long value = 0;
    for (int i = 0; i < bytes; i++) {
      value = value << Byte.SIZE | next(input);
    }
    return value;
  }
}
