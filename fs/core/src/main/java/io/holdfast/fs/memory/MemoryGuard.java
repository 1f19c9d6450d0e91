package io.holdfast.fs.memory;

import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.figures.MemoryFigures;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the memory of this process below its ceiling, and evicts residents when others need the
 * memory. Looks four times a second, and sets the capacity that {@link CapacityRules} decide.
 *
 * <p>One thread looks, and waits while residents are evicted. Any thread may ask for the figures.
 */
public final class MemoryGuard implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(MemoryGuard.class);

  private static final Duration PERIOD = Duration.ofMillis(250);

  private final CapacityRules rules;
  private final Sources sources;
  private final ScheduledExecutorService thread;
  private @Nullable Future<?> looking;
  private final AtomicLong peak = new AtomicLong();
  private final AtomicLong givenUpBytes = new AtomicLong();
  private final AtomicLong givenUpItems = new AtomicLong();
  private final AtomicLong episodes = new AtomicLong();
  private final GuardWords words = new GuardWords();
  private volatile CapacityRules.State state;

  /** The holder of the residents. */
  public interface Residents {
    /** Returns the most that they may take, in bytes. */
    long capacity();

    /**
     * Sets the most that they may take, and evicts those that do not fit. May wait for that, for a
     * bounded time.
     *
     * @return the number of evicted residents
     */
    long resize(long capacity);

    /**
     * Learns how much memory is left where least is left, on the machine or in a cgroup of this
     * process.
     */
    void available(long bytes);
  }

  /**
   * The sources of the figures.
   *
   * @param bounds the bounds that users have set, as of now
   * @param use the memory that this process has
   * @param rooms the memory that is left on the machine and in cgroups
   * @param nanoTime a clock that only goes forward
   */
  public record Sources(
      Supplier<Bounds> bounds,
      Supplier<OwnUse> use,
      Supplier<List<Room>> rooms,
      Residents residents,
      LongSupplier nanoTime) {}

  /**
   * Figures of one moment.
   *
   * @param peak the most that this process had when it was looked at, in bytes
   * @param episodes the number of times that residents had to make way
   */
  public record Figures(
      CapacityRules.State state,
      Bounds bounds,
      OwnUse use,
      List<Room> rooms,
      long peak,
      long givenUpBytes,
      long givenUpItems,
      long episodes) {
    /** Copies the rooms. */
    public Figures {
      rooms = List.copyOf(rooms);
    }

    /** Returns the figures as {@code stats.json} shows them. */
    public MemoryFigures told() {
      boolean limited = state.phase() != CapacityRules.Phase.OK;
      return new MemoryFigures(
          bounds.memory(),
          use.total(),
          peak,
          use.residents(),
          use.window(),
          use.transit(),
          use.metadata(),
          use.heap(),
          use.virtualMachine(),
          use.kernel(),
          use.other(),
          state.phase().text(),
          state.cause(),
          bounds.capacity(),
          bounds.least(),
          limited ? state.capacity() : bounds.capacity(),
          givenUpBytes,
          givenUpItems,
          episodes,
          rooms.stream().map(Room::figures).toList());
    }
  }

  /**
   * Creates a guard that has not started.
   *
   * @param thread runs the looks; stays with the caller
   */
  public MemoryGuard(CapacityRules rules, Sources sources, ScheduledExecutorService thread) {
    this.rules = rules;
    this.sources = sources;
    this.thread = thread;
    this.state =
        CapacityRules.State.first(
            sources.bounds().get().capacity(), sources.nanoTime().getAsLong());
  }

  /** Starts to look four times a second. */
  public synchronized void start() {
    looking =
        thread.scheduleWithFixedDelay(
            this::lookAndLog, 0, PERIOD.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void lookAndLog() {
    try {
      look();
    } catch (Throwable e) { // one that leaves here would end the looks
      OutOfMemory.tell(log, "the memory could not be looked at", e);
    }
  }

  /** Looks once, and sets the capacity. One thread at a time may call it. */
  void look() {
    Bounds bounds = sources.bounds().get();
    OwnUse use = sources.use().get();
    List<Room> rooms = sources.rooms().get();
    peak.accumulateAndGet(use.total(), Math::max);
    sources.residents().available(rooms.stream().mapToLong(Room::available).min().orElse(0));
    CapacityRules.State was = state;
    CapacityRules.State is =
        rules.next(
            was,
            bounds,
            new CapacityRules.Sight(use.residents(), use.besides(), rooms),
            sources.nanoTime().getAsLong());
    // logged first, so that a user who sees the state finds the line about it
    words.say(was, is, new GuardWords.Seen(bounds, use, rooms));
    state = is;
    if (is.phase() == CapacityRules.Phase.SHRINKING && was.phase() != is.phase()) {
      episodes.incrementAndGet();
    }
    // a user may have lowered the capacity since this look began
    long capacity = Math.min(is.capacity(), sources.bounds().get().capacity());
    if (sources.residents().capacity() != capacity) {
      resize(capacity, use.residents());
    }
  }

  private void resize(long capacity, long before) {
    long items = sources.residents().resize(capacity);
    if (items > 0) {
      givenUpItems.addAndGet(items);
      givenUpBytes.addAndGet(Math.max(0, before - sources.use().get().residents()));
    }
  }

  /** Returns the bytes that residents may take now of a capacity that a user sets. */
  public long allowed(long capacity) {
    CapacityRules.State last = state;
    return last.phase() == CapacityRules.Phase.OK ? capacity : Math.min(capacity, last.capacity());
  }

  /** Returns the figures of this moment. */
  public Figures figures() {
    OwnUse use = sources.use().get();
    return new Figures(
        state,
        sources.bounds().get(),
        use,
        sources.rooms().get(),
        peak.accumulateAndGet(use.total(), Math::max),
        givenUpBytes.get(),
        givenUpItems.get(),
        episodes.get());
  }

  @Override
  public synchronized void close() {
    if (looking != null) {
      looking.cancel(true);
    }
  }
}
