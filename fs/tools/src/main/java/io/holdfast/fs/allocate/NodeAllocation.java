package io.holdfast.fs.allocate;

import io.holdfast.fs.units.Human;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How the mounts of a node are to divide its memory. The budget is for those whose jobs' rates are
 * known, after all others have what they keep: a mount that cannot be judged what it has, and one
 * that has no use for memory now its floor. Memory that then makes nobody faster stays where it is,
 * so that nothing is evicted for nothing. Immutable.
 *
 * @param budget bytes for all mounts together
 * @param found all mounts of the node
 * @param proposals for the mounts whose capacity may change, in that order
 * @param allocation what the proposals come from; empty where no job's rates are known
 */
public record NodeAllocation(
    Objective objective,
    long budget,
    List<FoundMount> found,
    List<Proposal> proposals,
    Optional<Allocation> allocation) {
  /** The least capacity that a mount can have, and what all are rounded to. */
  static final long PAGE = 4096;

  /** A change by a smaller part of the budget is none. */
  private static final long SMALLEST_PART = 1024;

  /**
   * The proposal for a mount.
   *
   * @param bytes its capacity
   * @param share what this comes from; null for a mount that has no use for memory now
   * @param reason for people
   */
  public record Proposal(
      FoundMount mount, long bytes, Allocation.@Nullable Share share, String reason) {}

  /**
   * Another capacity of a mount.
   *
   * @param from bytes that it has
   * @param to bytes that it is to have
   */
  public record Change(String mount, long from, long to) {
    /** Returns the bytes that it is to have more; negative for less. */
    public long more() {
      return to - from;
    }

    /** Returns the same, or where that is more than there is room for, all whole pages of room. */
    public Change upTo(long room) {
      return to <= room ? this : new Change(mount, from, whole(room));
    }
  }

  /**
   * Divides a budget.
   *
   * @throws IllegalArgumentException where it is not enough for what mounts keep in any case, with
   *     one line that says so
   */
  public static NodeAllocation of(long budget, List<FoundMount> found, Objective objective) {
    long rest = budget;
    List<PlannedMount> planned = new ArrayList<>();
    for (FoundMount mount : found) {
      rest -= Math.min(rest, kept(mount));
      mount.measured().ifPresent(planned::add);
    }
    if (found.stream().allMatch(mount -> mount.is(FoundMount.State.LEFT))) {
      return new NodeAllocation(objective, budget, found, List.of(), Optional.empty());
    }
    requireRoom(budget, rest, found);
    Optional<Allocation> allocation =
        planned.isEmpty()
            ? Optional.empty()
            : Optional.of(
                Allocator.allocate(new Plan(rest, withOriginRates(planned, found)), objective));
    return new NodeAllocation(
        objective, budget, found, proposals(budget, found, allocation.orElse(null)), allocation);
  }

  /** Returns what a mount keeps in any case, apart from the floors that the plan itself knows. */
  private static long kept(FoundMount mount) {
    return switch (mount.state()) {
      case LEFT -> mount.capacity();
      case IDLE -> floor(mount);
      case MEASURED ->
          floor(mount) - mount.measured().map(each -> each.capacity().least()).orElse(0L);
    };
  }

  /**
   * Returns what a mount keeps. One that has less gets its floor while a job reads it, but no more
   * than the plan knows to do with.
   */
  private static long floor(FoundMount mount) {
    long planned = mount.measured().map(each -> each.capacity().least()).orElse(0L);
    long has = Math.max(mount.capacity(), planned);
    return Math.max(PAGE, Math.min(upToPage(mount.bounds().least()), has));
  }

  /** Returns the capacity within the bounds of a mount that is nearest to one. */
  static long within(FoundMount mount, long bytes) {
    if (bytes > mount.bounds().most()) {
      return Math.max(floor(mount), whole(mount.bounds().most()));
    }
    return Math.max(floor(mount), bytes);
  }

  private static void requireRoom(long budget, long rest, List<FoundMount> found) {
    BigInteger floors = BigInteger.ZERO;
    BigInteger left = BigInteger.ZERO;
    for (FoundMount mount : found) {
      long measured = mount.measured().map(each -> each.capacity().least()).orElse(0L);
      floors = floors.add(BigInteger.valueOf(measured));
      left = left.add(BigInteger.valueOf(kept(mount)));
    }
    boolean some = found.stream().anyMatch(mount -> mount.is(FoundMount.State.MEASURED));
    if ((some && rest <= 0) || floors.add(left).compareTo(BigInteger.valueOf(budget)) > 0) {
      throw new IllegalArgumentException(
          ("the budget of %s is less than the %s that mounts keep in any case, by capacity-min or"
                  + " --memory-min, or because they are left as they are: raise it, or umount one")
              .formatted(Human.bytes(budget), Human.bytes(bounded(floors.add(left)))));
    }
  }

  static long bounded(BigInteger bytes) {
    return bytes.min(BigInteger.valueOf(Long.MAX_VALUE)).longValueExact();
  }

  /**
   * Returns the rates of shared origins by name: the highest that one of its mounts got, or what
   * all of them read together now. A guess counts where no mount tells the rate.
   */
  static Map<String, Long> originRates(List<FoundMount> found) {
    Map<String, Double> loads = new HashMap<>();
    Map<String, Long> told = new HashMap<>();
    Map<String, Long> guessed = new HashMap<>();
    for (FoundMount mount : found) {
      Rates rates = mount.measured().map(PlannedMount::rates).orElse(null);
      if (rates != null && rates.sharedOrigin() != null) {
        loads.merge(rates.sharedOrigin(), Math.max(0, mount.originLoad()), Double::sum);
        (mount.isOriginGuessed() ? guessed : told)
            .merge(rates.sharedOrigin(), rates.origin(), Math::max);
      }
    }
    Map<String, Long> rates = new HashMap<>();
    loads.forEach(
        (origin, load) -> {
          long highest = told.getOrDefault(origin, guessed.getOrDefault(origin, 1L));
          rates.put(origin, Math.min(PlanReader.MOST_RATE, Math.max(highest, Math.round(load))));
        });
    return rates;
  }

  /** Gives all mounts of an origin its rate. */
  private static List<PlannedMount> withOriginRates(
      List<PlannedMount> planned, List<FoundMount> found) {
    Map<String, Long> shared = originRates(found);
    return planned.stream()
        .map(
            mount -> {
              Rates is = mount.rates();
              Long rate = is.sharedOrigin() == null ? null : shared.get(is.sharedOrigin());
              return rate == null
                  ? mount
                  : new PlannedMount(
                      mount.name(), mount.dataset(), is.withOrigin(rate), mount.capacity());
            })
        .toList();
  }

  private static List<Proposal> proposals(
      long budget, List<FoundMount> found, @Nullable Allocation allocation) {
    List<Proposal> proposals = new ArrayList<>();
    long rest = budget;
    int next = 0;
    for (FoundMount mount : found) {
      if (mount.is(FoundMount.State.LEFT)) {
        rest -= mount.capacity();
      } else if (mount.is(FoundMount.State.IDLE) || allocation == null) {
        proposals.add(new Proposal(mount, floor(mount), null, mount.reason()));
      } else {
        Allocation.Share share = allocation.mounts().get(next++);
        long bytes = Math.max(floor(mount), whole(share.capacities().proposed()));
        proposals.add(new Proposal(mount, bytes, share, reason(share.explanation().reason())));
      }
    }
    for (Proposal proposal : proposals) {
      rest -= proposal.bytes();
    }
    return keeping(proposals, Math.max(0, rest), budget / SMALLEST_PART);
  }

  /** A plan's keys are those of its JSON; here they are those of the node's file. */
  private static String reason(String ofPlan) {
    return ofPlan
        .replace(PlanReader.FLOOR, NodeSettings.FLOOR)
        .replace(PlanReader.CEILING, NodeSettings.CEILING);
  }

  /** Leaves memory that nobody needs where it is, in proportion to what each would give up. */
  private static List<Proposal> keeping(List<Proposal> proposals, long rest, long notable) {
    double wanted = 0;
    for (Proposal proposal : proposals) {
      wanted += surplus(proposal);
    }
    double part = wanted == 0 ? 0 : Math.min(1, rest / wanted);
    List<Proposal> kept = new ArrayList<>();
    for (Proposal each : proposals) {
      long more = part == 1 ? surplus(each) : whole((long) (part * surplus(each)));
      String reason = each.reason();
      if (more >= notable && each.share() != null) {
        reason += "; keeps what nobody else needs";
      }
      long bytes = each.bytes() + more;
      if (each.mount().isOriginGuessed() && each.mount().capacity() - bytes >= notable) {
        reason += "; its origin's rate is a guess: allocate again after an epoch";
      }
      kept.add(new Proposal(each.mount(), bytes, each.share(), reason));
    }
    return List.copyOf(kept);
  }

  private static long surplus(Proposal proposal) {
    FoundMount mount = proposal.mount();
    return Math.max(0, Math.min(mount.capacity(), mount.bounds().most()) - proposal.bytes());
  }

  static long upToPage(long bytes) {
    return whole(Math.min(bytes, Long.MAX_VALUE - PAGE) + PAGE - 1);
  }

  private static long whole(long bytes) {
    return bytes / PAGE * PAGE;
  }

  /**
   * Returns the speeds that the rates of mounts predict, in bytes per second by name.
   *
   * @param capacities other capacities than they have, by name
   */
  static Map<String, Double> speeds(List<FoundMount> found, Map<String, Long> capacities) {
    List<PlannedMount> planned = new ArrayList<>();
    found.forEach(mount -> mount.measured().ifPresent(planned::add));
    if (planned.isEmpty()) {
      return Map.of();
    }
    List<PlannedMount> mounts =
        withOriginRates(planned, found).stream().map(NodeAllocation::withoutFloor).toList();
    long[] sizes =
        mounts.stream()
            .mapToLong(each -> capacities.getOrDefault(each.name(), each.capacity().now()))
            .toArray();
    Split split = new SharedOrigins(new Plan(Long.MAX_VALUE, mounts)).of(sizes);
    Map<String, Double> speeds = new HashMap<>();
    for (int i = 0; i < sizes.length; i++) {
      speeds.put(mounts.get(i).name(), split.speed(i));
    }
    return speeds;
  }

  private static PlannedMount withoutFloor(PlannedMount mount) {
    Capacity is = mount.capacity();
    return new PlannedMount(
        mount.name(), mount.dataset(), mount.rates(), new Capacity(is.now(), 0, is.most(), 1));
  }

  /** Returns the mounts that nobody can judge. */
  public List<FoundMount> left() {
    return found.stream().filter(mount -> mount.is(FoundMount.State.LEFT)).toList();
  }

  /** Returns what all mounts have together now. */
  public long total() {
    return total(found);
  }

  /** Returns what mounts have together. */
  public static long total(List<FoundMount> found) {
    return bounded(
        found.stream()
            .map(mount -> BigInteger.valueOf(mount.capacity()))
            .reduce(BigInteger.ZERO, BigInteger::add));
  }

  /**
   * Returns the capacities that are to change: first those that shrink, then those that grow. Small
   * changes are left out, unless others need the memory.
   */
  public List<Change> changes() {
    long smallest = total() > budget ? PAGE : Math.max(PAGE, budget / SMALLEST_PART);
    List<Change> changes = changes(smallest);
    long after = Math.addExact(total(), changes.stream().mapToLong(Change::more).sum());
    return after > budget ? changes(PAGE) : changes;
  }

  private List<Change> changes(long smallest) {
    List<Change> shrink = new ArrayList<>();
    List<Change> grow = new ArrayList<>();
    for (Proposal proposal : proposals) {
      FoundMount mount = proposal.mount();
      Change change = new Change(mount.name(), mount.capacity(), proposal.bytes());
      if (Math.abs(change.more()) >= smallest) {
        (change.more() < 0 ? shrink : grow).add(change);
      }
    }
    shrink.addAll(grow);
    return shrink;
  }
}
