/**
 * The composition root: builds the objects of a mount, starts and stops them in order. {@link
 * io.holdfast.fs.settings.Settings} says what the mount is to be.
 */
@NullMarked
package io.holdfast.fs.daemon;

import org.jspecify.annotations.NullMarked;
