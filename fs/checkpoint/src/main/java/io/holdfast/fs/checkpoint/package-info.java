/**
 * A writable directory for checkpoints, without a kernel: the front, where programs write; the log
 * of their operations; and the persister, which applies the operations in order to the store. Entry
 * types: {@link io.holdfast.fs.checkpoint.Front} and {@link io.holdfast.fs.checkpoint.Persister}.
 */
@NullMarked
package io.holdfast.fs.checkpoint;

import org.jspecify.annotations.NullMarked;
