package io.holdfast.fs;

/** Seeds of random tests: printed, and set again with {@code -Dholdfast.test.seed=N}. */
public final class Seeds {
  private Seeds() {}

  /** Returns the seed for a test, and prints it. */
  public static long next(String test) {
    long seed = Long.getLong("holdfast.test.seed", System.nanoTime());
    System.out.println(test + ": seed " + seed);
    return seed;
  }
}
