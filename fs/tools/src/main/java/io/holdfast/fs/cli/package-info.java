/**
 * The command line: {@link io.holdfast.fs.cli.Holdfast} has the main method, each command is a
 * class. {@code Preflight} says before a mount what is in its way, {@code BackgroundStart} and
 * {@code DaemonProcess} are the two ends of a start in the background, and {@code DaemonState} is
 * what the one leaves for the other.
 */
@NullMarked
package io.holdfast.fs.cli;

import org.jspecify.annotations.NullMarked;
