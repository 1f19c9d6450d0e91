/**
 * A daemon's log: where its lines go, how they are escaped and written, what is left out of rows of
 * equal lines, and the last lines for people who look at a mount. Alone configures logback.
 */
@NullMarked
package io.holdfast.fs.log;

import org.jspecify.annotations.NullMarked;
