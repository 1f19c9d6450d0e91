/** The measuring side of the benchmark in {@code packaging/bench}. */
@NullMarked
package io.holdfast.bench;

import org.jspecify.annotations.NullMarked;
