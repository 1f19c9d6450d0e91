package io.holdfast.fs.plan;

import io.holdfast.fs.sampler.TorchSampler;

/** A job of this node, which reads as one rank. Guarded by the monitor of {@link Plans}. */
final class RankJob {
  /** The part of an epoch in which it can still be said to begin. */
  private static final int PART_OF_BEGINNING = 16;

  final int number;
  final String order;
  final TorchSampler sampler;
  final TorchSampler.Replica replica;
  final PlanFiles files;

  /** How many files the rank reads in an epoch. */
  final int share;

  int epoch;
  int position;

  /** Whether the job reads an epoch again. */
  boolean again;

  RankJob(int number, TorchSampler sampler, TorchSampler.Replica replica, PlanFiles files) {
    this.number = number;
    this.order = files.nameOfOrder(sampler, replica);
    this.sampler = sampler;
    this.replica = replica;
    this.files = files;
    this.share = replica.share(files.size());
    this.epoch = sampler.epoch();
  }

  boolean isAtBeginning() {
    return position <= share / PART_OF_BEGINNING;
  }

  boolean isSameRankAs(RankJob other) {
    return order.equals(other.order) && replica.equals(other.replica);
  }

  /** Tells whether this is an order of a job that was started again, from an epoch it was in. */
  boolean beginsAgainFrom(RankJob before) {
    return epoch < before.epoch || (epoch == before.epoch && before.position > 0);
  }
}
