/**
 * The figures of a mount: types, and what follows from them alone ({@link
 * io.holdfast.fs.figures.EpochSplit}). The part that owns the numbers makes the record; {@link
 * io.holdfast.fs.figures.Figures} puts the records together. Everything that shows figures reads
 * these records, and nothing here knows how they travel.
 *
 * <p>Names are those of {@code stats.json}, where {@code residentBytes} is {@code resident_bytes},
 * in the same order. Counters are since the mount, sizes in bytes, times in the unit of their name.
 */
@NullMarked
package io.holdfast.fs.figures;

import org.jspecify.annotations.NullMarked;
