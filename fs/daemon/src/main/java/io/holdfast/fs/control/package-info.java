/**
 * The control socket and the control files. The daemon opens a {@link
 * io.holdfast.fs.control.ControlServer}, which answers with its {@link
 * io.holdfast.fs.control.ControlCommands}. Commands connect with a {@link
 * io.holdfast.fs.control.ControlClient}. {@link io.holdfast.fs.control.ControlDirectory} finds the
 * running daemons.
 */
@NullMarked
package io.holdfast.fs.control;

import org.jspecify.annotations.NullMarked;
