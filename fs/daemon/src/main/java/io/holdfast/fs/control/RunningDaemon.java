package io.holdfast.fs.control;

import java.nio.file.Path;

/**
 * A daemon that is alive, whether or not it answers.
 *
 * @param name the name of its mount
 * @param pid its process
 * @param mountpoint its mountpoint
 * @param socket its control socket
 */
public record RunningDaemon(String name, long pid, Path mountpoint, Path socket) {}
