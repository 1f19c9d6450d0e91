/**
 * A filesystem in plain collections, and random operations that a real one must answer as it does:
 * {@link io.holdfast.model.Model} says what may be seen, {@link io.holdfast.model.Operations} makes
 * the operations, and {@link io.holdfast.model.SystemUnderTest} is what they are tried on, in this
 * process or mounted.
 */
@NullMarked
package io.holdfast.model;

import org.jspecify.annotations.NullMarked;
