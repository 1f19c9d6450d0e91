package io.holdfast.fs.figures;

import java.util.Map;

/**
 * The kernel's cached pages and requests. Immutable.
 *
 * @param cachedBytes pages of the mount in the page cache: residents and window
 * @param requests the number of requests that reached the daemon, by the kernel's name of the
 *     operation
 */
public record KernelFigures(
    long cachedBytes, String binding, long daemonRestarts, Map<String, Long> requests) {}
