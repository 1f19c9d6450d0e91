/**
 * Counters, and the open watcher. Entry types: {@link io.holdfast.fs.stats.ReadStats}, {@link
 * io.holdfast.fs.stats.Activity}.
 */
@NullMarked
package io.holdfast.fs.stats;

import org.jspecify.annotations.NullMarked;
