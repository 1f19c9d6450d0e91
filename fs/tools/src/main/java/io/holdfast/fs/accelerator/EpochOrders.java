package io.holdfast.fs.accelerator;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

/**
 * A new random order of all files for each epoch, from a seed: that of epoch e follows from seed +
 * e, as in PyTorch's DistributedSampler. Thread-safe.
 */
final class EpochOrders {
  /** Readers are never further apart than the batches that they read ahead. */
  private static final int KEPT = 4;

  private final int files;
  private final long seed;

  /** The last orders that somebody asked for. Guarded by this. */
  private final Map<Long, int[]> orders =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, int[]> eldest) {
          return size() > KEPT;
        }
      };

  EpochOrders(int files, long seed) {
    this.files = files;
    this.seed = seed;
  }

  /**
   * Returns the number of the file at a position of the whole sequence, in which epoch follows
   * epoch.
   */
  int fileAt(long position) {
    return order(position / files)[(int) (position % files)];
  }

  private synchronized int[] order(long epoch) {
    return orders.computeIfAbsent(epoch, this::shuffled);
  }

  private int[] shuffled(long epoch) {
    int[] order = new int[files];
    Random random = new Random(seed + epoch);
    for (int i = 0; i < files; i++) {
      int j = random.nextInt(i + 1);
      order[i] = order[j];
      order[j] = i;
    }
    return order;
  }
}
