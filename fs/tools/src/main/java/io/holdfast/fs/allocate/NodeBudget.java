package io.holdfast.fs.allocate;

import io.holdfast.fs.allocate.NodeAllocation.Change;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The memory that a node has for all its mounts, and how a new mount gets its part of it. A mount
 * joins the budget when it has no capacity of its own. Its fair share is a part by weights of what
 * the other mounts leave; what a mount does not need because of its ceiling goes to the others. The
 * new mount first takes memory that no mount has. If that is less than its fair share, joined
 * mounts give up the rest, each in proportion to what it has beyond its own fair share. No mount
 * falls below its floor, and a mount that has not joined never changes. Immutable.
 *
 * @param bytes memory for all mounts together
 * @param members the mounts that the node has
 */
public record NodeBudget(long bytes, List<Member> members) {
  /** The least capacity that a mount joins with, or is left with. */
  public static final long LEAST = 64L << 20;

  /** A new mount does without a smaller part of the budget, so that nobody evicts for it. */
  private static final long SMALLEST_PART = 1024;

  /**
   * A mount that the node has.
   *
   * @param bytes its capacity
   * @param joined whether the capacity is its part of the budget, and may change
   * @param bounds of its capacity
   */
  public record Member(String name, long bytes, boolean joined, Bounds bounds) {}

  /**
   * The part of a new mount.
   *
   * @param bytes its capacity
   * @param changes the capacities that must be smaller before the mount begins
   */
  public record Part(long bytes, List<Change> changes) {}

  /** Takes over the mounts. */
  public NodeBudget {
    members = List.copyOf(members);
  }

  /** Returns the bytes that no mount has; negative where mounts have more than the budget. */
  public long left() {
    return bytes - total(members);
  }

  private static long total(List<Member> members) {
    return members.stream().mapToLong(Member::bytes).reduce(0L, Math::addExact);
  }

  /**
   * Returns the part of a new mount without a capacity of its own; empty where its floor is not
   * left.
   *
   * @param bounds the floor, ceiling and weight of the new mount
   */
  public Optional<Part> join(Bounds bounds) {
    long most = whole(bounds.most());
    long least = Math.min(floor(bounds), most);
    Part part = divide(new Capacity(0, least, most, bounds.weight()), bytes / SMALLEST_PART);
    long got = whole(part.bytes());
    return got > 0 && got >= least ? Optional.of(new Part(got, part.changes())) : Optional.empty();
  }

  /**
   * Returns the capacities that must be smaller before a new mount begins that has a capacity of
   * its own; none where that would still not be enough.
   */
  public List<Change> makeRoom(long capacity) {
    Part part = divide(new Capacity(0, capacity, capacity, 1), 0);
    return part.bytes() < capacity ? List.of() : part.changes();
  }

  /**
   * Returns the part of a new mount, which may be less than its floor.
   *
   * @param negligible bytes that the new mount can do without
   */
  private Part divide(Capacity newcomer, long negligible) {
    List<Member> joined = members.stream().filter(Member::joined).toList();
    List<Capacity> all = new ArrayList<>();
    joined.forEach(member -> all.add(capacity(member)));
    all.add(newcomer);
    long left = left();
    long[] fair = FairShare.of(left + total(joined), all);
    long wanted = fair[joined.size()];
    if (left >= newcomer.least() && left >= wanted - negligible) {
      return new Part(Math.min(wanted, left), List.of());
    }
    long beyond = 0;
    for (int i = 0; i < joined.size(); i++) {
      beyond += Math.max(0, joined.get(i).bytes() - fair[i]);
    }
    long missing = Math.min(wanted - left, beyond);
    List<Change> changes = new ArrayList<>();
    for (int i = 0; i < joined.size(); i++) {
      Member member = joined.get(i);
      long gives = part(missing, Math.max(0, member.bytes() - fair[i]), beyond);
      if (gives > 0) {
        Change change = new Change(member.name(), member.bytes(), whole(member.bytes() - gives));
        changes.add(change);
        left -= change.more();
      }
    }
    return new Part(Math.min(wanted, left), List.copyOf(changes));
  }

  /** A floor is in whole pages, so that rounding never leads below it. */
  private static Capacity capacity(Member member) {
    Bounds bounds = member.bounds();
    long least = Math.min(floor(bounds), member.bytes());
    return new Capacity(member.bytes(), least, bounds.most(), bounds.weight());
  }

  /**
   * Returns the least capacity that a mount with such bounds joins with, unless its ceiling is
   * below.
   */
  public static long floor(Bounds bounds) {
    long least = Math.min(Math.max(LEAST, bounds.least()), Long.MAX_VALUE - NodeAllocation.PAGE);
    return whole(least + NodeAllocation.PAGE - 1);
  }

  /** Returns a part of a whole, rounded up. */
  private static long part(long whole, long of, long all) {
    if (whole == 0 || of == 0) {
      return 0;
    }
    BigInteger divisor = BigInteger.valueOf(all);
    return BigInteger.valueOf(whole)
        .multiply(BigInteger.valueOf(of))
        .add(divisor.subtract(BigInteger.ONE))
        .divide(divisor)
        .longValueExact();
  }

  private static long whole(long bytes) {
    return bytes / NodeAllocation.PAGE * NodeAllocation.PAGE;
  }
}
