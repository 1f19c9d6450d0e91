package io.holdfast.fs.daemon;

import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.linux.DatagramSocket;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.NamedThreads;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import jnr.constants.platform.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the service manager that started this process, such as systemd, how the daemon is, by the
 * protocol of sd_notify(3). Says nothing if no service manager wants to know. Thread-safe.
 */
final class ServiceManager implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ServiceManager.class);

  /** How often to send the status, if the service manager does not wait for signs of life. */
  private static final Duration STATUS_PERIOD = Duration.ofSeconds(10);

  /** How many times as often as they must come signs of life are sent: one of them may fail. */
  private static final int SIGNS = 3;

  private static final Duration SHORTEST_PERIOD = Duration.ofMillis(10);

  /** How many times to try a message that must arrive. */
  private static final int TRIES = 100;

  private static final int PAUSE_MILLIS = 10;

  /** The daemon's check of itself. */
  interface Health {
    /**
     * Checks the daemon; returns within a bounded time.
     *
     * @return what is wrong, or null if all is well
     */
    @Nullable String trouble();
  }

  private final @Nullable DatagramSocket socket;
  private final Duration watchdog;
  private final LongSupplier nanoTime;
  private final AtomicBoolean warned = new AtomicBoolean();
  private final CountDownLatch closed = new CountDownLatch(1);

  private ServiceManager(
      @Nullable DatagramSocket socket, Duration watchdog, LongSupplier nanoTime) {
    this.socket = socket;
    this.watchdog = watchdog;
    this.nanoTime = nanoTime;
  }

  /**
   * Returns the service manager of this process.
   *
   * @param environment has the address in NOTIFY_SOCKET; WATCHDOG_USEC is how often signs of life
   *     must come, unless WATCHDOG_PID is none of the processes
   * @param processes this process, and its supervisor
   */
  static ServiceManager of(
      Map<String, String> environment, LongSupplier nanoTime, long... processes) {
    String address = environment.get("NOTIFY_SOCKET");
    if (address == null) {
      return nobody();
    }
    try {
      return new ServiceManager(
          new DatagramSocket(address), watchdog(environment, processes), nanoTime);
    } catch (IllegalArgumentException e) {
      log.warn("NOTIFY_SOCKET: {}: nobody is told", e.getMessage());
      return nobody();
    }
  }

  /** Returns a service manager that says nothing. */
  static ServiceManager nobody() {
    return new ServiceManager(null, Duration.ZERO, System::nanoTime);
  }

  private static Duration watchdog(Map<String, String> environment, long... processes) {
    try {
      String meant = environment.get("WATCHDOG_PID");
      boolean ours = meant == null;
      for (long process : processes) {
        ours |= meant != null && Long.parseLong(meant) == process;
      }
      String micros = environment.getOrDefault("WATCHDOG_USEC", "0");
      return ours ? Duration.ofNanos(Long.parseLong(micros) * 1000) : Duration.ZERO;
    } catch (NumberFormatException | ArithmeticException e) {
      log.warn("WATCHDOG_USEC or WATCHDOG_PID is no number: no signs of life are sent");
      return Duration.ZERO;
    }
  }

  /**
   * Gives a sign of life when a daemon begins to take a mount over: some of the time has passed
   * since the last sign of the daemon before it, and the start takes more.
   */
  void takingOver() {
    if (!watchdog.isZero()) {
      send("WATCHDOG=1");
    }
  }

  /**
   * Says that the mount answers, with a sign of life: for the service manager, only the first
   * daemon's answer is one. From then on sends the status and, while nothing is wrong, signs of
   * life.
   */
  void ready(Health health, Supplier<String> status) {
    if (socket == null) {
      return;
    }
    send("READY=1\n" + alive(status));
    NamedThreads.start("service", () -> keepTelling(health, status));
  }

  /**
   * Says that another daemon takes the place of this one; that daemon will say when it is ready.
   */
  void reloading() {
    send("RELOADING=1\nMONOTONIC_USEC=" + nanoTime.getAsLong() / 1000);
  }

  /** Says that the mount is about to end. */
  void stopping() {
    send("STOPPING=1\nSTATUS=unmounting");
  }

  private void keepTelling(Health health, Supplier<String> status) {
    Duration period = watchdog.isZero() ? STATUS_PERIOD : watchdog.dividedBy(SIGNS);
    long millis = Math.max(SHORTEST_PERIOD.toMillis(), period.toMillis());
    String trouble = null;
    try {
      while (!closed.await(millis, TimeUnit.MILLISECONDS)) {
        try {
          trouble = tell(health, status, trouble);
        } catch (Throwable e) { // without this thread, the service manager would end the mount
          OutOfMemory.tell(log, "the daemon could not be checked", e);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Checks once, and sends what comes of it; returns what is wrong. */
  private @Nullable String tell(Health health, Supplier<String> status, @Nullable String before) {
    String trouble = health.trouble();
    if (trouble == null) {
      send(alive(status));
    } else {
      if (!trouble.equals(before)) {
        log.warn("not well: {}", trouble);
      }
      send("STATUS=not well: " + oneLine(trouble));
    }
    return trouble;
  }

  private String alive(Supplier<String> status) {
    return (watchdog.isZero() ? "" : "WATCHDOG=1\n") + "STATUS=" + oneLine(status.get());
  }

  private static String oneLine(String text) {
    return text.replaceAll("[\\r\\n]+", ", ");
  }

  private void send(String text) {
    if (socket == null) {
      return;
    }
    int errno = socket.send(text);
    for (int i = 0; i < TRIES && errno == Errno.EAGAIN.intValue(); i++) {
      try {
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
      errno = socket.send(text);
    }
    if (errno != 0 && warned.compareAndSet(false, true)) {
      log.warn("the service manager cannot be told: {}", Linux.describe(errno));
    }
  }

  /** Stops sending the status and signs of life. */
  @Override
  public void close() {
    closed.countDown();
  }
}
