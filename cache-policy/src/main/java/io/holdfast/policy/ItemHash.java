package io.holdfast.policy;

/**
 * The hash by which items are selected and placed: of the name alone, uniform over all longs, and
 * the same on every node. FNV-1a (Fowler, Noll and Vo) with the finalizer of MurmurHash3 (Appleby);
 * without the finalizer, the high bits of short names would be alike.
 */
public final class ItemHash {
  private static final long FNV_BASIS = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  private ItemHash() {}

  /**
   * Hashes an item of a file.
   *
   * @param path relative to the dataset's root
   * @param offset offset of the item within the file, in bytes
   */
  public static long of(byte[] path, long offset) {
    long hash = FNV_BASIS;
    for (byte each : path) {
      hash = (hash ^ (each & 0xff)) * FNV_PRIME;
    }
    return mixed((hash ^ offset) * FNV_PRIME);
  }

  /** Hashes an item whose name is a number. */
  public static long of(long number) {
    return mixed((FNV_BASIS ^ number) * FNV_PRIME);
  }

  private static long mixed(long hash) {
    long mixed = (hash ^ hash >>> 33) * 0xff51afd7ed558ccdL;
    mixed = (mixed ^ mixed >>> 33) * 0xc4ceb9fe1a85ec53L;
    return mixed ^ mixed >>> 33;
  }
}
