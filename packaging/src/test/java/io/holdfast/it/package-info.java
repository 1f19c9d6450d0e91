/**
 * Tests on real mounts: the launcher, the kernel and other processes are the only witnesses. {@link
 * io.holdfast.it.Sandbox} makes the mounts and guards that nothing is left of them.
 */
@NullMarked
package io.holdfast.it;

import org.jspecify.annotations.NullMarked;
