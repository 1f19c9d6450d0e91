package io.holdfast.fs.cli;

import io.holdfast.fs.allocate.Ledger;
import io.holdfast.fs.allocate.NodeAllocation.Change;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.units.Human;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Sets capacities of several mounts, one after the other, so that together they never exceed the
 * budget: those that shrink come first, and a mount grows only by what others have given up. Where
 * one refuses, the others go on as far as there is room. Not thread-safe.
 */
final class CapacityChanges {
  private final CliContext context;
  private final CommandOutput output;
  private final Map<String, RunningDaemon> daemons;
  private final Ledger ledger;

  /**
   * The outcome of a change.
   *
   * @param error why it was not made; empty where it was
   * @param isRefused whether its daemon has refused it
   */
  record Outcome(Change change, String error, boolean isRefused) {
    boolean isDone() {
      return error.isEmpty();
    }

    /** Returns a line that tells it. */
    String line() {
      return isDone()
          ? "%s has %s in place of %s"
              .formatted(change.mount(), Human.bytes(change.to()), Human.bytes(change.from()))
          : "%s keeps %s in place of %s: %s"
              .formatted(
                  change.mount(), Human.bytes(change.from()), Human.bytes(change.to()), error);
    }
  }

  private CapacityChanges(
      CliContext context, CommandOutput output, Map<String, RunningDaemon> daemons, Ledger ledger) {
    this.context = context;
    this.output = output;
    this.daemons = daemons;
    this.ledger = ledger;
  }

  /** Prepares to change mounts that were looked at. */
  static CapacityChanges of(
      CliContext context, CommandOutput output, long budget, List<NodeMounts.Look> looks) {
    Map<String, RunningDaemon> daemons = new HashMap<>();
    for (NodeMounts.Look look : looks) {
      RunningDaemon daemon = look.daemon();
      if (daemon != null) {
        daemons.put(look.mount().name(), daemon);
      }
    }
    Ledger ledger = new Ledger(budget, looks.stream().map(NodeMounts.Look::mount).toList());
    return new CapacityChanges(context, output, daemons, ledger);
  }

  /** Makes a change. */
  Outcome make(Change change) {
    RunningDaemon daemon = daemons.get(change.mount());
    if (daemon == null) {
      return new Outcome(change, "its daemon has ended", false);
    }
    if (!ledger.allows(change.mount(), change.to())) {
      return new Outcome(change, "others have not given up the memory for it", false);
    }
    TaskClient client = new TaskClient(context, daemon, output);
    try {
      client.run("giving up", request(change), Collections.emptyIterator());
      ledger.set(change.mount(), change.to());
      return new Outcome(change, "", false);
    } catch (CliException e) {
      ledger.set(change.mount(), capacity(client, change));
      return new Outcome(change, String.valueOf(e.getMessage()), true);
    }
  }

  /** Returns what a daemon is asked for a change by which a mount stays in the node's budget. */
  static Map<String, Object> request(Change change) {
    return Map.of("begin", "capacity", "size", Long.toString(change.to()), "within_budget", true);
  }

  /** Returns what a mount has after a failure. A change that may have been made counts as made. */
  private static long capacity(TaskClient client, Change change) {
    try {
      return FiguresJson.figures(client.daemon().stats()).cache().capacityBytes();
    } catch (CliException e) {
      return Math.max(change.from(), change.to());
    }
  }

  /** Returns the bytes that all mounts have together after it. */
  long total() {
    return ledger.total();
  }
}
