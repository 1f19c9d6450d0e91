package io.holdfast.fs.plan;

import io.holdfast.fs.transit.Item;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * After a plan: the residents that belong to other nodes, which make way, and the nodes that had
 * items by the plan. Thread-safe.
 */
final class Strays {
  private static final Logger log = LoggerFactory.getLogger(Strays.class);

  /** The nodes of a plan of which nothing else is known. */
  private static final int LEAST_NODES = 2;

  private final @Nullable Path mark;
  private volatile @Nullable FormerPlan former;
  private volatile Queue<Item> strays = new ConcurrentLinkedQueue<>();
  private volatile boolean toBeFound;

  /** Whether there was a plan, after which residents may be elsewhere than they belong. */
  private volatile boolean afterPlan;

  /** How many nodes the plan had. */
  private volatile int nodes;

  /**
   * Begins without strays, or with those of an earlier daemon, which are to be found.
   *
   * @param mark a file that tells the next daemon of the mount how many nodes had a plan; null if
   *     there is none
   */
  Strays(@Nullable Path mark) {
    this.mark = mark;
    afterPlan = mark != null && Files.exists(mark);
    toBeFound = afterPlan;
    nodes = mark == null ? LEAST_NODES : nodes(mark);
  }

  private static int nodes(Path mark) {
    try {
      return Integer.parseInt(Files.readString(mark));
    } catch (IOException | NumberFormatException e) {
      return LEAST_NODES; // there is none, or it is damaged
    }
  }

  /** Learns that a plan begins: no resident is a stray. Waits for nothing. */
  void planned() {
    afterPlan = false;
    toBeFound = false;
    former = null;
    strays = new ConcurrentLinkedQueue<>();
  }

  /** Has the next daemon of the mount look for strays after a plan of so many nodes. */
  void mark(int count) {
    nodes = count;
    try {
      if (mark != null) {
        Files.writeString(mark, Integer.toString(count));
      }
    } catch (IOException e) {
      log.warn("a daemon that is started again will not know of the plan: {}", e.toString());
    }
  }

  /** Learns that the plan has ended. */
  void ended(FormerPlan plan) {
    former = plan;
    afterPlan = true;
    toBeFound = true;
  }

  /** Learns that the nodes have changed: after a plan, other residents belong elsewhere now. */
  void viewChanged() {
    toBeFound |= afterPlan;
  }

  /** Tells whether items may still be elsewhere than they belong, after a plan. */
  boolean areAfterPlan() {
    return afterPlan;
  }

  /**
   * Forgets the plan once all strays have made way. As long as nodes of the plan are away, there
   * may be others when these come back.
   *
   * @param present how many nodes there are
   */
  void forgetIfDrained(int present) {
    if (!afterPlan || toBeFound || !strays.isEmpty() || present < nodes) {
      return;
    }
    afterPlan = false;
    former = null;
    try {
      if (mark != null) {
        Files.deleteIfExists(mark);
      }
    } catch (IOException e) {
      log.debug("the next daemon of the mount looks for strays in vain", e);
    }
  }

  /** Looks for the residents that belong elsewhere, if that was not done; takes some time. */
  void find(PlanParts.Residents residents, Predicate<Item> isPlacedHere) {
    if (!toBeFound) {
      return;
    }
    toBeFound = false; // first: what changes meanwhile has them looked for again
    boolean complete = false;
    try {
      Queue<Item> found = new ConcurrentLinkedQueue<>();
      residents.forEach(
          item -> {
            if (!isPlacedHere.test(item)) {
              found.add(item);
            }
          });
      strays = found;
      complete = true;
    } finally {
      if (!complete) {
        toBeFound = true;
      }
    }
  }

  boolean isEmpty() {
    return strays.isEmpty();
  }

  /**
   * Returns the next stray that is still resident and still belongs elsewhere, and each once; null
   * if there is none.
   */
  @Nullable Item poll(PlanParts.Residents residents, Predicate<Item> isPlacedHere) {
    Item stray = strays.poll();
    while (stray != null && (isPlacedHere.test(stray) || !residents.has(stray))) {
      stray = strays.poll();
    }
    return stray;
  }

  /** Returns the node that probably has an item; empty if none is known. */
  String formerHolder(Item item) {
    FormerPlan last = former;
    return last == null ? "" : last.holder(item);
  }
}
