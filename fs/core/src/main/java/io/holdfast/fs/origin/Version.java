package io.holdfast.fs.origin;

/**
 * The identity of a file's content at the origin: two equal versions of one path have the same
 * bytes. Immutable.
 *
 * @param size bytes
 * @param modified time of the last change of the content, in nanoseconds since 1970; the file's
 *     owner may set it
 * @param changed time of the last change of content or attributes, in nanoseconds since 1970; no
 *     user can set it, so it reveals a rewritten file whatever {@code modified} says
 * @param inode inode number, which reveals a file that was replaced by one of the same size and
 *     times
 * @param generation distinguishes the inode from earlier ones with the same number; 0 where the
 *     store has no generations
 * @param etag the store's own name for the content, without quotes; empty where there is none
 */
public record Version(
    long size, long modified, long changed, long inode, int generation, String etag) {
  /**
   * Creates a version in a store with a single time for content and attributes, and without inode
   * generations.
   */
  public Version(long size, long modified, long inode, String etag) {
    this(size, modified, modified, inode, 0, etag);
  }

  // as of any record, but a few times cheaper with Java's first compiler: asked for each fetch
  @Override
  public boolean equals(Object other) {
    return other instanceof Version version
        && size == version.size
        && modified == version.modified
        && changed == version.changed
        && inode == version.inode
        && generation == version.generation
        && etag.equals(version.etag);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(31 * (31 * (31 * size + modified) + changed) + inode) + etag.hashCode();
  }
}
