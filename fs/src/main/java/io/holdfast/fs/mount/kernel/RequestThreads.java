package io.holdfast.fs.mount.kernel;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.Opcode;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The threads that receive requests. There is always one that is idle, so that a lookup which takes
 * its time keeps nobody waiting; READs that wait keep no thread. Thread-safe.
 */
final class RequestThreads {
  /** What the kernel asks of a read-only filesystem fits easily. */
  private static final int REQUEST = 64 << 10;

  /** The longest answer but for those of READ and READDIR: an extended attribute. */
  static final int REPLY = 64 << 10;

  private static final int MOST_IDLE = 4;
  private static final int OPCODES = 64;

  private final Channel channel;
  private final Requests requests;
  private final AtomicLongArray counts = new AtomicLongArray(OPCODES);
  private final AtomicInteger idle = new AtomicInteger();
  private final AtomicInteger started = new AtomicInteger();
  private volatile boolean ended;

  RequestThreads(Channel channel, Requests requests) {
    this.channel = channel;
    this.requests = requests;
  }

  void start() {
    idle.incrementAndGet();
    Thread thread = new Thread(this::receive, "fuse-" + started.incrementAndGet());
    thread.setDaemon(true);
    thread.start();
  }

  private void receive() {
    long memory = LIBC.malloc(REQUEST + REPLY);
    try {
      boolean goOn = true;
      while (goOn && !ended) {
        int length = channel.receive(memory, REQUEST);
        if (length < 0) {
          ended = true;
        } else if (length > 0) {
          goOn = answer(memory);
        }
      }
    } finally {
      LIBC.free(memory);
    }
    if (ended) {
      requests.close();
    }
  }

  /** Returns whether the thread goes on. */
  private boolean answer(long memory) {
    int opcode = Memory.getInt(memory + Wire.OPCODE);
    counts.incrementAndGet(Math.min(Math.max(opcode, 0), OPCODES - 1));
    if (idle.decrementAndGet() == 0) {
      start();
    }
    requests.answer(memory, memory + REQUEST);
    if (idle.incrementAndGet() > MOST_IDLE) {
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

  boolean isEnded() {
    return ended;
  }
}
