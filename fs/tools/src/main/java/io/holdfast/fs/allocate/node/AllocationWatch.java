package io.holdfast.fs.allocate.node;

import io.holdfast.fs.FsException;
import io.holdfast.fs.allocate.AllocationController;
import io.holdfast.fs.allocate.AllocationController.Decision;
import io.holdfast.fs.allocate.AllocationController.Reading;
import io.holdfast.fs.allocate.FollowedBudget;
import io.holdfast.fs.allocate.FoundMount;
import io.holdfast.fs.allocate.NodeAllocation;
import io.holdfast.fs.allocate.NodeAllocation.Change;
import io.holdfast.fs.allocate.Objective;
import io.holdfast.fs.allocate.ReadProgress;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.figures.CacheFigures;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.JobsFigures.Job;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.OwnProcess;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Visible;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.jline.utils.Signals;

/**
 * Looks at the mounts of this node again and again, has {@link AllocationController} decide, and
 * makes the changes. Prints a line for each decision, and one for each mount that is left as it is.
 * A signal ends it after the change that is under way. Not thread-safe.
 */
public final class AllocationWatch {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

  /** Seconds that measured speeds are of. */
  private static final double WINDOW = 15;

  /** From this part on a mount counts as filled: the next item may not fit. */
  private static final double FULL = 0.98;

  /** A signal ends a pause after so long at most. */
  private static final long SLICE_MILLIS = 200;

  private final OwnProcess process;
  private final NodeMounts mounts;
  private final PrintWriter out;
  private final PrintWriter err;
  private final Duration interval;
  private final Map<String, ReadProgress> progress = new HashMap<>();
  private final Map<String, String> left = new HashMap<>();
  private final long begin = System.nanoTime();

  /**
   * Prepares to watch.
   *
   * @param out where the lines are printed
   * @param err where the user sees how far daemons are
   * @param interval from one look to the next
   */
  public AllocationWatch(
      OwnProcess process, NodeMounts mounts, PrintWriter out, PrintWriter err, Duration interval) {
    this.process = process;
    this.mounts = mounts;
    this.out = out;
    this.err = err;
    this.interval = interval;
  }

  /**
   * Goes on until it is told to end.
   *
   * @param first bytes that the mounts may have together
   * @param follows whether the budget grows with mounts that come; otherwise it stays
   */
  public void run(long first, boolean follows, Objective objective) {
    long budget = first;
    FollowedBudget followed = new FollowedBudget(first);
    AllocationController controller = new AllocationController(budget, objective);
    say("watching: the budget is " + Human.bytes(budget));
    try (EndSignals signals = new EndSignals()) {
      while (!signals.isEnded() && !out.checkError()) {
        List<NodeMounts.Look> looks = mounts.look();
        double now = seconds();
        if (follows && followed.grows(looks.stream().map(NodeMounts.Look::mount).toList())) {
          budget = followed.bytes();
          controller.budget(budget);
          say("the mounts have more together: the budget is " + Human.bytes(budget));
        }
        tellLeft(looks);
        List<Reading> readings = new ArrayList<>();
        looks.forEach(look -> readings.add(reading(now, look)));
        Decision decision = controller.decide(now, readings);
        if (!decision.line().isEmpty()) {
          say(decision.line());
        }
        List<Change> changes = List.of();
        if (!decision.changes().isEmpty()) {
          Optional<List<Change>> made = inTurn(budget, looks, decision, signals);
          made.ifPresent(all -> controller.made(seconds(), decision, all, readings));
          changes = made.orElse(changes);
        }
        tell(budget, objective, looks, changes);
        if (!pause(signals)) {
          break;
        }
      }
    }
    say("ended: capacities stay as they are");
  }

  /** Tells the daemons what they are to have in the end. */
  private static void tell(
      long budget, Objective objective, List<NodeMounts.Look> looks, List<Change> made) {
    try {
      NodeAllocation node =
          NodeAllocation.of(budget, looks.stream().map(NodeMounts.Look::mount).toList(), objective);
      AllocationNews.tell(
          node, looks, made.stream().map(Change::mount).collect(Collectors.toSet()));
    } catch (IllegalArgumentException e) {
      // the controller has said that the budget is too small
      return;
    }
  }

  /** Waits until the next look; tells whether there is to be one. */
  private boolean pause(EndSignals signals) {
    for (long left = interval.toMillis(); left > 0; left -= SLICE_MILLIS) {
      if (signals.isEnded() || !process.pause(Math.min(left, SLICE_MILLIS))) {
        return false;
      }
    }
    return true;
  }

  private double seconds() {
    return (double) (System.nanoTime() - begin) / TimeUnit.SECONDS.toNanos(1);
  }

  private void say(String line) {
    out.print(stamped(LocalTime.now(ZoneId.systemDefault()), line));
    out.flush();
  }

  /** A line as it is printed: the time always has its seconds, also in a whole minute. */
  static String stamped(LocalTime now, String line) {
    return TIME.format(now) + " " + Visible.of(line) + "\n";
  }

  private void tellLeft(List<NodeMounts.Look> looks) {
    for (NodeMounts.Look look : looks) {
      FoundMount mount = look.mount();
      String why = mount.state() == FoundMount.State.LEFT ? mount.reason() : "";
      String before = left.put(mount.name(), why);
      if (!why.isEmpty() && !why.equals(before)) {
        say(NodeMounts.leftAsItIs(mount));
      }
    }
    List<String> names = looks.stream().map(look -> look.mount().name()).toList();
    left.keySet().retainAll(names);
    progress.keySet().retainAll(names);
  }

  private Reading reading(double now, NodeMounts.Look look) {
    FoundMount mount = look.mount();
    Figures figures = look.figures();
    Job job = look.job();
    if (figures == null || job == null) {
      progress.remove(mount.name());
      return new Reading(mount, 0, true);
    }
    ReadProgress read = progress.computeIfAbsent(mount.name(), name -> new ReadProgress(WINDOW));
    read.add(now, job);
    return new Reading(mount, read.speed(), isFilled(figures, mount));
  }

  private static boolean isFilled(Figures figures, FoundMount mount) {
    CacheFigures cache = figures.cache();
    long all = mount.measured().map(each -> each.dataset()).orElse(Long.MAX_VALUE);
    return cache.residentBytes() >= FULL * Math.min(cache.capacityBytes(), all);
  }

  /**
   * Makes the changes of a decision while no other command divides memory; returns those that were
   * made. Empty where others have done so since the mounts were looked at: the next look decides
   * anew.
   */
  private Optional<List<Change>> inTurn(
      long budget, List<NodeMounts.Look> looks, Decision decision, EndSignals signals) {
    Reservations turn;
    try {
      turn = Reservations.await(process, () -> !signals.isEnded());
    } catch (CliException | FsException e) {
      say("nothing is changed: " + (signals.isEnded() ? "a signal ends it" : e.getMessage()));
      return Optional.empty();
    }
    try {
      List<NodeMounts.Look> now = mounts.look();
      if (capacities(now).equals(capacities(looks))) {
        return make(budget, now, decision, signals);
      }
      say("nothing is changed: the mounts have changed meanwhile");
      return Optional.empty();
    } finally {
      turn.close();
    }
  }

  private static Map<String, Long> capacities(List<NodeMounts.Look> looks) {
    return looks.stream()
        .map(NodeMounts.Look::mount)
        .collect(Collectors.toMap(FoundMount::name, FoundMount::capacity));
  }

  /**
   * Makes the changes of a decision; returns those that were made. Where a mount would not grow,
   * the others have their memory back, and the mount is not to grow for a while. Then the next look
   * decides anew: this returns empty, unless a step was to be taken back, which is not tried again.
   */
  private Optional<List<Change>> make(
      long budget, List<NodeMounts.Look> looks, Decision decision, EndSignals signals) {
    CapacityChanges making = CapacityChanges.of(process, err, budget, looks);
    Map<String, RunningDaemon> daemons = CapacityChanges.daemons(looks);
    List<Change> made = new ArrayList<>();
    for (Change change : decision.changes()) {
      if (signals.isEnded()) {
        break;
      }
      CapacityChanges.Outcome outcome = making.make(change);
      if (outcome.isDone()) {
        made.add(outcome.change());
        continue;
      }
      say(outcome.line());
      RunningDaemon daemon = daemons.get(change.mount());
      if (outcome.isRefused() && change.more() > 0 && daemon != null) {
        mounts.limit(daemon, change.from());
        undo(making, made);
        return decision.isBack() ? Optional.of(List.of()) : Optional.empty();
      }
    }
    return Optional.of(made);
  }

  /** Takes changes back, in such an order that the budget holds. */
  private void undo(CapacityChanges making, List<Change> made) {
    for (int i = made.size() - 1; i >= 0; i--) {
      Change change = made.get(i);
      CapacityChanges.Outcome outcome =
          making.make(new Change(change.mount(), change.to(), change.from()));
      say(outcome.line());
    }
  }

  /**
   * Takes the signals that tell this process to end, so that a loop can end by itself. Close it to
   * have signals end this process again. Thread-safe.
   */
  private static final class EndSignals implements AutoCloseable {
    private static final List<String> SIGNALS = List.of("HUP", "INT", "TERM");

    private final Map<String, Object> before = new HashMap<>();
    private final AtomicBoolean ended = new AtomicBoolean();

    EndSignals() {
      SIGNALS.forEach(name -> before.put(name, Signals.register(name, () -> ended.set(true))));
    }

    /** Tells whether there was one. */
    boolean isEnded() {
      return ended.get();
    }

    @Override
    public void close() {
      before.forEach(Signals::unregister);
    }
  }
}
