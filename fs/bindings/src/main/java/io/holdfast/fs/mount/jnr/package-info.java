/**
 * The portable binding: libfuse 2 through jnr-fuse. Entry type: {@link
 * io.holdfast.fs.mount.jnr.JnrBinding}. No other package knows jnr-fuse.
 */
@NullMarked
package io.holdfast.fs.mount.jnr;

import org.jspecify.annotations.NullMarked;
