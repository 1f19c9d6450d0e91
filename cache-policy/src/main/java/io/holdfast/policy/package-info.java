/** Cache policies as deterministic state machines. */
@NullMarked
package io.holdfast.policy;

import org.jspecify.annotations.NullMarked;
