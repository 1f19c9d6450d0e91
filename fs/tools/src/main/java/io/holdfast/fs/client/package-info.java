/**
 * Daemons as commands ask them: {@link io.holdfast.fs.client.Targets} finds the daemon that a user
 * means, {@link io.holdfast.fs.client.DaemonClient} asks it. On that one stand {@link
 * io.holdfast.fs.client.TaskClient}, for what takes long, {@link
 * io.holdfast.fs.client.OrderClient}, for the orders of jobs, and {@link
 * io.holdfast.fs.client.PersistWait}, for checkpoints.
 */
@NullMarked
package io.holdfast.fs.client;

import org.jspecify.annotations.NullMarked;
