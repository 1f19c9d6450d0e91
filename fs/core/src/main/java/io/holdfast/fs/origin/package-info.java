/**
 * The authoritative store of a dataset. {@link io.holdfast.fs.origin.Origin} is the port; every
 * adapter passes its contract test.
 */
@NullMarked
package io.holdfast.fs.origin;

import org.jspecify.annotations.NullMarked;
