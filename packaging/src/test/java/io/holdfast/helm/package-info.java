/** Tests of the Helm chart, without a cluster. */
@NullMarked
package io.holdfast.helm;

import org.jspecify.annotations.NullMarked;
