/**
 * Convoys: jobs that read one order at nearly the same time, and share what one of them has
 * fetched. Begin at {@link io.holdfast.policy.convoy.Convoys}.
 */
@NullMarked
package io.holdfast.policy.convoy;

import org.jspecify.annotations.NullMarked;
