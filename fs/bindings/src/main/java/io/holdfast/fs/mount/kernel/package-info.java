/**
 * The binding that speaks the kernel's own protocol over /dev/fuse, without a library between.
 * Entry type: {@link io.holdfast.fs.mount.kernel.KernelBinding}.
 */
@NullMarked
package io.holdfast.fs.mount.kernel;

import org.jspecify.annotations.NullMarked;
