package io.holdfast.fs.accelerator;

/** Where an accelerator gets its batches. */
interface Batches {
  /** Returns the next batch, in the order of a data loader; waits until it is there. */
  Batch next() throws InterruptedException;
}
