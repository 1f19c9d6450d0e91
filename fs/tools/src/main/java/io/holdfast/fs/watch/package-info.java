/**
 * The activity of a mount, shown again and again: {@link io.holdfast.fs.watch.Change} compares two
 * looks at its figures, {@link io.holdfast.fs.watch.WatchRows} shows a change as a row, {@link
 * io.holdfast.fs.watch.TopScreen} as a screen, and {@link io.holdfast.fs.watch.ChangeReport} as
 * nested maps. No terminal, no clock, no daemon.
 */
@NullMarked
package io.holdfast.fs.watch;

import org.jspecify.annotations.NullMarked;
