/**
 * {@code holdfast bench}: measures a mount on this machine. {@link io.holdfast.fs.bench.Sample}
 * chooses files, {@link io.holdfast.fs.bench.Bench} reads them for a bounded time, {@link
 * io.holdfast.fs.bench.BenchReport} rates the results. Reads through the mount as any program does;
 * never writes.
 */
@NullMarked
package io.holdfast.fs.bench;

import org.jspecify.annotations.NullMarked;
