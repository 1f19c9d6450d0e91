package io.holdfast.fs.figures;

import java.util.Map;

/**
 * The kernel's cached pages and requests. Immutable.
 *
 * @param cachedBytes pages of the mount in the page cache: residents and window
 * @param ioctl how programs learn that a file is no terminal: {@code lsm} or {@code fmod_ret} if
 *     the kernel answers by a BPF program, {@code message} if it asks the daemon
 * @param requests the number of requests that reached the daemon, by the kernel's name of the
 *     operation
 */
public record KernelFigures(
    long cachedBytes,
    String binding,
    long daemonRestarts,
    String ioctl,
    Map<String, Long> requests) {

  /** The value of {@code ioctl} if the kernel asks the daemon. */
  public static final String MESSAGE = "message";
}
