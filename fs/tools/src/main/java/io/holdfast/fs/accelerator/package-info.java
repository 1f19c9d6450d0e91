/**
 * {@code holdfast bench --accelerators}: emulates accelerators that take batches from a data
 * loader, and measures how much of their time they compute (AU, accelerator utilization). {@link
 * io.holdfast.fs.accelerator.AcceleratorBench} is the entry, {@link
 * io.holdfast.fs.accelerator.AcceleratorReport} the result; {@link
 * io.holdfast.fs.accelerator.TrainingWorkload} has the values of the workloads of MLPerf Storage.
 * Reads files as any program does; never writes. Knows no daemon.
 */
@NullMarked
package io.holdfast.fs.accelerator;

import org.jspecify.annotations.NullMarked;
