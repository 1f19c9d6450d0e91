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
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The threads that receive the requests of a mount and answer them. A thread that takes a request
 * while no other thread is idle starts another one first, so that a request that takes long keeps
 * no other request waiting. There are never more threads than the binding allows; the next request
 * then waits for one of them. Counts the requests. Thread-safe.
 */
public final class RequestThreads {
  /** Returned by {@link Receiver#receive} if there was no request after all. */
  public static final int NONE = -1;

  /** Returned by {@link Receiver#receive} when the connection has ended. */
  public static final int ENDED = -2;

  /** The most idle threads that stay once no thread was needed for a while. */
  private static final int MOST_IDLE = 3;

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
  private final int most;
  private final Runnable whenEnded;
  private final LongSupplier nanoTime;
  private final NamedThreads threads = new NamedThreads("fuse");
  private final AtomicLongArray counts = new AtomicLongArray(OPCODES);

  /** Threads that wait for a request, or are about to; none that ends. */
  private final AtomicInteger idle = new AtomicInteger();

  private final AtomicInteger running = new AtomicInteger();
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
   * @param most how many threads there may be
   * @param whenEnded runs on each thread that ends because the connection has ended
   */
  public RequestThreads(
      Supplier<Receiver> receivers, int most, Runnable whenEnded, LongSupplier nanoTime) {
    this.receivers = receivers;
    this.most = most;
    this.whenEnded = whenEnded;
    this.nanoTime = nanoTime;
  }

  /** Begins to receive requests. */
  public void start() {
    lastStart = nanoTime.getAsLong();
    running.incrementAndGet();
    idle.incrementAndGet();
    threads.newThread(this::run).start();
  }

  /**
   * Starts another thread. If none can be had, the next request waits until this thread has
   * answered.
   */
  private void startAnother() {
    try {
      start();
    } catch (OutOfMemoryError e) {
      OutOfMemory.tell(e);
      running.decrementAndGet();
      idle.decrementAndGet();
    }
  }

  private void run() {
    boolean waits = true;
    try (Receiver receiver = receivers.get()) {
      while (waits && !ended) {
        int opcode = receiver.receive();
        if (opcode == ENDED) {
          ended = true;
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
      if (waits) {
        idle.decrementAndGet();
      }
      running.decrementAndGet();
    }
  }

  private void answer(Receiver receiver, int opcode) {
    counts.incrementAndGet(Math.min(opcode, OPCODES - 1));
    // also for a FORGET: in libfuse it waits for the requests that came by the same directory
    if (idle.decrementAndGet() == 0 && running.get() < most) {
      startAnother();
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
    int enough = calm ? MOST_IDLE : Integer.MAX_VALUE;
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
