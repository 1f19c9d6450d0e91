package io.holdfast.fs.mount.jnr;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Exposures;
import io.holdfast.fs.mount.Opcode;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongConsumer;
import jnr.constants.platform.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads that receive requests and let libfuse answer them. A thread that takes a request
 * while no other is idle starts another one first, so that blocked readers never keep the next
 * request waiting; a thread that would be one too many ends. libfuse's own loop does the same with
 * threads that the virtual machine does not know, which costs an attach for most upcalls.
 */
final class RequestLoop {
  private static final Logger log = LoggerFactory.getLogger(RequestLoop.class);

  private static final int OPCODES = 64;

  /** What libfuse 2.9 receives into: a request of 128 KiB and its header. */
  private static final int BUFFER = 0x21000;

  /** More of them end at once. */
  private static final int MOST_IDLE = 24;

  /** More of them end once no other has been needed for a while. */
  private static final int FEW_IDLE = 4;

  private static final long CALM_NANOS = Duration.ofSeconds(10).toNanos();

  private final LibFuse2 libfuse;
  private final long session;
  private final long channel;
  private final ThreadLocal<Request> current;
  private final Hooks hooks;
  private final AtomicLongArray counts = new AtomicLongArray(OPCODES);
  private final AtomicInteger idle = new AtomicInteger();
  private final AtomicInteger started = new AtomicInteger();
  private volatile long lastStart;
  private volatile boolean ended;

  /**
   * What is called beside libfuse.
   *
   * @param exposures learn of lookups, and of the node that a lookup's reply has shown
   * @param interrupted with an INTERRUPT request
   * @param directories those that libfuse is to keep
   */
  record Hooks(Exposures exposures, LongConsumer interrupted, KeptDirectories directories) {}

  /**
   * Creates the loop.
   *
   * @param current where callbacks find the request of their thread
   */
  RequestLoop(
      LibFuse2 libfuse, long session, long channel, ThreadLocal<Request> current, Hooks hooks) {
    this.libfuse = libfuse;
    this.session = session;
    this.channel = channel;
    this.current = current;
    this.hooks = hooks;
  }

  void start() {
    lastStart = System.nanoTime();
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
      idle.decrementAndGet();
    }
  }

  private void receive() {
    long memory = LIBC.malloc(BUFFER + Long.BYTES);
    long channelAddress = memory + BUFFER;
    Memory.putLong(channelAddress, channel);
    Request request = current.get();
    try {
      while (!ended) {
        int length = libfuse.fuse_chan_recv(channelAddress, memory, BUFFER);
        if (length == -Errno.EINTR.intValue()) {
          continue;
        }
        if (length <= 0) {
          ended = true;
          return;
        }
        if (!answer(request, memory, length)) {
          return;
        }
      }
    } finally {
      LIBC.free(memory);
    }
  }

  /** Returns whether the thread goes on. */
  private boolean answer(Request request, long memory, int length) {
    request.begin(memory);
    int opcode = request.opcode();
    counts.incrementAndGet(Math.min(opcode, OPCODES - 1));
    boolean forget = Opcode.isForget(opcode);
    if (!forget && idle.decrementAndGet() == 0) {
      startAnother();
    }
    if (opcode == Opcode.INTERRUPT.code()) {
      hooks.interrupted.accept(memory);
    } else if (opcode == Opcode.STATFS.code()) {
      // the same of every file; of one whose name another version has taken, libfuse finds none
      Memory.putLong(memory + Request.NODEID, Request.ROOT);
    } else if (forget) {
      Forgets.keep(memory, length, hooks.directories);
    }
    if (request.isLookup()) {
      lookup(request, memory, length);
    } else {
      libfuse.fuse_session_process(session, memory, length, channel);
    }
    if (!forget && isOneTooMany(idle.incrementAndGet())) {
      idle.decrementAndGet();
      return false;
    }
    return true;
  }

  private void lookup(Request request, long memory, int length) {
    int begun = hooks.exposures.begin();
    libfuse.fuse_session_process(session, memory, length, channel);
    if (request.shown() != 0) {
      hooks.exposures.leave(request.shown());
    }
    hooks.exposures.replied(begun);
  }

  private boolean isOneTooMany(int now) {
    boolean calm = System.nanoTime() - lastStart > CALM_NANOS;
    return now > (calm ? FEW_IDLE : MOST_IDLE);
  }

  /** Returns how often an operation was asked for. */
  long count(int opcode) {
    return counts.get(opcode);
  }

  int opcodes() {
    return OPCODES;
  }

  /** Tells whether the kernel has ended the connection. */
  boolean isEnded() {
    return ended;
  }

  void end() {
    ended = true;
  }
}
