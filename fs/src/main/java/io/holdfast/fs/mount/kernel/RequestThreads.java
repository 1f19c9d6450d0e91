package io.holdfast.fs.mount.kernel;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Opcode;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads that receive requests. There is always one that is idle, so that a lookup which takes
 * its time keeps nobody waiting; READs that wait keep no thread. Thread-safe.
 */
final class RequestThreads {
  /** The longest answer but for those of READ and READDIR: an extended attribute. */
  static final int REPLY = 64 << 10;

  private static final Logger log = LoggerFactory.getLogger(RequestThreads.class);

  private static final long RETRY_NANOS = Duration.ofMillis(10).toNanos();
  private static final int MOST_IDLE = 4;

  /**
   * So many may wait at once for names of an origin that hangs, until it is known to; what needs no
   * answer of it, control files before all, finds a thread nevertheless.
   */
  private static final int MOST = 512;

  /**
   * A thread ends only when none was needed for so long: starting one costs more than keeping it.
   */
  private static final long CALM_NANOS = Duration.ofSeconds(1).toNanos();

  private static final int OPCODES = 64;

  private final Channel channel;
  private final Requests requests;
  private final InFlight inFlight;
  private final AtomicLongArray counts = new AtomicLongArray(OPCODES);
  private final AtomicInteger idle = new AtomicInteger();
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicInteger started = new AtomicInteger();
  private volatile boolean ended;
  private volatile long lastStart;

  RequestThreads(Channel channel, InFlight inFlight, Requests requests) {
    this.channel = channel;
    this.inFlight = inFlight;
    this.requests = requests;
  }

  void start() {
    lastStart = System.nanoTime();
    running.incrementAndGet();
    idle.incrementAndGet();
    Thread thread = new Thread(this::receive, "fuse-" + started.incrementAndGet());
    thread.setDaemon(true);
    thread.start();
  }

  /** Where no thread can be had, the next request waits until this one has been answered. */
  private void startAnother() {
    try {
      start();
    } catch (OutOfMemoryError e) {
      log.debug("no thread", e);
      running.decrementAndGet();
      idle.decrementAndGet();
    }
  }

  private void receive() {
    long reply = LIBC.malloc(REPLY);
    try {
      boolean goOn = true;
      while (goOn && !ended) {
        long request = take();
        int length = channel.receive(request, InFlight.CAPACITY);
        if (length > 0) {
          goOn = answer(request, reply);
        } else {
          inFlight.give(request);
          ended |= length < 0;
        }
      }
    } finally {
      LIBC.free(reply);
      running.decrementAndGet();
    }
    if (ended) {
      requests.close();
    }
  }

  /** Waits for memory where there is none: nobody else could answer instead. */
  private long take() {
    while (true) {
      try {
        return inFlight.take();
      } catch (FsException e) {
        log.debug("no request can be received: {}", e.getMessage()); // the memory has warned
        LockSupport.parkNanos(RETRY_NANOS);
      }
    }
  }

  /** Answers what a daemon before this one has received. */
  void answerLeft() {
    long reply = LIBC.malloc(REPLY);
    try {
      inFlight.left().forEach(request -> requests.answer(request, reply));
    } finally {
      LIBC.free(reply);
    }
  }

  /** Returns whether the thread goes on. */
  private boolean answer(long request, long reply) {
    int opcode = Memory.getInt(request + Wire.OPCODE);
    counts.incrementAndGet(Math.min(Math.max(opcode, 0), OPCODES - 1));
    if (idle.decrementAndGet() == 0 && running.get() < MOST) {
      startAnother();
    }
    requests.answer(request, reply);
    if (idle.incrementAndGet() > MOST_IDLE && System.nanoTime() - lastStart > CALM_NANOS) {
      idle.decrementAndGet();
      return false;
    }
    return true;
  }

  /** Returns how often each operation was asked for, by its name. */
  Map<String, Long> counts() {
    Map<String, Long> byName = new TreeMap<>();
    for (int opcode = 0; opcode < OPCODES; opcode++) {
      if (counts.get(opcode) > 0) {
        byName.merge(Opcode.nameOf(opcode), counts.get(opcode), Long::sum);
      }
    }
    return byName;
  }

  /** Returns how many threads there are now. */
  int running() {
    return running.get();
  }

  boolean isEnded() {
    return ended;
  }
}
