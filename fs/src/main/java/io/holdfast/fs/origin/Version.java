package io.holdfast.fs.origin;

/**
 * Identity of a file's content at the origin: two equal versions of one path have the same bytes.
 * Immutable.
 *
 * @param size bytes
 * @param modified time of the last change, in nanoseconds since 1970
 * @param inode inode number, so that a file replaced by one of the same size and time is noticed
 * @param etag the store's own name for the content, without quotes; empty where it has none
 */
public record Version(long size, long modified, long inode, String etag) {}
