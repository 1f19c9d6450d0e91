/**
 * How fast a job gets its data and works, and how fast it would be if something were other than it
 * is: the one model that {@code holdfast analyze}, the page and {@code holdfast allocate} share. An
 * {@link io.holdfast.fs.throughput.Observation} is what was seen of an epoch; {@link
 * io.holdfast.fs.throughput.JobModel} has the rates that follow from some, and predicts speeds. The
 * rate at which files come, F(x) = 1 / (x / C + p / N + (1 - x - p) / S), is computed by {@link
 * io.holdfast.policy.simulator.FetchModel}, as in simulations; few readers and small files on a
 * distant origin, which are bound by latency, by {@link io.holdfast.fs.throughput.ReaderNetwork}.
 * Nothing here asks a daemon or reads a file. Rates are in bytes per second.
 */
@NullMarked
package io.holdfast.fs.throughput;

import org.jspecify.annotations.NullMarked;
