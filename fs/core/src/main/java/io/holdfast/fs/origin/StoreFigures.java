package io.holdfast.fs.origin;

/**
 * The figures of a store, as statfs returns them. Immutable.
 *
 * @param blockSize preferred size of a transfer, bytes
 * @param fragmentSize unit of the block counts, bytes
 * @param blocks size of the store, in units
 * @param blocksFree free units
 * @param blocksAvailable free units for unprivileged users
 * @param files number of inodes
 * @param filesFree free inodes
 * @param filesAvailable free inodes for unprivileged users
 * @param nameLength longest name, bytes
 */
public record StoreFigures(
    long blockSize,
    long fragmentSize,
    long blocks,
    long blocksFree,
    long blocksAvailable,
    long files,
    long filesFree,
    long filesAvailable,
    long nameLength) {}
