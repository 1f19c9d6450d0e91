/**
 * Sizes, counts, ratios and durations as people write and read them: {@link
 * io.holdfast.fs.units.Sizes} and {@link io.holdfast.fs.units.Durations} read, {@link
 * io.holdfast.fs.units.Human} shows. Depends on nothing.
 */
@NullMarked
package io.holdfast.fs.units;

import org.jspecify.annotations.NullMarked;
