package io.holdfast.fs.memory;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Decides what residents may take now, from the last decision and the figures of now. A pure
 * function, with no clock of its own. Immutable.
 *
 * <p>The rules, in this order; R is a room's {@linkplain Room#reserve() reserve}:
 *
 * <ol>
 *   <li><b>The ceiling.</b> Residents may take {@code --memory} less what everything else takes.
 *       Residents that do not fit are evicted, also below {@code --memory-min}. So metadata grow at
 *       the cost of residents.
 *   <li><b>Giving up.</b> If less than R is left, residents are evicted until 5/4 R are left, never
 *       below {@code --memory-min}; at once no more than 256 MiB, or 1/64 of them.
 *   <li><b>Limited.</b> If less than 2 R is left, nothing more is admitted: reads stream.
 *   <li><b>Growing.</b> If more than 3 R has been left for the calm time, residents may grow again
 *       into half of the rest, every 10 s, by no more than 1/16 of the capacity or 64 MiB. The calm
 *       time is a minute. It doubles, up to 16 minutes, each time that growing ended in giving up;
 *       it is a minute again when all has been well for 16.
 * </ol>
 *
 * <p>Stalls double the reserve, but evict nothing by themselves: a job that thrashes within its own
 * limit would empty the cache for nothing.
 */
public final class CapacityRules {
  private static final long STEP = 256L << 20;
  private static final int STEP_SHARE = 64;
  private static final long GROWTH = 64L << 20;
  private static final int GROWTH_SHARE = 16;
  private static final Duration GROWTH_EVERY = Duration.ofSeconds(10);
  private static final int MOST_DOUBLINGS = 4;

  /** The unit of capacities that the ceiling sets, so that they do not change all day. */
  private static final long QUANTUM = 4L << 20;

  private static final int QUANTUM_SHARE = 128;

  /** The cause if the ceiling limits the residents, and no other program does. */
  static final String CEILING = "--memory";

  private final Duration calm;

  /**
   * Creates the rules.
   *
   * @param calm how long there must be enough memory before residents grow again
   */
  public CapacityRules(Duration calm) {
    this.calm = calm;
  }

  /** The phase that residents are in. */
  public enum Phase {
    /** The whole capacity may be used. */
    OK,
    /** Residents may take less than the capacity; nothing is admitted beyond that. */
    LIMITED,
    /** Residents are being evicted. */
    SHRINKING,
    /** Residents may take more again, step by step. */
    GROWING;

    /** Returns its name in figures. */
    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * A decision.
   *
   * @param capacity the most that residents may take, in bytes
   * @param cause the reason, for people; empty if the whole capacity may be used
   * @param since when the calm time began, in nanoseconds of the caller's clock
   * @param relapses the number of times that growing ended in giving up
   * @param grown whether residents have grown since they were given up
   */
  public record State(
      Phase phase, long capacity, String cause, long since, int relapses, boolean grown) {
    /** Returns the decision that holds before the first figures. */
    public static State first(long capacity, long now) {
      return new State(Phase.OK, capacity, "", now, 0, false);
    }
  }

  /**
   * The figures of one moment.
   *
   * @param residents the bytes that they take
   * @param besides the bytes that everything else of this process takes
   */
  public record Sight(long residents, long besides, List<Room> rooms) {
    /** Copies the rooms. */
    public Sight {
      rooms = List.copyOf(rooms);
    }
  }

  /**
   * Returns the next decision.
   *
   * @param now nanoseconds of a clock that only goes forward
   */
  public State next(State before, Bounds bounds, Sight sight, long now) {
    long had =
        before.phase == Phase.OK ? bounds.capacity() : Math.min(before.capacity, bounds.capacity());
    long bound = ceiling(bounds, sight);
    long held = Math.min(had, bound);
    long least = Math.min(bounds.floor(), held);
    Room tightest = tightest(sight, 1);
    if (tightest != null) {
      long wanted = sight.residents - tightest.missing(1) - tightest.reserve() / 4;
      long most = Math.min(held, Math.max(least, wanted));
      return limited(before, sight, new Limit(had, most, tightest.place()), now);
    }
    tightest = tightest(sight, 2);
    if (tightest != null) {
      long most = Math.min(held, Math.max(least, sight.residents));
      return limited(before, sight, new Limit(had, most, tightest.place()), now);
    }
    if (sight.residents > held) {
      return limited(before, sight, new Limit(had, held, CEILING), now);
    }
    return held == bounds.capacity()
        ? whole(before, held, now)
        : calm(before, bounds, sight, new Limit(bound, held, cause(before, bound, held)), now);
  }

  private static String cause(State before, long bound, long held) {
    return bound == held || before.cause.isEmpty() ? CEILING : before.cause;
  }

  /** Returns what the ceiling leaves for residents, at most the capacity. */
  private static long ceiling(Bounds bounds, Sight sight) {
    long left = Math.max(0, bounds.memory() - sight.besides);
    long quantum = quantum(bounds);
    return left >= bounds.capacity() ? bounds.capacity() : left / quantum * quantum;
  }

  private static long quantum(Bounds bounds) {
    return Math.max(QUANTUM, bounds.capacity() / QUANTUM_SHARE);
  }

  /** Returns the room where most is missing of so many reserves, or null if nothing is missing. */
  private static @Nullable Room tightest(Sight sight, int times) {
    return sight.rooms.stream()
        .filter(room -> room.missing(times) > 0)
        .max(Comparator.comparingLong(room -> room.missing(times)))
        .orElse(null);
  }

  /**
   * The limits of residents.
   *
   * @param upper the most that they may take in the end, or could until now
   * @param most the most that they may take now
   * @param cause why it is not the whole capacity
   */
  private record Limit(long upper, long most, String cause) {}

  private static State limited(State before, Sight sight, Limit limit, long now) {
    boolean gives = sight.residents > limit.most;
    // no more at once than can be dropped in time
    long step = Math.max(STEP, sight.residents / STEP_SHARE);
    long most = Math.min(limit.upper, Math.max(limit.most, sight.residents - step));
    return new State(
        gives ? Phase.SHRINKING : Phase.LIMITED,
        most,
        limit.cause,
        now,
        before.relapses + (gives && before.grown ? 1 : 0),
        before.grown && !gives);
  }

  private State whole(State before, long capacity, long now) {
    if (before.phase != Phase.OK) {
      return new State(Phase.OK, capacity, "", now, before.relapses, before.grown);
    }
    boolean forLong = now - before.since >= calm.toNanos() << MOST_DOUBLINGS;
    return forLong
        ? State.first(capacity, now)
        : new State(Phase.OK, capacity, "", before.since, before.relapses, before.grown);
  }

  /** Decides when nobody needs the residents' memory: they may grow after the calm time. */
  private State calm(State before, Bounds bounds, Sight sight, Limit limit, long now) {
    // the rest below the ceiling changes a little all the time
    boolean all = limit.upper == bounds.capacity();
    long target = all ? limit.upper : limit.upper - quantum(bounds);
    long spare = spare(sight);
    if (spare <= 0 || limit.most >= target) {
      return waiting(before, limit, now);
    }
    long wait = calm.toNanos() << Math.min(before.relapses, MOST_DOUBLINGS);
    if (now - before.since < wait) {
      return waiting(before, limit, before.since);
    }
    long growth = Math.max(GROWTH, bounds.capacity() / GROWTH_SHARE);
    long grown = Math.min(target, sight.residents + Math.min(growth, spare / 2));
    if (grown == bounds.capacity()) {
      return new State(Phase.OK, grown, "", now, before.relapses, true);
    }
    long since = now - wait + Math.min(wait, GROWTH_EVERY.toNanos());
    return new State(
        Phase.GROWING, Math.max(grown, limit.most), limit.cause, since, before.relapses, true);
  }

  private static State waiting(State before, Limit limit, long since) {
    Phase phase = before.phase == Phase.GROWING ? Phase.GROWING : Phase.LIMITED;
    return new State(phase, limit.most, limit.cause, since, before.relapses, before.grown);
  }

  /** Returns what every room has above three reserves. */
  private static long spare(Sight sight) {
    return sight.rooms.stream().mapToLong(room -> -room.missing(3)).min().orElse(Long.MAX_VALUE);
  }
}
