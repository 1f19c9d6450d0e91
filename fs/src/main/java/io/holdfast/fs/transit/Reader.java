package io.holdfast.fs.transit;

/**
 * Who reads.
 *
 * @param thread the kernel's id of the thread, or 0 where it is unknown
 * @param internal one of the daemon's own threads, which pins or warms; its reads are not uses
 * @param elsewhere a process of another memory cgroup than the daemon's, or one that cannot be told
 */
public record Reader(int thread, boolean internal, boolean elsewhere) {
  /** A peer: what it gets does not go into this node's page cache. */
  public static final Reader PEER = new Reader(0, true, false);

  /** Nobody: an item is fetched so that it becomes resident. */
  static final Reader NOBODY = new Reader(0, true, false);
}
