package io.holdfast.fs.origin;

/**
 * Identity of a file's content at the origin: two equal versions of one path have the same bytes.
 * Immutable.
 *
 * @param size bytes
 * @param modified time of the last change of the content, in nanoseconds since 1970; whoever owns
 *     the file may set it
 * @param changed time of the last change of content or attributes, likewise; nobody may set it, so
 *     that a file that was rewritten is noticed whatever {@code modified} says
 * @param inode inode number, so that a file replaced by one of the same size and times is noticed
 * @param generation tells the inode from one that had its number before; 0 where the store has none
 * @param etag the store's own name for the content, without quotes; empty where it has none
 */
public record Version(
    long size, long modified, long changed, long inode, int generation, String etag) {
  /**
   * A version in a store that has one time for content and attributes, and no inode generations.
   */
  public Version(long size, long modified, long inode, String etag) {
    this(size, modified, modified, inode, 0, etag);
  }
}
