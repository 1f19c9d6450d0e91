/**
 * The start of a mount. {@link io.holdfast.fs.start.Preflight} says before a mount what is in its
 * way, {@link io.holdfast.fs.start.BackgroundStart} and {@link io.holdfast.fs.start.DaemonProcess}
 * are the two ends of a start in the background, and {@link io.holdfast.fs.start.DaemonState} is
 * what the one leaves for the other.
 */
@NullMarked
package io.holdfast.fs.start;

import org.jspecify.annotations.NullMarked;
