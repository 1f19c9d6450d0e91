/**
 * Types that every part of the filesystem shares, such as failures as {@link
 * io.holdfast.fs.FsException}.
 */
@NullMarked
package io.holdfast.fs;

import org.jspecify.annotations.NullMarked;
