package io.holdfast.fs.sampler;

/**
 * The 32-bit Mersenne Twister MT19937, as {@code torch.Generator} on the CPU is one: seeded with
 * the lower 32 bits of the seed, whatever the others are. Not thread-safe.
 *
 * <p>Source: M. Matsumoto and T. Nishimura, "Mersenne Twister: A 623-Dimensionally Equidistributed
 * Uniform Pseudo-Random Number Generator", ACM TOMACS 8 (1998); the seeding is of their version of
 * 2002 ({@code init_genrand}).
 */
final class MersenneTwister {
  private static final int WORDS = 624;
  private static final int MIDDLE = 397;
  private static final int MATRIX = 0x9908b0df;
  private static final int UPPER = 0x80000000;
  private static final int LOWER = 0x7fffffff;
  private static final int SEEDING = 1812433253;

  private final int[] state = new int[WORDS];
  private int next = WORDS;

  /** Creates a generator; the seed is an unsigned number of 32 bits. */
  MersenneTwister(int seed) {
    state[0] = seed;
    for (int i = 1; i < WORDS; i++) {
      state[i] = SEEDING * (state[i - 1] ^ (state[i - 1] >>> 30)) + i;
    }
  }

  /** Returns the next number, from 0 to 2^32 - 1. */
  long next32() {
    if (next == WORDS) {
      twist();
    }
    int y = state[next++];
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    y ^= y >>> 18;
    return Integer.toUnsignedLong(y);
  }

  /**
   * Returns the next number of 64 bits, to be taken as unsigned: the first draw is the upper half.
   */
  long next64() {
    long upper = next32();
    return (upper << 32) | next32();
  }

  /** Draws so many numbers of 32 bits, and does nothing with them. */
  void skip(long numbers) {
    for (long left = numbers; left > 0; ) {
      if (next == WORDS) {
        twist();
      }
      int step = (int) Math.min(left, WORDS - next);
      next += step;
      left -= step;
    }
  }

  private void twist() {
    for (int i = 0; i < WORDS; i++) {
      int y = (state[i] & UPPER) | (state[(i + 1) % WORDS] & LOWER);
      state[i] = state[(i + MIDDLE) % WORDS] ^ (y >>> 1) ^ ((y & 1) == 0 ? 0 : MATRIX);
    }
    next = 0;
  }
}
