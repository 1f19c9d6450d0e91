/**
 * Who gets how much of a node's memory: capacity goes to the mounts whose jobs gain from it, and
 * never less than gives the speed of their fair share. {@link io.holdfast.fs.allocate.Allocator} is
 * the entry, a {@link io.holdfast.fs.allocate.Plan} what it is asked, an {@link
 * io.holdfast.fs.allocate.Allocation} its answer. Nothing here reads a file or knows of a mount.
 *
 * <p>What users got wrong is an {@link java.lang.IllegalArgumentException} with one line for them.
 */
@NullMarked
package io.holdfast.fs.allocate;

import org.jspecify.annotations.NullMarked;
