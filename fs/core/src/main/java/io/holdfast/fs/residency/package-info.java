/**
 * Decides and enforces what stays in the page cache: asks the policy, pins, unpins and drops. The
 * only package that maps, locks and drops pages of the own mount. Entry type: {@link
 * io.holdfast.fs.residency.Residency}.
 */
@NullMarked
package io.holdfast.fs.residency;

import org.jspecify.annotations.NullMarked;
