/**
 * {@code holdfast debug} makes an archive for a bug report: {@link io.holdfast.fs.debug.Sections}
 * lists its sections, {@link io.holdfast.fs.debug.Bundle} reads them in a bounded time, {@link
 * io.holdfast.fs.debug.Redactor} removes secrets from them.
 */
@NullMarked
package io.holdfast.fs.debug;

import org.jspecify.annotations.NullMarked;
