/**
 * The machine and this process as the commands see them: {@link io.holdfast.fs.host.OwnProcess} is
 * the process, its terminal and its end, {@link io.holdfast.fs.host.Host} the machine. Each failure
 * is a {@link io.holdfast.fs.host.CliException}. Knows no command and no daemon.
 */
@NullMarked
package io.holdfast.fs.host;

import org.jspecify.annotations.NullMarked;
