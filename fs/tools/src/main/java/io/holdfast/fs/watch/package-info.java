/**
 * What happens in a mount, told again and again: {@link io.holdfast.fs.watch.Change} says what
 * happened between two looks at its figures, {@link io.holdfast.fs.watch.WatchRows} shows that as a
 * row, {@link io.holdfast.fs.watch.TopScreen} as a screen, and {@link
 * io.holdfast.fs.watch.ChangeReport} as nested maps. No terminal, no clock, no daemon.
 */
@NullMarked
package io.holdfast.fs.watch;

import org.jspecify.annotations.NullMarked;
