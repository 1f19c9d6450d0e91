/**
 * The daemon of a checkpoint mount: puts front, store, persister and mount together, and answers
 * commands. Entry type: {@link io.holdfast.fs.checkpoint.daemon.CheckpointDaemon}.
 */
@NullMarked
package io.holdfast.fs.checkpoint.daemon;

import org.jspecify.annotations.NullMarked;
