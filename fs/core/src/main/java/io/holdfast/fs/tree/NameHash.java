package io.holdfast.fs.tree;

import java.security.SecureRandom;

/**
 * The hash of a name in a directory. Users choose the names: one who knew the hashes could make
 * very many names of one hash, and each search would compare all of them. So the key is random, and
 * each process has another one; no hash outlives the process. Stateless.
 */
public final class NameHash {
  private static final SecureRandom random = new SecureRandom();
  private static final long KEY0 = random.nextLong();
  private static final long KEY1 = random.nextLong();

  private NameHash() {}

  /** Returns the hash of a name in the directory with an id. */
  public static int of(long directory, byte[] name) {
    SipHash hash = begin(directory);
    for (byte each : name) {
      hash.add(each);
    }
    return (int) hash.end();
  }

  /** Begins the hash of a name, whose bytes the caller adds. Each directory has its own key. */
  static SipHash begin(long directory) {
    return new SipHash(KEY0 ^ directory, KEY1);
  }
}
