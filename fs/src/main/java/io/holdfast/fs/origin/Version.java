package io.holdfast.fs.origin;

/**
 * Identity of a file's content at the origin: two equal versions of one path have the same bytes.
 * Immutable.
 *
 * @param size bytes
 * @param modified time of the last change, in nanoseconds since 1970
 * @param tag what else the origin tells contents apart by: the inode number for a directory tree,
 *     so that a file replaced by one of the same size and time is noticed
 */
public record Version(long size, long modified, long tag) {}
