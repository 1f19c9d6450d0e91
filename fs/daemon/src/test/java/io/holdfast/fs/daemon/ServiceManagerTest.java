package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.DatagramReceiver;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServiceManagerTest {
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  @TempDir Path folder;
  private DatagramReceiver receiver;
  private Map<String, String> environment;
  private ServiceManager manager = ServiceManager.nobody();

  @BeforeEach
  void listen() {
    String address = folder.resolve("notify").toString();
    receiver = new DatagramReceiver(address);
    environment =
        Map.of("NOTIFY_SOCKET", address, "WATCHDOG_USEC", "100000", "WATCHDOG_PID", "4711");
  }

  @AfterEach
  void close() {
    manager.close();
    receiver.close();
  }

  private String next() {
    return receiver.next(DEADLINE);
  }

  @Test
  void mount_thatAnswers_isReadyAndThenAlive() {
    manager = ServiceManager.of(environment, System::nanoTime, 1, 4711);

    manager.ready(() -> null, () -> "1 of 2\nresident");

    assertThat(next()).isEqualTo("READY=1\nWATCHDOG=1\nSTATUS=1 of 2, resident");
    assertThat(next()).isEqualTo("WATCHDOG=1\nSTATUS=1 of 2, resident");
    assertThat(next()).startsWith("WATCHDOG=1\n");
  }

  /**
   * The service manager counts from the last sign of the daemon before. Half of the time may be
   * over by then, and the next daemon gave its first sign only after another half.
   */
  @Test
  void daemon_thatTakesOver_isAliveFromTheBeginning() {
    Map<String, String> patient = new HashMap<>(environment);
    patient.put("WATCHDOG_USEC", String.valueOf(Duration.ofHours(1).toNanos() / 1000));
    manager = ServiceManager.of(patient, System::nanoTime, 4711);

    manager.takingOver();
    manager.ready(() -> null, () -> "fine");

    assertThat(next()).isEqualTo("WATCHDOG=1");
    assertThat(next()).isEqualTo("READY=1\nWATCHDOG=1\nSTATUS=fine");
  }

  /** The thread ended, and the service manager ended a mount that was well. */
  @Test
  void daemon_thatHasNoMemoryForACheck_isAliveAtTheNext() {
    AtomicBoolean failed = new AtomicBoolean();
    manager = ServiceManager.of(environment, System::nanoTime, 4711);

    manager.ready(
        () -> {
          if (failed.compareAndSet(false, true)) {
            throw new OutOfMemoryError("made for the test");
          }
          return null;
        },
        () -> "fine");

    assertThat(next()).startsWith("READY=1");
    assertThat(next()).isEqualTo("WATCHDOG=1\nSTATUS=fine");
  }

  @Test
  void daemon_thatIsNotWell_givesNoSignOfLifeUntilItIs() {
    AtomicReference<String> trouble = new AtomicReference<>("the task 'x' is stuck");
    manager = ServiceManager.of(environment, System::nanoTime, 4711);

    manager.ready(trouble::get, () -> "fine");

    assertThat(next()).startsWith("READY=1");
    assertThat(next()).isEqualTo("STATUS=not well: the task 'x' is stuck");
    trouble.set(null);
    String message = next();
    while (message.startsWith("STATUS=not well")) {
      message = next();
    }
    assertThat(message).isEqualTo("WATCHDOG=1\nSTATUS=fine");
  }

  @Test
  void watchdog_ofAnotherProcess_isNotFed() {
    manager = ServiceManager.of(environment, System::nanoTime, 1, 2);

    manager.takingOver();
    manager.ready(() -> null, () -> "fine");

    assertThat(next()).isEqualTo("READY=1\nSTATUS=fine");
    assertThat(receiver.next(Duration.ofMillis(150))).isEmpty();
  }

  @Test
  void restartAndEnd_areAnnounced() {
    manager = ServiceManager.of(environment, () -> 5_000_000, 4711);

    manager.reloading();
    manager.stopping();

    assertThat(next()).isEqualTo("RELOADING=1\nMONOTONIC_USEC=5000");
    assertThat(next()).isEqualTo("STOPPING=1\nSTATUS=unmounting");
  }

  @Test
  void nobody_isTold_whereNobodyAsks() {
    manager = ServiceManager.of(Map.of("WATCHDOG_USEC", "100"), System::nanoTime, 4711);
    manager.ready(() -> null, () -> "fine");
    manager.stopping();
    assertThat(receiver.next(Duration.ZERO)).isEmpty();
  }

  @Test
  void environment_thatMakesNoSense_isNoReasonToFail() {
    manager = ServiceManager.of(Map.of("NOTIFY_SOCKET", "nonsense"), System::nanoTime, 1);
    manager.stopping();
    manager =
        ServiceManager.of(
            Map.of("NOTIFY_SOCKET", environment.get("NOTIFY_SOCKET"), "WATCHDOG_USEC", "soon"),
            System::nanoTime,
            1);
    manager.stopping();
    assertThat(next()).startsWith("STOPPING=1");
  }

  @Test
  void task_thatDoesNotEnd_isStuckAfterItsTime() {
    AtomicLong now = new AtomicLong();
    Pulse pulse = new Pulse(now::get);
    Runnable tick = pulse.of("tick", () -> {});
    Runnable other = pulse.of("other", () -> {});

    now.set(Duration.ofSeconds(29).toNanos());
    assertThat(pulse.stuck(Duration.ofSeconds(30))).isNull();
    other.run();
    now.set(Duration.ofSeconds(31).toNanos());
    assertThat(pulse.stuck(Duration.ofSeconds(30))).isEqualTo("tick");
    tick.run();
    assertThat(pulse.stuck(Duration.ofSeconds(30))).isNull();
  }
}
