package io.holdfast.policy.simulator;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** The order in which one pass of a job over the dataset reads the items. */
public interface AccessOrder {

  /** The name that users give. */
  String name();

  /**
   * The items of one pass, in order.
   *
   * @param epoch from 1
   * @param random random numbers for this pass; equal ones give the same order
   * @return item numbers; the caller owns the array
   */
  int[] epoch(int epoch, SplittableRandom random);

  /** A fresh permutation in every epoch. */
  static AccessOrder shuffle(int items) {
    return named("shuffle", (epoch, random) -> shuffled(identity(items), random));
  }

  /** A fresh permutation in every epoch, which all nodes know beforehand. */
  static AccessOrder known(int items) {
    return named("known", (epoch, random) -> shuffled(identity(items), random));
  }

  /** The same order in every epoch: a cyclic scan. */
  static AccessOrder sequential(int items) {
    return named("sequential", (epoch, random) -> identity(items));
  }

  /**
   * A scan through a shuffle buffer, as in tf.data: reads a random item of the buffer, each equally
   * likely, and the scan's next item takes its place.
   *
   * @param buffer items that the buffer holds
   * @throws IllegalArgumentException if the buffer holds less than one
   */
  static AccessOrder window(int items, int buffer) {
    if (buffer < 1) {
      throw new IllegalArgumentException("a shuffle buffer holds at least 1 item, not " + buffer);
    }
    return named("window", (epoch, random) -> throughBuffer(items, buffer, random));
  }

  /**
   * Draws as many items as there are, with replacement, in proportion to 1 / r^exponent for the
   * item of rank r (Zipf), as in importance sampling. Ranks are drawn once.
   *
   * @throws IllegalArgumentException if the exponent is negative or not a number
   */
  static AccessOrder skewed(int items, double exponent, long seed) {
    AliasTable ranks = AliasTable.zipf(items, exponent);
    int[] byRank = shuffled(identity(items), new SplittableRandom(seed));
    return named(
        "skewed",
        (epoch, random) -> {
          int[] order = new int[items];
          Arrays.setAll(order, i -> byRank[ranks.draw(random)]);
          return order;
        });
  }

  /** Each item once in all epochs together, as in a training of one epoch. */
  static AccessOrder onePass(int items, int epochs) {
    return named(
        "one-pass",
        (epoch, random) -> {
          int from = (int) ((long) items * (epoch - 1) / epochs);
          int to = (int) ((long) items * epoch / epochs);
          return Arrays.copyOfRange(identity(items), from, to);
        });
  }

  /** A recorded order, epoch by epoch. */
  static AccessOrder recorded(List<int[]> epochs) {
    List<int[]> copy = epochs.stream().map(int[]::clone).toList();
    return named("recorded", (epoch, random) -> copy.get(epoch - 1).clone());
  }

  /** Creates the order of one epoch. */
  @FunctionalInterface
  interface Epoch {
    int[] make(int epoch, SplittableRandom random);
  }

  private static AccessOrder named(String name, Epoch epochs) {
    return new AccessOrder() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public int[] epoch(int epoch, SplittableRandom random) {
        return epochs.make(epoch, random);
      }
    };
  }

  private static int[] identity(int items) {
    int[] order = new int[items];
    Arrays.setAll(order, i -> i);
    return order;
  }

  /** Shuffles (Fisher and Yates). */
  private static int[] shuffled(int[] order, SplittableRandom random) {
    for (int i = order.length - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      int item = order[i];
      order[i] = order[j];
      order[j] = item;
    }
    return order;
  }

  private static int[] throughBuffer(int items, int size, SplittableRandom random) {
    int[] buffer = identity(Math.min(size, items));
    int[] order = new int[items];
    int held = buffer.length;
    for (int i = 0; i < items; i++) {
      int slot = random.nextInt(held);
      order[i] = buffer[slot];
      int next = i + buffer.length;
      buffer[slot] = next < items ? next : buffer[--held];
    }
    return order;
  }
}
