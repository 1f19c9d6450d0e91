package io.holdfast.fs.mount.kernel;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.mount.RequestThreads;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives requests of the kernel's protocol for one thread. A READ that waits for bytes does not
 * keep the thread.
 */
final class KernelReceiver implements RequestThreads.Receiver {
  /** The longest answer except those of READ and READDIR: an extended attribute. */
  static final int REPLY = 64 << 10;

  /**
   * The most threads. So many requests can wait at once for an origin that hangs, until the daemon
   * knows that it hangs. Requests that need no answer of the origin, such as those for control
   * files, find a thread all the same.
   */
  static final int MOST = 512;

  /** One reader's misses take longer with three, and with one. */
  private static final int FEW = 2;

  private static final Logger log = LoggerFactory.getLogger(KernelReceiver.class);
  private static final long RETRY_NANOS = Duration.ofMillis(10).toNanos();

  private final Channel channel;
  private final InFlight inFlight;
  private final Requests requests;
  private final long reply;
  private long request;

  /**
   * Creates a receiver, with all memory that its answers need: the caller of a request that cannot
   * be answered would wait without end.
   *
   * @throws OutOfMemoryError if there is no memory for that
   */
  private KernelReceiver(Channel channel, InFlight inFlight, Requests requests) {
    this.channel = channel;
    this.inFlight = inFlight;
    this.requests = requests;
    channel.prepare();
    reply = LIBC.malloc(REPLY);
    if (reply == 0) {
      throw OutOfMemory.outsideHeap("a thread's answers");
    }
  }

  /** Returns the threads that receive and answer requests, not started yet. */
  static RequestThreads threads(Channel channel, InFlight inFlight, Requests requests) {
    return new RequestThreads(
        () -> new KernelReceiver(channel, inFlight, requests),
        channel::requestWaits,
        FEW,
        MOST,
        requests::close,
        System::nanoTime);
  }

  /** Answers the requests that an earlier daemon has received. */
  static void answerLeft(Channel channel, InFlight inFlight, Requests requests) {
    try (KernelReceiver receiver = new KernelReceiver(channel, inFlight, requests)) {
      inFlight.left().forEach(left -> requests.answer(left, receiver.reply));
    }
  }

  @Override
  public int receive() {
    request = take();
    int length = channel.receive(request, InFlight.CAPACITY);
    if (length > 0) {
      return Memory.getInt(request + Wire.OPCODE);
    }
    inFlight.give(request);
    return length < 0 ? RequestThreads.ENDED : RequestThreads.NONE;
  }

  /** Takes a slot, and waits for memory if there is none: nobody else could answer instead. */
  private long take() {
    while (true) {
      try {
        return inFlight.take();
      } catch (FsException e) {
        log.debug(
            "no request can be received: {}", e.getMessage()); // the memory has logged a warning
        LockSupport.parkNanos(RETRY_NANOS);
      }
    }
  }

  @Override
  public void answer() {
    requests.answer(request, reply);
  }

  @Override
  public void close() {
    LIBC.free(reply);
  }
}
