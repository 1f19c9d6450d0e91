package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Programs that get a signal while they wait for names, with the kernel binding. */
class SignalsIT {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final int SIGINT = 2;

  @RegisterExtension static final Sandbox SANDBOX = new Sandbox();

  private static HangingOrigin store;
  private static Mount mount;
  private static List<String> files;

  /** Nothing is known that was not asked for, neither to the daemon nor to the kernel. */
  @BeforeAll
  static void mount() {
    Dataset dataset = Dataset.create(SANDBOX.folder("origin"), 10, i -> 1000);
    files = dataset.files();
    store = HangingOrigin.forgetful(SANDBOX, dataset.root());
    mount =
        SANDBOX.mount(
            store.root(), "--capacity", "64M", "--source-timeout", "10m", "--metadata-ttl", "0");
  }

  @BeforeEach
  void freeze() {
    store.freeze();
  }

  @AfterEach
  void thaw() {
    store.thaw();
  }

  /**
   * Starts a program that asks for a name and prints the answer; returns once the program waits.
   */
  private Child startWaiting(String before, int file) {
    String program =
        "$| = 1; print qq(ready\\n);"
            + before
            + "print((stat $ARGV[0]) ? qq(there\\n) : qq($!\\n))";
    Child child = SANDBOX.start("perl", "-e", program, mount.path(files.get(file)).toString());
    child.awaitLine(1, DEADLINE);
    Await.until(DEADLINE, "it waits", () -> ProcessTable.state(child.pid()) == 'S');
    return child;
  }

  @Test
  void killed_whileItWaitsForAName_comesFree() {
    Child child = startWaiting("", 0);

    child.signal(Posix.SIGKILL);

    assertThat(child.await(DEADLINE).exit()).isEqualTo(128 + Posix.SIGKILL);
  }

  /** Like Python, which then raises KeyboardInterrupt. */
  @Test
  void interrupted_programThatHandlesIt_getsToItsHandler() {
    Child child = startWaiting("$SIG{INT} = sub { exit 7 };", 0);

    child.signal(SIGINT);

    assertThat(child.await(DEADLINE).exit()).isEqualTo(7);
  }

  /** A timer's signal gives no error, and a signal that ends the program comes through after it. */
  @Test
  void timer_whileItWaitsForAName_goesOnUnlessItIsKilled() {
    String timer = "$SIG{ALRM} = sub {}; alarm 1;";
    Child patient = startWaiting(timer, 0);
    Child killed = startWaiting(timer, 1);
    long before = mount.stats().requests("INTERRUPT");
    mount.awaitStats("asked again", stats -> stats.requests("INTERRUPT") > before + 10);

    killed.signal(Posix.SIGKILL);
    assertThat(killed.await(DEADLINE).exit()).isEqualTo(128 + Posix.SIGKILL);
    assertThat(patient.isAlive()).isTrue();
    store.thaw();

    assertThat(patient.await(DEADLINE).out()).isEqualTo("ready\nthere\n");
  }
}
