/**
 * The composition root: builds the objects of a mount from {@link
 * io.holdfast.fs.settings.Settings}, and starts and stops them in order.
 */
@NullMarked
package io.holdfast.fs.daemon;

import org.jspecify.annotations.NullMarked;
