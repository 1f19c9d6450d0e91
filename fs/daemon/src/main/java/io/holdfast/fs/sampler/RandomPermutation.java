package io.holdfast.fs.sampler;

/**
 * The random permutation of {@code torch.randperm} on the CPU: a shuffle by Fisher and Yates, which
 * draws 32 bits a number below {@link #WIDE} numbers. From there on newer versions of torch build
 * the permutation from the inside out, with 64 bits a number, as the remainder of 32 bits would not
 * be uniform any more; torch 1.13 goes on with 32 bits. Stateless.
 */
final class RandomPermutation {
  /** The fewest numbers that are drawn with 64 bits each: 2^32 / 20. */
  static final int WIDE = (int) (0xffffffffL / 20);

  private RandomPermutation() {}

  /** Returns the next permutation of the numbers from 0 to n - 1. */
  static int[] next(int n, MersenneTwister random) {
    return n < WIDE ? shuffled(n, random) : insideOut(n, random);
  }

  /** Returns how many numbers of 32 bits a permutation draws. */
  static long draws(int n) {
    return n < WIDE ? Math.max(0, n - 1) : 2L * n;
  }

  static int[] shuffled(int n, MersenneTwister random) {
    int[] all = identity(n);
    for (int i = 0; i < n - 1; i++) {
      int other = i + (int) (random.next32() % (n - i));
      int number = all[i];
      all[i] = all[other];
      all[other] = number;
    }
    return all;
  }

  static int[] insideOut(int n, MersenneTwister random) {
    int[] all = new int[n];
    for (int i = 0; i < n; i++) {
      int other = (int) Long.remainderUnsigned(random.next64(), i + 1L);
      all[i] = all[other];
      all[other] = i;
    }
    return all;
  }

  /** Returns the numbers from 0 to n - 1 in their order. */
  static int[] identity(int n) {
    int[] all = new int[n];
    for (int i = 0; i < n; i++) {
      all[i] = i;
    }
    return all;
  }
}
