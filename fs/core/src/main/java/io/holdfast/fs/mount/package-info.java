/**
 * The port between the kernel and the core, by node and free of any binding's types. A binding in a
 * package below calls {@link io.holdfast.fs.mount.Filesystem} and is called as {@link
 * io.holdfast.fs.mount.Binding}.
 */
@NullMarked
package io.holdfast.fs.mount;

import org.jspecify.annotations.NullMarked;
