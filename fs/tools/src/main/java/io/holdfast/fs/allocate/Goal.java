package io.holdfast.fs.allocate;

/** How an objective divides memory. */
interface Goal {
  /** Returns the capacities that serve it best, within the room and with the curves of it. */
  long[] divide(Room room);

  /** Returns figures to compare splits by: of the first that differ, the greater is better. */
  double[] merit(Split split);
}
