package io.holdfast.fs.residency;

import java.util.Arrays;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The numbers by which the policy knows residents. A number is used only once, because a policy may
 * remember a resident that has gone. Numbers ascend, so sorted arrays hold them, in 12 to 24 bytes
 * a resident. Not thread-safe.
 */
final class Handles {
  private static final int FEWEST = 16;

  /** In ascending order; removed numbers stay until the arrays are packed. */
  private long[] handles = new long[FEWEST];

  private @Nullable Resident[] residents = new Resident[FEWEST];
  private int end;
  private int live;
  private long next = 1;

  /** Returns a number that was never used before. */
  long next() {
    return next++;
  }

  /** Makes room for one more resident: {@link #add} needs no heap then. */
  void makeRoom() {
    if (end == handles.length) {
      pack();
    }
  }

  /**
   * Adds a resident under the number that {@link #next} has just returned. There is {@linkplain
   * #makeRoom room} for it.
   */
  void add(long handle, Resident resident) {
    handles[end] = handle;
    residents[end++] = resident;
    live++;
  }

  /** Packs the arrays, or grows them where few entries were removed. */
  private void pack() {
    int room = live > end / 2 ? end + end / 2 : end;
    long[] packedHandles = new long[room];
    @Nullable Resident[] packed = new Resident[room];
    int to = 0;
    for (int i = 0; i < end; i++) {
      if (residents[i] != null) {
        packedHandles[to] = handles[i];
        packed[to++] = residents[i];
      }
    }
    handles = packedHandles;
    residents = packed;
    end = to;
  }

  /** Returns the resident of a number; null where there is none. */
  @Nullable Resident get(long handle) {
    int at = find(handle);
    return at < 0 ? null : residents[at];
  }

  /**
   * Passes the number of each resident until the taker returns false. The taker may remove the
   * resident.
   */
  void forEach(LongPredicate taker) {
    boolean goesOn = true;
    for (int i = 0; goesOn && i < end; i++) {
      goesOn = residents[i] == null || taker.test(handles[i]);
    }
  }

  /** Replaces the resident of a number. */
  void replace(long handle, Resident now) {
    residents[find(handle)] = now;
  }

  /** Removes and returns the resident of a number; null where there is none. */
  @Nullable Resident remove(long handle) {
    int at = find(handle);
    Resident removed = at < 0 ? null : residents[at];
    if (removed != null) {
      residents[at] = null;
      live--;
    }
    return removed;
  }

  private int find(long handle) {
    return Arrays.binarySearch(handles, 0, end, handle);
  }
}
