package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Programs that get a signal while they wait for names, with the kernel binding. */
@Execution(ExecutionMode.CONCURRENT)
class SignalsIT {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final int SIGINT = 2;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private Mount store;
  private Mount mount;
  private List<String> files;

  /** A mount of a store that does not answer. */
  @BeforeEach
  void freeze() {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), 10, i -> 1000);
    files = dataset.files();
    // nothing is known that was not asked for, neither to the daemons nor to the kernel
    store =
        sandbox.mount(
            dataset.root(), "--policy", "none", "--count-opens", "off", "--metadata-ttl", "0");
    mount =
        sandbox.mount(
            store.mountpoint(),
            "--capacity",
            "64M",
            "--source-timeout",
            "10m",
            "--metadata-ttl",
            "0");
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
    Child child = sandbox.start("perl", "-e", program, mount.path(files.get(file)).toString());
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
    mount.awaitStats("asked again and again", stats -> stats.requests("INTERRUPT") > 10);

    killed.signal(Posix.SIGKILL);
    assertThat(killed.await(DEADLINE).exit()).isEqualTo(128 + Posix.SIGKILL);
    assertThat(patient.isAlive()).isTrue();
    store.thaw();

    assertThat(patient.await(DEADLINE).out()).isEqualTo("ready\nthere\n");
  }
}
