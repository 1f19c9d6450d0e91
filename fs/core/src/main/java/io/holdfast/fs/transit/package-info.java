/**
 * Where items are between fetch and use: single-flight fetches into bounded native memory. Entry
 * type: {@link io.holdfast.fs.transit.Transit}.
 */
@NullMarked
package io.holdfast.fs.transit;

import org.jspecify.annotations.NullMarked;
