package io.holdfast.policy.simulator;

import io.holdfast.policy.ItemHash;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The items of a simulated dataset: their sizes and hashes, by number from 0. Immutable.
 *
 * <p>The size of an item is its bytes. The weight is what it takes of a capacity: its size in whole
 * pages, as in a mount.
 */
public final class Dataset {
  /** Bytes of a page: weights are multiples of it. */
  public static final long PAGE = 4096;

  private final int items;
  private final long equalSize;
  private final long @Nullable [] sizes;
  private final long @Nullable [] hashes;
  private final long bytes;
  private final long weight;

  private Dataset(int items, long equalSize, long @Nullable [] sizes, long @Nullable [] hashes) {
    if (items < 1) {
      throw new IllegalArgumentException("a dataset needs at least one item, not " + items);
    }
    this.items = items;
    this.equalSize = equalSize;
    this.sizes = sizes;
    this.hashes = hashes;
    long total = 0;
    long pages = 0;
    try {
      for (int item = 0; item < items; item++) {
        if (size(item) < 1) {
          throw new IllegalArgumentException(
              "item %d has %d bytes; an item has at least 1".formatted(item, size(item)));
        }
        total = Math.addExact(total, size(item));
        pages = Math.addExact(pages, weight(item));
      }
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException("the dataset has more than 2^63 bytes", e);
    }
    this.bytes = total;
    this.weight = pages;
  }

  /**
   * Creates items of one size.
   *
   * @throws IllegalArgumentException if there are none, they are empty, or their sum overflows a
   *     long
   */
  public static Dataset ofEqualSizes(int items, long size) {
    return new Dataset(items, size, null, null);
  }

  /**
   * Creates items with lognormally distributed sizes, like those of photographs.
   *
   * @param mean mean of the sizes, in bytes
   * @param sigma standard deviation of the sizes' natural logarithms
   * @throws IllegalArgumentException as for {@link #ofEqualSizes}, and for a sigma that is negative
   *     or not a number
   */
  public static Dataset ofLognormalSizes(int items, long mean, double sigma, long seed) {
    if (!(sigma >= 0)) {
      throw new IllegalArgumentException("sigma must be at least 0: " + sigma);
    }
    if (mean < 1) {
      throw new IllegalArgumentException("the mean size must be at least 1: " + mean);
    }
    java.util.Random random = new java.util.Random(new SplittableRandom(seed).nextLong());
    double mu = Math.log((double) mean) - sigma * sigma / 2;
    long[] sizes = new long[Math.max(0, items)];
    for (int item = 0; item < items; item++) {
      sizes[item] = Math.max(1, Math.round(Math.exp(mu + sigma * random.nextGaussian())));
    }
    return new Dataset(items, 0, sizes, null);
  }

  /**
   * Creates items with known sizes and hashes.
   *
   * @param sizes in bytes
   * @param hashes hashes of the items' names: {@link ItemHash}
   * @throws IllegalArgumentException as for {@link #ofEqualSizes}
   */
  public static Dataset of(long[] sizes, long[] hashes) {
    if (sizes.length != hashes.length) {
      throw new IllegalArgumentException(sizes.length + " sizes, " + hashes.length + " hashes");
    }
    return new Dataset(sizes.length, 0, sizes.clone(), hashes.clone());
  }

  /** Returns the number of items. */
  public int items() {
    return items;
  }

  /** Returns the size of an item, in bytes. */
  public long size(int item) {
    return sizes == null ? equalSize : sizes[item];
  }

  /** Returns the weight of an item, in bytes. */
  public long weight(int item) {
    long size = size(item);
    return size > Long.MAX_VALUE - PAGE ? Long.MAX_VALUE : (size + PAGE - 1) / PAGE * PAGE;
  }

  /** Returns the hash of an item's name. */
  public long hash(int item) {
    return hashes == null ? ItemHash.of(item) : hashes[item];
  }

  /** Returns the sum of all sizes. */
  public long bytes() {
    return bytes;
  }

  /** Returns the sum of all weights: the capacity at which all items fit. */
  public long weight() {
    return weight;
  }

  /**
   * Returns the capacity for a share of the dataset.
   *
   * @param share 1 for all of it
   */
  public long capacity(double share) {
    if (sizes == null) {
      // whole items of one size, however the share is rounded
      return (long) Math.floor(share * items + 1e-9) * weight(0);
    }
    return (long) (share * (double) weight);
  }
}
