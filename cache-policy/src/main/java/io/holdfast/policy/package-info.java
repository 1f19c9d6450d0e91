/**
 * Cache policies as deterministic state machines: the same calls with the same seed give the same
 * answers. No I/O, clock, thread or logger in here. {@link io.holdfast.policy.Policies} makes a
 * {@link io.holdfast.policy.CachePolicy} by name.
 */
@NullMarked
package io.holdfast.policy;

import org.jspecify.annotations.NullMarked;
