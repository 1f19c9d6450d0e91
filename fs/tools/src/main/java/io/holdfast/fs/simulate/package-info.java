/**
 * {@code holdfast simulate}: reads the input, runs the simulator of {@link
 * io.holdfast.policy.simulator}, and shows the results. {@link io.holdfast.fs.simulate.Experiment}
 * is the entry; files come from {@link io.holdfast.fs.simulate.FileSizes}, {@link
 * io.holdfast.fs.simulate.DatasetDirectory} or a {@link io.holdfast.fs.simulate.Trace}. This
 * package knows no mount and no daemon.
 *
 * <p>A user's mistake is an {@link java.lang.IllegalArgumentException} with one line for the user.
 */
@NullMarked
package io.holdfast.fs.simulate;

import org.jspecify.annotations.NullMarked;
