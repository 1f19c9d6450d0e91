package io.holdfast.fs.transit;

/**
 * Who reads.
 *
 * @param internal one of the daemon's own threads, which pins or warms; its reads are not uses
 * @param elsewhere a process of another memory cgroup than the daemon's, or one that cannot be told
 */
public record Reader(boolean internal, boolean elsewhere) {
  /** The daemon itself. */
  public static final Reader INTERNAL = new Reader(true, false);

  /** An application that shares the daemon's memory cgroup. */
  public static final Reader NEAR = new Reader(false, false);

  /** An application of another memory cgroup. */
  public static final Reader ELSEWHERE = new Reader(false, true);
}
