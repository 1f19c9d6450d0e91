package io.holdfast.fs.allocate;

import io.holdfast.fs.allocate.NodeAllocation.Change;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Visible;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Decides again and again how the mounts of a node divide its memory, a feedback controller with
 * the model of {@link Allocator}. A deterministic state machine: time and figures are its inputs,
 * and decisions its output.
 *
 * <p>It moves towards the proposal in steps of a sixteenth of the budget at most, and not at all
 * for a gain below {@link #LEAST_GAIN} (hysteresis), or one that only a single look has seen. After
 * a step it waits until the effect was measured: until the mounts that grew have filled what they
 * got, and for a bounded time at most. What a step should have brought is what the model says,
 * corrected by how far it was off before. It need not be a gain: speed is a convex function of
 * memory, so that the first steps of a good move may cost more than they bring. A step whose effect
 * was clearly worse than that, and worse than before, is taken back, and nothing is moved for
 * {@link #HOLD} seconds, unless jobs or rates change. A mount outside its bounds is brought to them
 * at once, whatever that gains, and stays there.
 *
 * <p>No mount turns from growing to shrinking or back more than once in {@link #HOLD} seconds, for
 * whatever reason; but if the mounts have more than the budget and nobody else can give that up,
 * one does. So there is no oscillation, however noisy the figures are. Not thread-safe.
 */
public final class AllocationController {
  /** Predicted speeds that differ by less are not worth a change. */
  static final double LEAST_GAIN = 0.05;

  /** Seconds without a change after one that was taken back, and between two turns of a mount. */
  static final double HOLD = 600;

  /** The largest step is the budget by this. */
  static final long STEPS = 16;

  /** Seconds after a change before its effect is looked at, and those for which it is measured. */
  static final double LEAST_PAUSE = 10;

  /** Seconds after which a change is judged by what is known then. */
  static final double LONGEST_PAUSE = 30;

  /** Looks that must agree that there is a gain. */
  private static final int LOOKS = 2;

  /** A rate that changes by this factor makes another situation. */
  private static final double OTHER_RATE = 1.5;

  /** Measured speeds below these parts of the expected, and of those before, are worse. */
  private static final double BELOW_EXPECTED = 0.85;

  private static final double BELOW_BEFORE = 0.95;

  /** A job that is slower than this part of its speed has paused by itself, and is not judged. */
  private static final double PAUSED = 0.02;

  private long budget;
  private final Objective objective;
  private final Map<String, Turn> turns = new HashMap<>();
  private @Nullable Pending pending;
  private @Nullable Map<String, Kept> held;
  private double heldUntil;
  private int looks;
  private String told = "";

  /**
   * A mount at a look.
   *
   * @param speed bytes per second of its job, measured over the last seconds
   * @param filled whether its residents fill its capacity, or all that the job reads is resident
   */
  public record Reading(FoundMount mount, double speed, boolean filled) {}

  /**
   * A decision.
   *
   * @param changes to make, in that order; none to leave all as it is
   * @param isBack whether they take an earlier step back
   * @param line for people; empty where nothing was decided
   */
  public record Decision(List<Change> changes, boolean isBack, String line) {
    static final Decision NONE = told("");

    static Decision told(String line) {
      return new Decision(List.of(), false, line);
    }
  }

  /**
   * The marks of a situation. What a shared origin gives to a mount is none of them: it changes
   * with each step.
   */
  private record Kept(FoundMount.State state, String job, double origin, double demand) {
    static Kept of(FoundMount mount, Map<String, Long> sharedOrigins) {
      Rates rates = mount.measured().map(PlannedMount::rates).orElse(null);
      String job = mount.is(FoundMount.State.LEFT) ? "" : mount.reason();
      if (rates == null) {
        return new Kept(mount.state(), job, 1, 1);
      }
      String shared = rates.sharedOrigin();
      long origin =
          shared == null ? rates.origin() : sharedOrigins.getOrDefault(shared, rates.origin());
      return new Kept(mount.state(), job, origin, rates.demand());
    }

    boolean isLike(@Nullable Kept other) {
      return other != null
          && state == other.state
          && job.equals(other.job)
          && isNear(origin, other.origin)
          && isNear(demand, other.demand);
    }

    private static boolean isNear(double one, double other) {
      return Math.max(one, other) < OTHER_RATE * Math.min(one, other);
    }
  }

  /** The last direction of a mount's capacity, and when it turned. */
  private record Turn(int direction, double turned) {}

  /**
   * Changes whose effect is not known yet.
   *
   * @param before speeds that were measured
   * @param expected speeds that should come of it
   * @param filledSince when the mounts that grew had filled what they got; infinite until then
   */
  private record Pending(
      List<Change> changes,
      double since,
      Map<String, Kept> situation,
      Map<String, Double> before,
      Map<String, Double> expected,
      double filledSince) {
    Pending filledAt(double seconds) {
      return new Pending(changes, since, situation, before, expected, seconds);
    }
  }

  /**
   * Creates one.
   *
   * @param budget bytes for all mounts together
   */
  public AllocationController(long budget, Objective objective) {
    this.budget = budget;
    this.objective = objective;
  }

  /** Sets another budget, in bytes. */
  public void budget(long bytes) {
    budget = bytes;
  }

  /**
   * Decides by a look at all mounts. The caller makes the changes, and tells {@link #made} which.
   *
   * @param seconds of a clock that never goes back
   */
  public Decision decide(double seconds, List<Reading> readings) {
    Pending last = pending;
    if (last != null) {
      if (!isLike(last.situation(), readings) || !isAsMade(last.changes(), readings)) {
        pending = null;
        looks = LOOKS - 1;
      } else {
        return judge(last, seconds, readings);
      }
    }
    Map<String, Kept> hold = held;
    if (hold != null && seconds < heldUntil && isLike(hold, readings)) {
      return Decision.NONE;
    }
    held = null;
    return plan(seconds, readings);
  }

  /** Tells whether nobody else has changed the same mounts since. */
  private static boolean isAsMade(List<Change> changes, List<Reading> readings) {
    Map<String, Long> now =
        readings.stream()
            .collect(
                Collectors.toMap(each -> each.mount().name(), each -> each.mount().capacity()));
    return changes.stream()
        .allMatch(change -> change.to() == now.getOrDefault(change.mount(), change.to()));
  }

  private Decision plan(double seconds, List<Reading> readings) {
    List<FoundMount> found = readings.stream().map(Reading::mount).toList();
    NodeAllocation node;
    try {
      node = NodeAllocation.of(budget, found, objective);
    } catch (IllegalArgumentException e) {
      return tell("nothing is changed: " + e.getMessage());
    }
    if (node.total() > budget) {
      List<Change> shrink = excess(node, seconds);
      return shrink.isEmpty()
          ? tell("nothing is changed: mounts have more than the budget, and none can give it up")
          : step(shrink, "the mounts have more than the budget");
    }
    List<Change> due = intoBounds(node, seconds);
    if (due.isEmpty() && gain(node) < LEAST_GAIN) {
      looks = 0;
      return tell(
          node.proposals().isEmpty()
              ? "nothing is changed: no mount has a job whose rates are known"
              : "settled: no other division would be %.0f %% faster".formatted(100 * LEAST_GAIN));
    }
    looks++;
    if (looks < LOOKS) {
      return Decision.NONE;
    }
    if (!due.isEmpty()) {
      return step(due, "a mount is below its floor or above its capacity-max");
    }
    List<Change> changes = bounded(node, seconds);
    if (changes.isEmpty()) {
      return tell(
          "waits: what would be faster would turn a mount again within %.0f minutes"
              .formatted(HOLD / 60));
    }
    return step(
        changes,
        String.format(
            Locale.ROOT,
            "together %s now, %s in the end",
            total(node, share -> share.speeds().now()),
            total(node, share -> share.speeds().proposed())));
  }

  private static String total(NodeAllocation node, ToDoubleFunction<Allocation.Share> speed) {
    double total =
        node.allocation().stream()
            .flatMap(allocation -> allocation.mounts().stream())
            .mapToDouble(speed)
            .sum();
    return Human.bytes(Math.round(total)) + "/s";
  }

  /** Tells something once. */
  private Decision tell(String line) {
    if (line.equals(told)) {
      return Decision.NONE;
    }
    told = line;
    return Decision.told(line);
  }

  private Decision step(List<Change> changes, String why) {
    told = "";
    return new Decision(changes, false, "step: " + text(changes) + ": " + why);
  }

  private static String text(List<Change> changes) {
    return changes.stream()
        .map(
            change ->
                "%s from %s to %s"
                    .formatted(
                        Visible.of(change.mount()),
                        Human.bytes(change.from()),
                        Human.bytes(change.to())))
        .collect(Collectors.joining(", "));
  }

  /** Returns by which part the proposal is better, in the figure that its objective looks at. */
  private double gain(NodeAllocation node) {
    List<Allocation.Share> shares = node.allocation().map(Allocation::mounts).orElse(List.of());
    if (shares.isEmpty()) {
      return 0;
    }
    double promise = 0;
    for (Allocation.Share share : shares) {
      Allocation.Speeds speeds = share.speeds();
      if (speeds.proposed() > speeds.now()) {
        promise = Math.max(promise, (double) speeds.fair() / Math.max(1, speeds.now()) - 1);
      }
    }
    return Math.max(
        promise,
        switch (objective) {
          case THROUGHPUT -> {
            double now = shares.stream().mapToDouble(share -> share.speeds().now()).sum();
            double then = shares.stream().mapToDouble(share -> share.speeds().proposed()).sum();
            yield then / Math.max(1, now) - 1;
          }
          case FAIRNESS ->
              firstGain(shares, share -> Math.max(1.0, (double) share.speeds().fair()));
          case MAKESPAN -> firstGain(shares, share -> (double) share.mount().dataset());
        });
  }

  private static double firstGain(
      List<Allocation.Share> shares, ToDoubleFunction<Allocation.Share> unit) {
    double[] now = levels(shares, share -> share.speeds().now(), unit);
    double[] then = levels(shares, share -> share.speeds().proposed(), unit);
    for (int i = 0; i < now.length; i++) {
      double gain = then[i] / now[i] - 1;
      if (Math.abs(gain) >= LEAST_GAIN) {
        return gain;
      }
    }
    return 0;
  }

  private static double[] levels(
      List<Allocation.Share> shares,
      ToDoubleFunction<Allocation.Share> speed,
      ToDoubleFunction<Allocation.Share> unit) {
    double[] levels =
        shares.stream()
            .mapToDouble(
                share -> Math.max(1, speed.applyAsDouble(share)) / unit.applyAsDouble(share))
            .toArray();
    Arrays.sort(levels);
    return levels;
  }

  /**
   * Returns a step that brings mounts to their floors and ceilings at once; others give up what the
   * floors need. None where all mounts are within their bounds, or it would turn a mount too soon.
   */
  private List<Change> intoBounds(NodeAllocation node, double seconds) {
    Map<String, FoundMount> found =
        node.found().stream().collect(Collectors.toMap(FoundMount::name, each -> each));
    List<Change> step = new ArrayList<>();
    List<Change> grow = new ArrayList<>();
    List<Change> others = new ArrayList<>();
    for (Change change : node.changes()) {
      long within = NodeAllocation.within(found.get(change.mount()), change.from());
      if (!mayTurn(change, seconds)) {
        continue;
      }
      if (within == change.from()) {
        others.add(change);
      } else {
        Change due = new Change(change.mount(), change.from(), within);
        (due.more() < 0 ? step : grow).add(due);
      }
    }
    long free = budget - node.total() - more(step);
    for (Change change : others) {
      long needed = more(grow) - free;
      if (needed > 0 && change.more() < 0) {
        long to = Math.max(change.to(), change.from() - NodeAllocation.upToPage(needed));
        step.add(new Change(change.mount(), change.from(), to));
        free += change.from() - to;
      }
    }
    for (Change change : grow) {
      Change fits = change.upTo(change.from() + free);
      if (fits.more() > 0) {
        step.add(fits);
        free -= fits.more();
      }
    }
    return step;
  }

  private static long more(List<Change> changes) {
    return changes.stream().mapToLong(Change::more).sum();
  }

  /** Returns a step towards the proposal; none where it would turn a mount too soon. */
  private List<Change> bounded(NodeAllocation node, double seconds) {
    List<Change> shrink = new ArrayList<>();
    List<Change> grow = new ArrayList<>();
    double wanted = 0;
    double offered = 0;
    for (Change change : node.changes()) {
      if (mayTurn(change, seconds)) {
        (change.more() < 0 ? shrink : grow).add(change);
        wanted += Math.max(0, change.more());
        offered += Math.max(0, -change.more());
      }
    }
    long free = Math.max(0, budget - node.total());
    double move = Math.min(Math.min(wanted, free + offered), (double) budget / STEPS);
    List<Change> growing = new ArrayList<>();
    long grown = 0;
    for (Change change : grow) {
      long more = (long) (change.more() * (move / wanted)) / NodeAllocation.PAGE;
      if (more > 0) {
        long to = change.from() + more * NodeAllocation.PAGE;
        growing.add(new Change(change.mount(), change.from(), to));
        grown += to - change.from();
      }
    }
    List<Change> step = parts(shrink, grown - free);
    if (growing.isEmpty() || grown - free + more(step) > NodeAllocation.PAGE) {
      return List.of();
    }
    step.addAll(growing);
    return step;
  }

  /**
   * Returns a step that gives up what the mounts have beyond the budget; rather by mounts that may
   * turn.
   */
  private List<Change> excess(NodeAllocation node, double seconds) {
    long over = node.total() - budget;
    List<Change> all = node.changes().stream().filter(each -> each.more() < 0).toList();
    List<Change> may = all.stream().filter(each -> mayTurn(each, seconds)).toList();
    return parts(-more(may) >= over ? may : all, over);
  }

  /** Returns the same part of each change of mounts that shrink, so that they give up enough. */
  private static List<Change> parts(List<Change> shrink, long wanted) {
    List<Change> parts = new ArrayList<>();
    double part = Math.min(1, (double) wanted / -more(shrink));
    long needed = wanted;
    for (Change change : shrink) {
      if (needed > 0) {
        long pages = (long) Math.ceil(part * -change.more() / NodeAllocation.PAGE);
        long less =
            Math.min(
                -change.more(),
                Math.min(pages * NodeAllocation.PAGE, NodeAllocation.upToPage(needed)));
        parts.add(new Change(change.mount(), change.from(), change.from() - less));
        needed -= less;
      }
    }
    return parts;
  }

  private boolean mayTurn(Change change, double seconds) {
    Turn turn = turns.get(change.mount());
    return turn == null
        || turn.direction() == Long.signum(change.more())
        || seconds - turn.turned() >= HOLD;
  }

  /**
   * Learns which changes of a decision were made. Where the caller does not call it, because it
   * could not try, the next look decides anew: also whether the step before is to be taken back.
   *
   * @param seconds when they were
   * @param readings those that they were decided by
   */
  public void made(
      double seconds, Decision decision, List<Change> changes, List<Reading> readings) {
    for (Change change : changes) {
      Turn turn = turns.get(change.mount());
      int direction = Long.signum(change.more());
      boolean turned = turn != null && turn.direction() != direction;
      double last = turn == null ? Double.NEGATIVE_INFINITY : turn.turned();
      turns.put(change.mount(), new Turn(direction, turned ? seconds : last));
    }
    if (changes.isEmpty() || decision.isBack()) {
      pending = null;
      hold(seconds, readings);
    } else {
      pending = pending(seconds, changes, readings);
    }
  }

  private static Pending pending(double seconds, List<Change> changes, List<Reading> readings) {
    List<FoundMount> found = readings.stream().map(Reading::mount).toList();
    Map<String, Double> model = NodeAllocation.speeds(found, Map.of());
    Map<String, Double> after =
        NodeAllocation.speeds(
            found, changes.stream().collect(Collectors.toMap(Change::mount, Change::to)));
    Map<String, Double> before = new HashMap<>();
    Map<String, Double> expected = new HashMap<>();
    for (Reading reading : readings) {
      String name = reading.mount().name();
      if (model.containsKey(name)) {
        before.put(name, reading.speed());
        double off = Math.min(1, reading.speed() / Math.max(1, model.get(name)));
        expected.put(name, off * after.get(name));
      }
    }
    return new Pending(
        changes, seconds, situation(readings), before, expected, Double.POSITIVE_INFINITY);
  }

  private void hold(double seconds, List<Reading> readings) {
    held = situation(readings);
    heldUntil = seconds + HOLD;
    looks = 0;
  }

  private Decision judge(Pending step, double seconds, List<Reading> readings) {
    Map<String, Reading> found =
        readings.stream().collect(Collectors.toMap(each -> each.mount().name(), each -> each));
    boolean filled =
        step.changes().stream()
            .filter(change -> change.more() > 0)
            .allMatch(change -> found.get(change.mount()).filled());
    if (filled && Double.isInfinite(step.filledSince())) {
      step = step.filledAt(seconds);
      pending = step;
    }
    double age = seconds - step.since();
    boolean measured = filled && seconds - step.filledSince() >= LEAST_PAUSE;
    if (age < LEAST_PAUSE || (!measured && age < LONGEST_PAUSE)) {
      return Decision.NONE;
    }
    if (wasDue(step, found) || !isWorse(step, found, measured)) {
      pending = null;
      looks = LOOKS - 1;
      return Decision.NONE;
    }
    List<Change> back = new ArrayList<>();
    for (int i = step.changes().size() - 1; i >= 0; i--) {
      Change made = step.changes().get(i);
      back.add(new Change(made.mount(), made.to(), made.from()));
    }
    if (!back.stream().allMatch(change -> mayTurn(change, seconds))) {
      pending = null;
      hold(seconds, readings);
      return tell("holds: the last step made it worse than expected, and has turned mounts before");
    }
    told = "";
    return new Decision(
        List.copyOf(back),
        true,
        "back: %s: it made it worse than expected; holds for %.0f minutes"
            .formatted(text(back), HOLD / 60));
  }

  /** Tells whether a step has brought a mount within its bounds, where it stays. */
  private static boolean wasDue(Pending step, Map<String, Reading> found) {
    return step.changes().stream()
        .anyMatch(
            change ->
                NodeAllocation.within(found.get(change.mount()).mount(), change.from())
                    != change.from());
  }

  /** Tells whether those that gave memory up suffer, or, where its use can be told, all do. */
  private static boolean isWorse(Pending step, Map<String, Reading> found, boolean measured) {
    double total = 0;
    double before = 0;
    double expected = 0;
    for (Map.Entry<String, Double> each : step.before().entrySet()) {
      double speed = found.get(each.getKey()).speed();
      double should = step.expected().getOrDefault(each.getKey(), 0.0);
      if (speed < PAUSED * each.getValue()) {
        continue;
      }
      total += speed;
      before += each.getValue();
      expected += should;
      boolean gives =
          step.changes().stream()
              .anyMatch(change -> change.more() < 0 && change.mount().equals(each.getKey()));
      if (gives && isWorse(speed, should, each.getValue())) {
        return true;
      }
    }
    return measured && isWorse(total, expected, before);
  }

  private static boolean isWorse(double speed, double expected, double before) {
    return speed < BELOW_EXPECTED * expected && speed < BELOW_BEFORE * before;
  }

  private static Map<String, Kept> situation(List<Reading> readings) {
    Map<String, Long> shared =
        NodeAllocation.originRates(readings.stream().map(Reading::mount).toList());
    return readings.stream()
        .collect(
            Collectors.toMap(each -> each.mount().name(), each -> Kept.of(each.mount(), shared)));
  }

  private static boolean isLike(Map<String, Kept> situation, List<Reading> readings) {
    Map<String, Kept> now = situation(readings);
    return now.size() == situation.size()
        && now.entrySet().stream()
            .allMatch(each -> each.getValue().isLike(situation.get(each.getKey())));
  }
}
