/**
 * What the control socket and the control files say. The daemon opens a {@link
 * io.holdfast.fs.control.ControlServer}, which answers with its {@link
 * io.holdfast.fs.control.ControlCommands}; the command line asks through {@link
 * io.holdfast.fs.control.ControlClient}. {@link io.holdfast.fs.control.ControlDirectory} says who
 * is running.
 */
@NullMarked
package io.holdfast.fs.control;

import org.jspecify.annotations.NullMarked;
