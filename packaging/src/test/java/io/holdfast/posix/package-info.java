/**
 * System calls as a program makes them, with byte names and plain error numbers. {@link
 * io.holdfast.posix.Posix} is the entry.
 */
@NullMarked
package io.holdfast.posix;

import org.jspecify.annotations.NullMarked;
