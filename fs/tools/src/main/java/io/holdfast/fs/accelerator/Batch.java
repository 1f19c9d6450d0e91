package io.holdfast.fs.accelerator;

/**
 * A batch that was read. Only its size is kept: nobody computes with the bytes.
 *
 * @param bytes the size of its samples
 * @param readyNanos when its last sample was there, on the run's clock
 */
record Batch(long bytes, long readyNanos) {}
