package io.holdfast.fs.tree;

import java.util.Arrays;

/**
 * A page of records of nodes. Whoever holds it may read them: its memory is not used for anything
 * else before. It holds the blocks of the directories that its nodes are in, so that a node's path
 * can be told for as long as the node can. The table's append lock guards what changes.
 */
final class Block {
  private static final Block[] NONE = {};

  /** Never that of another block. */
  final long number;

  /** Which page of the memory. */
  final int page;

  /** Where it begins. */
  final long address;

  /** Records in it, and those of them that no directory leads to any more. */
  int records;

  int freed;

  private Block[] parents = NONE;

  Block(long number, int page, long address) {
    this.number = number;
    this.page = page;
    this.address = address;
  }

  /** Holds the block of a directory. */
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
