/** What every part of the filesystem shares: failures as {@link io.holdfast.fs.FsException}. */
@NullMarked
package io.holdfast.fs;

import org.jspecify.annotations.NullMarked;
