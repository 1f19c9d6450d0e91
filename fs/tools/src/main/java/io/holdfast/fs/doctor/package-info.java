/**
 * {@code holdfast doctor}: each {@link io.holdfast.fs.doctor.Probe} checks one thing, {@link
 * io.holdfast.fs.doctor.Doctor} puts the findings together, {@link
 * io.holdfast.fs.doctor.ProbeRunner} gives each probe a bounded time. No probe touches a mount of
 * Holdfast.
 */
@NullMarked
package io.holdfast.fs.doctor;

import org.jspecify.annotations.NullMarked;
