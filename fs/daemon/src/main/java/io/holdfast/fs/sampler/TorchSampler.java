package io.holdfast.fs.sampler;

import java.math.BigInteger;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The order of a sampler of {@code torch.utils.data}: {@code RandomSampler} with a generator of its
 * own, {@code DistributedSampler}, or {@code SequentialSampler}. Immutable.
 *
 * <ul>
 *   <li>Without a {@linkplain Replica replica}, shuffled: the pass number {@code epoch}, counted
 *       from 0, of {@code RandomSampler(data, generator=g)} after {@code g.manual_seed(seed)}. A
 *       pass to its end draws two permutations, of which it uses the first: torch computes the
 *       second for a rest that is empty.
 *   <li>With a replica: {@code DistributedSampler(data, world, rank, shuffle, seed, drop_last)}
 *       after {@code set_epoch(epoch)}, whose generator has the seed {@code seed + epoch}.
 *   <li>Without a replica, not shuffled: {@code SequentialSampler(data)}.
 * </ul>
 *
 * <p>Cost: 4 bytes an index; a pass of {@code RandomSampler} draws all passes before it, and {@link
 * #MOST_DRAWS} bounds that.
 *
 * @param seed as for {@code manual_seed}: from -2^63 to 2^64 - 1
 * @param epoch the pass, counted from 0
 * @param replica the part of one process among several; null where there is one
 */
public record TorchSampler(BigInteger seed, int epoch, boolean shuffle, @Nullable Replica replica) {
  /** The most random numbers that passes before the wanted one may take; some minutes. */
  static final long MOST_DRAWS = 50_000_000_000L;

  private static final BigInteger LEAST_SEED = BigInteger.ONE.shiftLeft(63).negate();
  private static final BigInteger LARGEST_SEED =
      BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);

  /**
   * One of several processes that divide the indices.
   *
   * @param rank its number, counted from 0
   * @param world how many there are
   * @param dropLast whether indices are left out, rather than repeated, so that all have equally
   *     many
   */
  public record Replica(int rank, int world, boolean dropLast) {
    /** Rejects what torch rejects. */
    public Replica {
      if (world < 1) {
        throw new IllegalArgumentException("the world must be at least 1 (was " + world + ")");
      }
      if (rank < 0 || rank >= world) {
        throw new IllegalArgumentException(
            "the rank must be from 0 to " + (world - 1) + " (was " + rank + ")");
      }
    }

    /** Returns how many indices each process has. */
    public int share(int n) {
      return dropLast ? n / world : (int) ((n + (long) world - 1) / world);
    }
  }

  /** Rejects what torch rejects. */
  public TorchSampler {
    if (epoch < 0) {
      throw new IllegalArgumentException("the epoch must be at least 0 (was " + epoch + ")");
    }
    if (seed.compareTo(LEAST_SEED) < 0 || !isSeed(seed, replica, epoch)) {
      throw new IllegalArgumentException(
          "the seed must be from -2^63 to 2^64 - 1, with the epoch for several ranks (was "
              + seed
              + ")");
    }
  }

  /**
   * Returns the indices of the dataset in the order in which they are read.
   *
   * @param n how many items the dataset has
   * @throws IllegalArgumentException if the passes before this one are too many to compute
   */
  public int[] indices(int n) {
    int[] all = shuffle ? permutation(n) : RandomPermutation.identity(n);
    return replica == null ? all : part(all, replica);
  }

  private static boolean isSeed(BigInteger seed, @Nullable Replica replica, int epoch) {
    BigInteger used = replica == null ? seed : seed.add(BigInteger.valueOf(epoch));
    return used.compareTo(LARGEST_SEED) <= 0;
  }

  /** Tells whether there is another epoch: torch adds its number to the seed, for several ranks. */
  public boolean hasEpoch(int another) {
    return another >= 0 && isSeed(seed, replica, another);
  }

  /** Returns the sampler of another epoch. */
  public TorchSampler at(int another) {
    return new TorchSampler(seed, another, shuffle, replica);
  }

  /**
   * Returns the indices that the processes of all ranks read when they take turns: the first of
   * each rank, then the second of each, and so on.
   *
   * @throws IllegalStateException if there is one process, without a rank
   */
  public int[] indicesOfAllRanks(int n) {
    if (replica == null) {
      throw new IllegalStateException("there is one process");
    }
    int[] all = shuffle ? permutation(n) : RandomPermutation.identity(n);
    int[] turns = new int[n == 0 ? 0 : Math.multiplyExact(replica.share(n), replica.world())];
    Arrays.setAll(turns, i -> all[i % n]);
    return turns;
  }

  private int[] permutation(int n) {
    if (replica != null) {
      return RandomPermutation.next(n, generator(seed.add(BigInteger.valueOf(epoch))));
    }
    MersenneTwister random = generator(seed);
    long before = Math.multiplyExact(2L * epoch, RandomPermutation.draws(n));
    if (before > MOST_DRAWS) {
      throw new IllegalArgumentException(
          "epoch " + epoch + " of " + n + " items is too far from the first to be computed");
    }
    random.skip(before);
    return RandomPermutation.next(n, random);
  }

  private static MersenneTwister generator(BigInteger seed) {
    return new MersenneTwister(seed.intValue());
  }

  /** Returns every world-th index; past the end of all, it begins again with the first. */
  private static int[] part(int[] all, Replica replica) {
    int[] part = new int[all.length == 0 ? 0 : replica.share(all.length)];
    Arrays.setAll(
        part, i -> all[(int) ((replica.rank() + (long) i * replica.world()) % all.length)]);
    return part;
  }
}
