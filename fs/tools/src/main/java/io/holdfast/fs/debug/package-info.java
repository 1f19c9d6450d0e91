/**
 * What {@code holdfast debug} puts into an archive for a bug report: {@link
 * io.holdfast.fs.debug.Sections} lists it, {@link io.holdfast.fs.debug.Bundle} gets it in a bounded
 * time, {@link io.holdfast.fs.debug.Redactor} takes secrets out of it.
 */
@NullMarked
package io.holdfast.fs.debug;

import org.jspecify.annotations.NullMarked;
