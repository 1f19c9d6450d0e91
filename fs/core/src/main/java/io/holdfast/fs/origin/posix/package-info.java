/**
 * The origin as a directory of this machine: local, NFS, Lustre or any other mounted filesystem.
 */
@NullMarked
package io.holdfast.fs.origin.posix;

import org.jspecify.annotations.NullMarked;
