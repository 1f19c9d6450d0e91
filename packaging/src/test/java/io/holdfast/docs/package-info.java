/** Documents whose figures are made, and the tests that keep them true. */
@NullMarked
package io.holdfast.docs;

import org.jspecify.annotations.NullMarked;
