/**
 * The kernel's protocol for the writable directory: decodes requests, calls the {@link
 * io.holdfast.fs.checkpoint.CheckpointFilesystem}, and replies. Entry type: {@link
 * io.holdfast.fs.checkpoint.kernel.WritableMount}.
 */
@NullMarked
package io.holdfast.fs.checkpoint.kernel;

import org.jspecify.annotations.NullMarked;
