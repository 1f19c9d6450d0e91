package io.holdfast.fs.tree;

/**
 * The hash SipHash-1-3 of some bytes, the variant for hash tables. A user who does not know the key
 * cannot choose bytes so that they have one hash [1].
 *
 * <p>[1] Aumasson, J.-P., Bernstein, D. J. SipHash: a fast short-input PRF. INDOCRYPT 2012.
 *
 * <p>For one thread.
 */
final class SipHash {
  private static final int ROUNDS_OF_A_WORD = 1;
  private static final int ROUNDS_AT_THE_END = 3;
  private static final int LENGTH_SHIFT = 56;

  private long v0;
  private long v1;
  private long v2;
  private long v3;

  /** The bytes of the word that is not full yet, the first byte lowest. */
  private long word;

  private int length;

  /** Begins with no bytes. The two numbers are the key. */
  SipHash(long key0, long key1) {
    v0 = key0 ^ 0x736f6d6570736575L;
    v1 = key1 ^ 0x646f72616e646f6dL;
    v2 = key0 ^ 0x6c7967656e657261L;
    v3 = key1 ^ 0x7465646279746573L;
  }

  /** Adds a byte: the lowest of the number. */
  void add(int value) {
    word |= (value & 0xffL) << (length * Byte.SIZE); // a shift counts modulo 64
    length++;
    if (length % Long.BYTES == 0) {
      compress(word);
      word = 0;
    }
  }

  /** Returns the hash; nothing may be added any more. */
  long end() {
    compress(word | (long) length << LENGTH_SHIFT);
    v2 ^= 0xff;
    mix(ROUNDS_AT_THE_END);
    return v0 ^ v1 ^ v2 ^ v3;
  }

  private void compress(long full) {
    v3 ^= full;
    mix(ROUNDS_OF_A_WORD);
    v0 ^= full;
  }

  private void mix(int rounds) {
    long a = v0;
    long b = v1;
    long c = v2;
    long d = v3;
    for (int i = 0; i < rounds; i++) {
      a += b;
      c += d;
      b = Long.rotateLeft(b, 13) ^ a;
      d = Long.rotateLeft(d, 16) ^ c;
      a = Long.rotateLeft(a, 32) + d;
      c += b;
      b = Long.rotateLeft(b, 17) ^ c;
      d = Long.rotateLeft(d, 21) ^ a;
      c = Long.rotateLeft(c, 32);
    }
    v0 = a;
    v1 = b;
    v2 = c;
    v3 = d;
  }
}
