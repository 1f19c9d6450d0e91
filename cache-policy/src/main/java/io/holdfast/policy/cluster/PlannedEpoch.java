package io.holdfast.policy.cluster;

import java.util.BitSet;

/**
 * The part of one node in an epoch of a {@link ClusterPlan}: the items that it keeps, and the nodes
 * that it asks. Items, ranks and nodes are numbers from 0. Immutable, and thread-safe.
 */
public final class PlannedEpoch {
  /** The holder of an item that the cluster does not keep: its reader reads it from the origin. */
  public static final int NONE = -1;

  /** The turn of an item that no rank reads in the epoch. */
  public static final int NO_TURN = -1;

  private final int epoch;
  private final int self;
  private final int[] nodeOfRank;
  private final int[] turns;
  private final byte[] holders;
  private final BitSet atBegin;
  private final BitSet atEnd;
  private final Shares shares;

  /**
   * The bytes that the node is to read and fetch in the epoch.
   *
   * @param local read by its own ranks, from its own memory
   * @param peer read by its own ranks, through other nodes
   * @param origin fetched from the origin by this node, for its own ranks or for other nodes
   */
  public record Shares(long local, long peer, long origin) {}

  /** Takes the arrays over. */
  PlannedEpoch(
      int epoch,
      int self,
      int[] nodeOfRank,
      int[] turns,
      byte[] holders,
      BitSet atBegin,
      BitSet atEnd,
      Shares shares) {
    this.epoch = epoch;
    this.self = self;
    this.nodeOfRank = nodeOfRank;
    this.turns = turns;
    this.holders = holders;
    this.atBegin = atBegin;
    this.atEnd = atEnd;
    this.shares = shares;
  }

  /** Returns the number of the epoch. */
  public int epoch() {
    return epoch;
  }

  /** Returns the rank that reads an item, or {@link #NO_TURN}. */
  public int rank(int item) {
    return turns[item] == NO_TURN ? NO_TURN : turns[item] % nodeOfRank.length;
  }

  /**
   * Returns how many files the item's rank reads before it; undefined if no rank reads the item.
   */
  public int position(int item) {
    return turns[item] / nodeOfRank.length;
  }

  /** Returns the node that reads an item, or {@link #NONE}. */
  public int reader(int item) {
    int rank = rank(item);
    return rank == NO_TURN ? NONE : nodeOfRank[rank];
  }

  /** Tells whether this node reads an item in this epoch. */
  public boolean isOwn(int item) {
    return reader(item) == self;
  }

  /**
   * Returns the node that the reader of an item asks for it, which may be the reader itself: that
   * node has it, or fetches it from the origin and keeps it. {@link #NONE} if the reader fetches
   * the item from the origin and does not keep it.
   */
  public int holder(int item) {
    return holders[item];
  }

  /** Tells whether the reader of an item asks this node for it. */
  public boolean isHolder(int item) {
    return holders[item] == self;
  }

  /** Returns the items that this node has when the epoch begins. */
  public BitSet atBegin() {
    return (BitSet) atBegin.clone();
  }

  /** Tells whether this node has an item when the epoch begins. */
  public boolean hasAtBegin(int item) {
    return atBegin.get(item);
  }

  /** Tells whether this node has an item when the epoch ends. */
  public boolean hasAtEnd(int item) {
    return atEnd.get(item);
  }

  /** Returns what the node reads and fetches. */
  public Shares shares() {
    return shares;
  }
}
