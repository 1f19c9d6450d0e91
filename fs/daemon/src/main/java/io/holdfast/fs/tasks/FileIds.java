package io.holdfast.fs.tasks;

import io.holdfast.fs.tree.Node;
import java.util.Arrays;
import java.util.BitSet;
import java.util.SplittableRandom;

/**
 * The ids of files, eight bytes each: a dataset may have ten million. Not thread-safe while it is
 * filled; then any thread may read it.
 */
final class FileIds {
  private long[] ids = new long[16];
  private int count;

  void add(Node file) {
    add(file.id());
  }

  private void add(long id) {
    if (count == ids.length) {
      ids = Arrays.copyOf(ids, count + count / 2);
    }
    ids[count++] = id;
  }

  int size() {
    return count;
  }

  long get(int index) {
    return ids[index];
  }

  /** Returns the ids without repetitions; the first of equal ids stays. */
  FileIds withoutRepeats() {
    long[] sorted = Arrays.copyOf(ids, count);
    Arrays.sort(sorted);
    BitSet seen = new BitSet(count);
    FileIds once = new FileIds();
    for (int i = 0; i < count; i++) {
      // the search finds the same place for equal ids
      int place = Arrays.binarySearch(sorted, ids[i]);
      if (!seen.get(place)) {
        seen.set(place);
        once.add(ids[i]);
      }
    }
    return once;
  }

  /** Shuffles the ids; the order is the same for the same number of files. */
  void shuffle() {
    SplittableRandom random = new SplittableRandom(count);
    for (int i = count - 1; i > 0; i--) {
      int other = random.nextInt(i + 1);
      long id = ids[i];
      ids[i] = ids[other];
      ids[other] = id;
    }
  }
}
