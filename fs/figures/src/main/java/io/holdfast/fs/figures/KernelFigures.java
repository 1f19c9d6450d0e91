package io.holdfast.fs.figures;

import java.util.Map;

/**
 * The kernel's cached pages and requests. Immutable.
 *
 * @param cachedBytes pages of the mount in the page cache: residents and window
 * @param ioctl how programs learn that a file is no terminal: {@code lsm} or {@code fmod_ret} if
 *     the kernel answers by a BPF program, {@code message} if it asks the daemon
 * @param opens how the daemon learns of opens: {@code bpf} if a program in the kernel tells them,
 *     {@code fanotify}, {@code message} if the kernel sends one each, {@code off} if they are not
 *     counted
 * @param requests the number of requests that reached the daemon, by the kernel's name of the
 *     operation
 */
public record KernelFigures(
    long cachedBytes,
    String binding,
    long daemonRestarts,
    String ioctl,
    String opens,
    Map<String, Long> requests) {

  /** The value of {@code ioctl} and {@code opens} if the kernel asks the daemon. */
  public static final String MESSAGE = "message";

  // the other values of opens
  public static final String BPF = "bpf";
  public static final String FANOTIFY = "fanotify";
  public static final String OFF = "off";
}
