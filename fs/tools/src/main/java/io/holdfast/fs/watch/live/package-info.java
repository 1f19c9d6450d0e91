/**
 * The activity of a mount while it goes on: {@link io.holdfast.fs.watch.live.DaemonLook} asks the
 * daemon again and again, {@link io.holdfast.fs.watch.live.WatchLoop} prints what changed, and
 * {@link io.holdfast.fs.watch.live.TopTerminal} shows it on a whole terminal.
 */
@NullMarked
package io.holdfast.fs.watch.live;

import org.jspecify.annotations.NullMarked;
