package io.holdfast.fs.settings.request;

import io.holdfast.fs.host.Host;

/**
 * The memory that the daemon of a mount is to have.
 *
 * @param usable what the machine and the daemon's groups leave to it, in bytes: percentages are of
 *     this
 * @param heap the most bytes of its heap
 */
public record DaemonMemory(long usable, long heap) {
  /** Returns that of a daemon which this process starts, in its groups and with its options. */
  static DaemonMemory ofThisProcess(Host host) {
    return new DaemonMemory(host.memory(), Runtime.getRuntime().maxMemory());
  }
}
