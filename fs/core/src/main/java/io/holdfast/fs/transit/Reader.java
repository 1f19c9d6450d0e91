package io.holdfast.fs.transit;

/**
 * The origin of a read request.
 *
 * @param thread the kernel's id of the thread, or 0 where it is unknown
 * @param kind the kind of reader
 * @param elsewhere whether the process is in another memory cgroup than the daemon, or its cgroup
 *     is unknown
 */
public record Reader(int thread, Kind kind, boolean elsewhere) {
  /** A peer: its bytes do not go into this node's page cache. */
  public static final Reader PEER = new Reader(0, Kind.PEER, false);

  /** No reader: an item is fetched to become resident. */
  static final Reader NOBODY = new Reader(0, Kind.DAEMON, false);

  /** The kinds of readers. */
  public enum Kind {
    /** A program that uses the mount. */
    APPLICATION,
    /** The daemon itself, which pins or warms. */
    DAEMON,
    /** Another node. */
    PEER
  }

  /**
   * Tells whether the read is not an application's; then it does not count as a use of the item.
   */
  public boolean internal() {
    return kind != Kind.APPLICATION;
  }
}
