/**
 * What a capacity would give: reads what is to be simulated, runs the simulator of {@link
 * io.holdfast.policy.simulator}, and shows what came out. {@link
 * io.holdfast.fs.simulate.Experiment} is the entry; files come from {@link
 * io.holdfast.fs.simulate.FileSizes}, {@link io.holdfast.fs.simulate.DatasetDirectory} or a {@link
 * io.holdfast.fs.simulate.Trace}. Nothing here knows of a mount or a daemon.
 *
 * <p>What users got wrong is an {@link java.lang.IllegalArgumentException} with one line for them.
 */
@NullMarked
package io.holdfast.fs.simulate;

import org.jspecify.annotations.NullMarked;
