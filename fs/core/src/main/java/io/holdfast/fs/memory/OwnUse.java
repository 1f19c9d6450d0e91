package io.holdfast.fs.memory;

/**
 * The memory of this process, by cause, in bytes. Immutable.
 *
 * @param residents resident items, in whole pages
 * @param window cached pages of items that were not admitted
 * @param transit items on their way
 * @param metadata names and attributes
 * @param heap memory that the Java heap has taken from the kernel
 * @param virtualMachine compiled code, classes and buffers outside the heap
 * @param kernel the kernel's memory for residents: page tables, mappings, open files, inodes
 * @param other everything else: stacks, and memory that malloc holds and nobody uses
 * @param besides memory that all but residents take, or may take at any moment because it was
 *     promised
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
  /** Returns the sum. */
  public long total() {
    return residents + window + transit + metadata + heap + virtualMachine + kernel + other;
  }
}
