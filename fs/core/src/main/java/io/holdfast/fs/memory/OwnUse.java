package io.holdfast.fs.memory;

/**
 * What this process has of memory, by cause, in bytes. Immutable.
 *
 * @param residents items that stay, in whole pages
 * @param window pages of what was not admitted
 * @param transit items on their way
 * @param metadata names and attributes
 * @param heap what the Java heap has taken from the kernel
 * @param virtualMachine compiled code, classes and buffers outside the heap
 * @param kernel what the kernel needs for residents: page tables, mappings, open files, inodes
 * @param other everything else: stacks, and what malloc holds and nobody uses
 * @param besides what all but residents take, or may take at any moment because it was promised
 */
public record OwnUse(
    long residents,
    long window,
    long transit,
    long metadata,
    long heap,
    long virtualMachine,
    long kernel,
    long other,
    long besides) {
  /** Returns what it has altogether. */
  public long total() {
    return residents + window + transit + metadata + heap + virtualMachine + kernel + other;
  }
}
