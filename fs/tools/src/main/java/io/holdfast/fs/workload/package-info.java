/**
 * {@code holdfast simulate --jobs FILE}: plays jobs on the nodes of a cluster under several ways to
 * divide the nodes' memory among them, and shows how soon they end. {@link
 * io.holdfast.fs.workload.Workload} is what is played, {@link io.holdfast.fs.workload.Simulation}
 * plays it, {@link io.holdfast.fs.workload.WorkloadReport} shows the results. Knows no mount and no
 * daemon.
 *
 * <p>A user's mistake is an {@link java.lang.IllegalArgumentException} with one line for the user.
 */
@NullMarked
package io.holdfast.fs.workload;

import org.jspecify.annotations.NullMarked;
