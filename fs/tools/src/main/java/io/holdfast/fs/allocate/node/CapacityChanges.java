package io.holdfast.fs.allocate.node;

import io.holdfast.fs.allocate.Ledger;
import io.holdfast.fs.allocate.NodeAllocation.Change;
import io.holdfast.fs.client.TaskClient;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.OwnProcess;
import io.holdfast.fs.units.Human;
import java.io.PrintWriter;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Sets capacities of several mounts, one after the other, so that together they never exceed the
 * budget: those that shrink come first, and a mount grows only by what others have given up. Where
 * one refuses, the others go on as far as there is room. Not thread-safe.
 */
public final class CapacityChanges {
  private final OwnProcess process;
  private final PrintWriter err;
  private final Map<String, RunningDaemon> daemons;
  private final Ledger ledger;

  /**
   * The outcome of a change.
   *
   * @param change with the capacity that the daemon was asked for, which is less than was wanted
   *     where others have not given up all of it
   * @param has bytes that the mount has now; negative where that cannot be told
   * @param error why it was not made; empty where it was
   * @param isRefused whether its daemon has refused it
   */
  public record Outcome(Change change, long has, String error, boolean isRefused) {
    public boolean isDone() {
      return error.isEmpty();
    }

    /** Returns a line that tells it. */
    public String line() {
      return isDone()
          ? "%s has %s in place of %s"
              .formatted(change.mount(), Human.bytes(change.to()), Human.bytes(change.from()))
          : has < 0
              ? "%s was to have %s, and what it has cannot be told: %s"
                  .formatted(change.mount(), Human.bytes(change.to()), error)
              : "%s keeps %s in place of %s: %s"
                  .formatted(change.mount(), Human.bytes(has), Human.bytes(change.to()), error);
    }
  }

  private CapacityChanges(
      OwnProcess process, PrintWriter err, Map<String, RunningDaemon> daemons, Ledger ledger) {
    this.process = process;
    this.err = err;
    this.daemons = daemons;
    this.ledger = ledger;
  }

  /**
   * Prepares to change mounts that were looked at.
   *
   * @param err where the user sees how far daemons are
   */
  public static CapacityChanges of(
      OwnProcess process, PrintWriter err, long budget, List<NodeMounts.Look> looks) {
    Ledger ledger = new Ledger(budget, looks.stream().map(NodeMounts.Look::mount).toList());
    return new CapacityChanges(process, err, daemons(looks), ledger);
  }

  /** Returns the daemons that run, by the names of their mounts. */
  static Map<String, RunningDaemon> daemons(List<NodeMounts.Look> looks) {
    Map<String, RunningDaemon> daemons = new HashMap<>();
    for (NodeMounts.Look look : looks) {
      RunningDaemon daemon = look.daemon();
      if (daemon != null) {
        daemons.put(look.mount().name(), daemon);
      }
    }
    return daemons;
  }

  /** Makes a change, as far as there is room. */
  public Outcome make(Change wanted) {
    Change change = wanted.upTo(ledger.most(wanted.mount()));
    RunningDaemon daemon = daemons.get(change.mount());
    if (daemon == null) {
      return new Outcome(wanted, wanted.from(), "its daemon has ended", false);
    }
    if (wanted.more() > 0 && change.more() <= 0) {
      return new Outcome(
          wanted, wanted.from(), "others have not given up the memory for it", false);
    }
    TaskClient client = new TaskClient(process, daemon, err);
    try {
      client.run("giving up", request(change), Collections.emptyIterator());
      ledger.set(change.mount(), change.to());
      return new Outcome(change, change.to(), "", false);
    } catch (CliException e) {
      long has = capacity(client);
      // a change that may have been made counts as made
      ledger.set(change.mount(), has < 0 ? Math.max(change.from(), change.to()) : has);
      return has == change.to()
          ? new Outcome(change, has, "", false) // only the answer was lost
          : new Outcome(change, has, String.valueOf(e.getMessage()), true);
    }
  }

  /** Returns what a daemon is asked for a change by which a mount stays in the node's budget. */
  static Map<String, Object> request(Change change) {
    return Map.of("begin", "capacity", "size", Long.toString(change.to()), "within_budget", true);
  }

  /** Returns what a mount has after a failure; negative where that cannot be told. */
  private static long capacity(TaskClient client) {
    try {
      return FiguresJson.figures(client.daemon().stats()).promisedBytes();
    } catch (CliException | IllegalArgumentException e) {
      return -1;
    }
  }

  /** Returns the bytes that all mounts have together after it. */
  public long total() {
    return ledger.total();
  }
}
