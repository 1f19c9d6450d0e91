/** Tests that hold the arrows between modules and packages, as the design draws them. */
@NullMarked
package io.holdfast.architecture;

import org.jspecify.annotations.NullMarked;
