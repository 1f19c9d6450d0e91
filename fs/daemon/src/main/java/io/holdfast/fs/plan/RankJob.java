package io.holdfast.fs.plan;

import io.holdfast.fs.sampler.TorchSampler;
import io.holdfast.fs.stats.JobLife;
import java.time.Duration;
import java.util.Objects;

/**
 * A job of this node, which reads as one rank. Guarded by the monitor of {@link Plans}.
 *
 * <p>The rank is over once the job has read its last epoch to the end, or has ended. Nobody knows
 * that at once: another epoch may be announced, and a job has no process between two of them. The
 * ranks of other nodes may be a bit behind, too. So some time goes by first.
 */
final class RankJob {
  /**
   * How long a rank waits at its end for another epoch, and for the ranks of other nodes, which ask
   * this node for what it has by the plan; and how long one waits whose job has ended.
   */
  static final long PATIENCE = Duration.ofMinutes(10).toNanos();

  /** The same on a node whose jobs read several orders, so that there is no plan for any. */
  static final long SHORT_PATIENCE = Duration.ofSeconds(10).toNanos();

  /** How long a job may open no file of which nobody can tell whether it has ended. */
  static final long SILENCE = Duration.ofHours(1).toNanos();

  /** The part of an epoch in which it can still be said to begin. */
  private static final int PART_OF_BEGINNING = 16;

  /** The part of the last epoch that a loader may leave out, which drops a batch that is short. */
  private static final int PART_LEFT_OUT = 10;

  final int number;
  final String order;
  final TorchSampler sampler;
  final TorchSampler.Replica replica;
  final PlanFiles files;

  /** How many files the rank reads in an epoch. */
  final int share;

  private int epoch;
  private int position;
  private boolean isLast;

  /** Whether the job has read anything as this rank. */
  private boolean begun;

  /** Whether the job reads an epoch again: nobody knows what comes after it. */
  private boolean again;

  /** When the job opened a file last, of its order or not, or its order was announced. */
  private long active;

  /** When its place has changed last. */
  private long moved;

  /** Returns why an order of so many files cannot be planned; empty if it can. */
  static String objection(TorchSampler sampler, int files) {
    TorchSampler.Replica replica = sampler.replica();
    if (replica == null || replica.world() < 2 || replica.world() > PlanOffer.MOST_RANKS) {
      return "it has no ranks";
    }
    if (files > PlanHeap.mostFiles() || files / replica.world() < 2) {
      return "the list is too long or too short";
    }
    boolean isFar = sampler.epoch() > PlanOffer.LAST_FIRST_EPOCH;
    return isFar || !sampler.hasEpoch(PlanOffer.LAST_EPOCH)
        ? "the seed or the epoch is too large"
        : "";
  }

  /**
   * Creates a rank that has not begun.
   *
   * @param sampler one with a replica
   */
  RankJob(int number, TorchSampler sampler, PlanFiles files) {
    TorchSampler.Replica replica = Objects.requireNonNull(sampler.replica());
    this.number = number;
    this.order = files.nameOfOrder(sampler, replica);
    this.sampler = sampler;
    this.replica = replica;
    this.files = files;
    this.share = replica.share(files.size());
    this.epoch = sampler.epoch();
  }

  int rank() {
    return replica.rank();
  }

  int epoch() {
    return epoch;
  }

  int position() {
    return position;
  }

  boolean isAtBeginning() {
    return position <= share / PART_OF_BEGINNING;
  }

  /** Tells whether the job has read the last epoch that is announced. */
  boolean isAtEnd() {
    return isLast && position >= share - share / PART_LEFT_OUT;
  }

  boolean isSameRankAs(RankJob other) {
    return order.equals(other.order) && replica.equals(other.replica);
  }

  /** Tells whether this is an order of a job that was started again, from an epoch it was in. */
  boolean beginsAgainFrom(RankJob before) {
    return epoch < before.epoch || (epoch == before.epoch && before.position > 0);
  }

  /** Learns that the order takes the place of one in which the job has been the same rank. */
  void follow(RankJob before) {
    begun = before.begun;
  }

  /** Learns that the order was taken. */
  void announced(long now) {
    active = now;
    moved = now;
  }

  /** Learns that one more epoch was announced. */
  void goesOn(long now) {
    announced(now);
    isLast = false;
    if (position >= share) {
      epoch++;
      position = 0;
    }
  }

  /** Learns where the job is; returns whether it has gone on as a rank does. */
  boolean opened(JobPlace place, long now) {
    active = now;
    int its = sampler.epoch() + place.pass();
    if (its < epoch && place.position() >= share) {
      return false; // it was told before the next epoch was announced
    }
    boolean isBack = its == epoch && isAtEnd() && place.position() < position - share / 2;
    if (its < epoch || isBack) {
      again = true;
      return false;
    }
    moved = its == epoch && place.position() == position ? moved : now;
    begun |= place.pass() > 0 || place.position() > 0;
    epoch = its;
    position = place.position();
    isLast = place.isLast();
    return true;
  }

  /** Tells whether the rank may be {@linkplain #over over}, whatever the job's processes do. */
  boolean mayBeOver(long patience, long now) {
    return again || now - active >= patience || (isAtEnd() && now - moved >= patience);
  }

  /**
   * Returns why the rank is over; empty if it is not.
   *
   * @param life what the job's processes do
   * @param patience how long it waits at its end
   */
  String over(JobLife life, long patience, long now) {
    if (again) {
      return "the job reads an epoch again";
    }
    if (isAtEnd() && now - moved >= patience) {
      return "rank %d has read its order to the end".formatted(rank());
    }
    // a job of the same name may have ended before this one begins
    if (life == JobLife.ENDED && begun && now - active >= patience) {
      return "the job of rank %d has ended".formatted(rank());
    }
    return life != JobLife.ALIVE && now - active >= SILENCE
        ? "the job of rank %d has opened no file for an hour".formatted(rank())
        : "";
  }
}
