/**
 * The one ceiling, and how residents make way for others: {@link
 * io.holdfast.fs.memory.CapacityRules} decides what residents may take now, {@link
 * io.holdfast.fs.memory.MemoryGuard} looks several times a second and has that done. Knows neither
 * the residency nor the settings: its ports connect them.
 */
@NullMarked
package io.holdfast.fs.memory;

import org.jspecify.annotations.NullMarked;
