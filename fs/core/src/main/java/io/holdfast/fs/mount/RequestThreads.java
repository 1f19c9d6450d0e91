package io.holdfast.fs.mount;

import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.linux.NamedThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The threads that receive the requests of a mount and answer them. A few are there at all times.
 * Others are started by a thread of its own, one at a time, as long as requests are found waiting,
 * so that a request that takes long keeps no other waiting for more than some milliseconds. There
 * are never more threads than the binding allows; the next request then waits for one of them.
 * Counts the requests. Thread-safe.
 *
 * <p>There are few because the kernel gives each request to the thread that has waited longest. The
 * fewer wait, the more often a thread that has just finished finds the next request without being
 * woken, and the more often it runs where the reader runs.
 */
public final class RequestThreads {
  /** Returned by {@link Receiver#receive} if there was no request after all. */
  public static final int NONE = -1;

  /** Returned by {@link Receiver#receive} when the connection has ended. */
  public static final int ENDED = -2;

  /** The time between two looks whether a request waits. A look costs some microseconds. */
  private static final long LOOK_NANOS = Duration.ofMillis(4).toNanos();

  /** The same after a look that found one. */
  private static final long NEXT_LOOK_NANOS = Duration.ofMillis(1).toNanos();

  /**
   * A thread is started after so many looks in a row that found a request waiting. Where processors
   * are busy and threads are not blocked, more of them would answer no sooner.
   */
  private static final int WAITING_LOOKS = 30;

  /** The same if all threads were busy with the same requests, so that none can receive it. */
  private static final int STUCK_LOOKS = 4;

  /**
   * If they were for so many looks, a thread is started for the next request. After so many looks
   * that found none waiting, there are no more of them until all threads are busy.
   */
  private static final int QUIET_LOOKS = 25;

  /**
   * How long no thread must have been needed before idle threads end: starting a thread costs more
   * than keeping it.
   */
  private static final long CALM_NANOS = Duration.ofSeconds(10).toNanos();

  private static final int OPCODES = 64;

  /** Of threads that are busy: how many are told, and of each how many calls. */
  private static final int MOST_TOLD = 8;

  private static final int MOST_FRAMES = 12;

  private final Supplier<Receiver> receivers;
  private final BooleanSupplier requestWaits;
  private final int few;
  private final int most;
  private final Runnable whenEnded;
  private final LongSupplier nanoTime;
  private final NamedThreads threads = new NamedThreads("fuse");
  private final AtomicLongArray counts = new AtomicLongArray(OPCODES);

  /** Threads that wait for a request, or are about to; none that ends. */
  private final AtomicInteger idle = new AtomicInteger();

  private final AtomicInteger running = new AtomicInteger();
  private final Thread starter = NamedThreads.named("fuse-starter", this::startWhileRequestsWait);
  private volatile boolean starterRests;
  private volatile long lastStart;
  private volatile boolean ended;

  /** Receives requests and answers them, for one thread. */
  public interface Receiver extends AutoCloseable {
    /**
     * Waits for a request.
     *
     * @return its opcode, {@link #NONE} or {@link #ENDED}
     */
    int receive();

    /** Answers the request. */
    void answer();

    /** Releases the memory of the thread. */
    @Override
    void close();
  }

  /**
   * Creates the threads; none runs before {@link #start}.
   *
   * @param receivers makes a receiver for each thread, on that thread; throws OutOfMemoryError if
   *     the thread could not answer requests
   * @param requestWaits tells whether a request waits that no thread has received
   * @param few how many threads there are at all times
   * @param most how many threads there may be
   * @param whenEnded runs on each thread that ends because the connection has ended
   */
  public RequestThreads(
      Supplier<Receiver> receivers,
      BooleanSupplier requestWaits,
      int few,
      int most,
      Runnable whenEnded,
      LongSupplier nanoTime) {
    this.receivers = receivers;
    this.requestWaits = requestWaits;
    this.few = few;
    this.most = most;
    this.whenEnded = whenEnded;
    this.nanoTime = nanoTime;
  }

  /** Begins to receive requests. */
  public void start() {
    startOne();
    starter.start();
  }

  private void startOne() {
    lastStart = nanoTime.getAsLong();
    running.incrementAndGet();
    idle.incrementAndGet();
    threads.newThread(this::run).start();
  }

  /** Starts another thread. If none can be had, the next request waits until one has answered. */
  private void startAnother() {
    try {
      startOne();
    } catch (OutOfMemoryError e) {
      OutOfMemory.tell(e);
      running.decrementAndGet();
      idle.decrementAndGet();
    }
  }

  private void startWhileRequestsWait() {
    Looks looks = new Looks();
    while (!ended) {
      try {
        LockSupport.parkNanos(looks.waiting > 0 ? NEXT_LOOK_NANOS : LOOK_NANOS);
        looks.look();
        if (looks.wantThread() && running.get() < most) {
          startAnother();
        }
        if (looks.quiet >= QUIET_LOOKS) {
          looks.quiet = 0;
          restUntilAllAreBusy();
        }
      } catch (OutOfMemoryError e) {
        OutOfMemory.tell(e);
      }
    }
  }

  /** How many looks in a row have found the same, up to the last one. */
  private final class Looks {
    int quiet;
    int waiting;
    private int stuck;
    private long received;

    void look() {
      long before = received;
      received = received();
      int idleNow = idle.get();
      // an idle thread is about to receive it, unless it has no memory for that
      boolean waits = idleNow < few && requestWaits.getAsBoolean();
      quiet = waits ? 0 : quiet + 1;
      waiting = waits ? waiting + 1 : 0;
      stuck = idleNow == 0 && received == before ? stuck + 1 : 0;
    }

    boolean wantThread() {
      return waiting >= WAITING_LOOKS || stuck >= (waiting > 0 ? STUCK_LOOKS : QUIET_LOOKS);
    }
  }

  private long received() {
    long sum = 0;
    for (int opcode = 0; opcode < OPCODES; opcode++) {
      sum += counts.get(opcode);
    }
    return sum;
  }

  private void restUntilAllAreBusy() {
    starterRests = true;
    while (starterRests && !ended && (idle.get() > 0 || running.get() >= most)) {
      LockSupport.park(this);
    }
    starterRests = false;
  }

  private void wakeStarter() {
    if (starterRests) {
      starterRests = false;
      LockSupport.unpark(starter);
    }
  }

  private void run() {
    boolean waits = true;
    try (Receiver receiver = receivers.get()) {
      while (waits && !ended) {
        int opcode = receiver.receive();
        if (opcode == ENDED) {
          ended = true;
          wakeStarter();
        } else if (opcode != NONE) {
          waits = false;
          answer(receiver, opcode);
          waits = becomesIdle();
        }
      }
      if (ended) {
        whenEnded.run();
      }
    } catch (OutOfMemoryError e) {
      OutOfMemory.tell(e);
    } finally {
      running.decrementAndGet();
      if (waits && idle.decrementAndGet() == 0) {
        wakeStarter();
      }
    }
  }

  private void answer(Receiver receiver, int opcode) {
    counts.incrementAndGet(Math.min(opcode, OPCODES - 1));
    // also for a FORGET: in libfuse it waits for the requests that came by the same directory
    if (idle.decrementAndGet() == 0) {
      if (running.get() < few) {
        startAnother();
      } else {
        wakeStarter();
      }
    }
    try {
      receiver.answer();
    } catch (OutOfMemoryError e) {
      OutOfMemory.tell(e); // perhaps nobody else is there for the next request
    }
  }

  /**
   * Counts the calling thread as idle, unless enough others are: then it is to end. A thread that
   * ends must not count meanwhile. If it did, others that become idle would find one too many, and
   * all could end.
   */
  private boolean becomesIdle() {
    boolean calm = nanoTime.getAsLong() - lastStart > CALM_NANOS;
    int enough = calm ? few : Integer.MAX_VALUE;
    return idle.getAndAccumulate(enough, (others, most) -> others < most ? others + 1 : others)
        < enough;
  }

  /** Returns the number of requests of each operation, by its name. */
  public Map<String, Long> counts() {
    Map<String, Long> byName = new TreeMap<>();
    for (int opcode = 0; opcode < OPCODES; opcode++) {
      if (counts.get(opcode) > 0) {
        byName.merge(Opcode.nameOf(opcode), counts.get(opcode), Long::sum);
      }
    }
    return byName;
  }

  /**
   * Tells what each thread is doing that is answering a request now, for a log: its name, and where
   * it is, the innermost call first. Looks at all threads of the process, which is not cheap.
   */
  public static String busy() {
    List<String> busy = new ArrayList<>();
    Thread.getAllStackTraces()
        .forEach(
            (thread, stack) -> {
              if (Arrays.stream(stack).anyMatch(RequestThreads::isAnswer)) {
                busy.add(thread.getName() + ": " + innermost(stack));
              }
            });
    return busy.isEmpty()
        ? "no thread is answering a request"
        : busy.size() + " threads are answering requests: " + String.join("; ", some(busy));
  }

  private static boolean isAnswer(StackTraceElement frame) {
    return frame.getClassName().equals(RequestThreads.class.getName())
        && frame.getMethodName().equals("answer");
  }

  private static String innermost(StackTraceElement[] stack) {
    return Arrays.stream(stack)
        .limit(MOST_FRAMES)
        .map(frame -> frame.getFileName() + ":" + frame.getLineNumber())
        .collect(Collectors.joining(" < "));
  }

  private static List<String> some(List<String> busy) {
    return busy.subList(0, Math.min(MOST_TOLD, busy.size()));
  }

  /** Returns the number of threads now. */
  public int running() {
    return running.get();
  }

  /** Tells whether the connection to the kernel has ended. */
  public boolean isEnded() {
    return ended;
  }
}
