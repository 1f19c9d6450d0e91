/**
 * What {@code holdfast doctor} finds out: each {@link io.holdfast.fs.doctor.Probe} looks at one
 * thing, {@link io.holdfast.fs.doctor.Doctor} puts them together, {@link
 * io.holdfast.fs.doctor.ProbeRunner} gives each a bounded time. No probe touches a mount of
 * Holdfast.
 */
@NullMarked
package io.holdfast.fs.doctor;

import org.jspecify.annotations.NullMarked;
