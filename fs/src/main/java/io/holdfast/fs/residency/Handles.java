package io.holdfast.fs.residency;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The numbers by which the policy knows residents. Each is used once: a policy may remember one
 * that has gone. They ascend, so that an array holds them, in 12 to 24 bytes each. Not thread-safe.
 */
final class Handles {
  private static final int FEWEST = 16;

  /** In ascending order, also of those that were removed since the arrays were last packed. */
  private long[] handles = new long[FEWEST];

  private @Nullable Resident[] residents = new Resident[FEWEST];
  private int end;
  private int live;
  private long next = 1;

  /** Returns a number that nothing had before. */
  long next() {
    return next++;
  }

  /** Adds a resident under the number that was made last. */
  void add(long handle, Resident resident) {
    if (end == handles.length) {
      pack();
    }
    handles[end] = handle;
    residents[end++] = resident;
    live++;
  }

  /** Leaves out what was removed; the arrays grow where that is little. */
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

  /** Puts another in the place of a resident that is there. */
  void replace(long handle, Resident now) {
    residents[find(handle)] = now;
  }

  /** Returns the resident of a number and removes it; null where there is none. */
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
