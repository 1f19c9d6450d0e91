package io.holdfast.fs.checkpoint.daemon;

import io.holdfast.fs.checkpoint.CheckpointFilesystem.FsyncPolicy;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a checkpoint mount. Immutable.
 *
 * @param name of the mount, unique on the machine
 * @param store where checkpoints are kept for good
 * @param front the directory where they are first
 * @param capacity bytes that the front may take
 * @param persistRate bytes a second that the store gets at most; 0 for no bound
 * @param keep how many checkpoints stay in the front once the store has them; 0 for what fits
 * @param metrics where scrapes are answered; null for nowhere
 */
public record CheckpointSettings(
    String name,
    StorePlace store,
    Path mountpoint,
    Path front,
    long capacity,
    double persistRate,
    FsyncPolicy fsync,
    int keep,
    @Nullable InetSocketAddress metrics) {}
