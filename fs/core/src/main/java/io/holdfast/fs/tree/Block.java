package io.holdfast.fs.tree;

import java.util.Arrays;

/**
 * A page of node records. A caller that holds the block may read its records: the page is not
 * reused before. A block holds the blocks of its nodes' directories, so that a node's path can be
 * read for as long as the node. The table's append lock guards the mutable fields.
 */
final class Block {
  private static final Block[] NONE = {};

  /** Never the number of another block. */
  final long number;

  /** The index of the page in memory. */
  final int page;

  /** The address of the page. */
  final long address;

  /** Records in the page, and how many of them no directory links any more. */
  int records;

  int freed;

  private Block[] parents = NONE;

  Block(long number, int page, long address) {
    this.number = number;
    this.page = page;
    this.address = address;
  }

  /** Keeps the block of a directory reachable for as long as this block. */
  void hold(Block parent) {
    if (parent == this || Arrays.asList(parents).contains(parent)) {
      return;
    }
    parents = Arrays.copyOf(parents, parents.length + 1);
    parents[parents.length - 1] = parent;
  }

  boolean isFreed() {
    return freed == records;
  }
}
