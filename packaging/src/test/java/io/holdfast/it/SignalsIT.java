package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * What becomes of programs that get a signal while they wait for names, with the kernel binding.
 */
@Execution(ExecutionMode.CONCURRENT)
class SignalsIT {
  private static final Duration DEADLINE = Duration.ofSeconds(20);
  private static final int SIGINT = 2;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private Mount store;
  private Mount mount;
  private String file;

  /** A mount of a store that does not answer. */
  @BeforeEach
  void freeze() {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), 10, i -> 1000);
    file = dataset.files().get(0);
    // nothing is known that was not asked for, neither to the daemons nor to the kernel
    store =
        sandbox.mount(
            dataset.root(), "--policy", "none", "--count-opens", "off", "--metadata-ttl", "0");
    mount = sandbox.mount(store.mountpoint(), "--capacity", "64M", "--metadata-ttl", "0");
    store.freeze();
  }

  @AfterEach
  void thaw() {
    store.thaw();
  }

  private Child startWaiting(String... command) {
    Child child = sandbox.start(command);
    Await.until(DEADLINE, "it waits", () -> ProcessTable.state(child.pid()) == 'S');
    mount.awaitStats("asked", stats -> stats.requests("LOOKUP") + stats.requests("GETATTR") > 0);
    return child;
  }

  @Test
  void killed_whileItWaitsForAName_comesFree() {
    Child child = startWaiting("stat", mount.path(file).toString());

    child.signal(Posix.SIGKILL);

    assertThat(child.await(DEADLINE).exit()).isEqualTo(128 + Posix.SIGKILL);
  }

  @Test
  void interrupted_whileItWaitsForAName_comesFree() {
    Child child = startWaiting("stat", mount.path(file).toString());

    child.signal(SIGINT);

    assertThat(child.await(DEADLINE).exit()).isEqualTo(128 + SIGINT);
  }

  /** The signal of a timer is no reason for an error, and one that ends comes through after it. */
  @Test
  void timer_whileItWaitsForAName_goesOnUnlessItIsKilled() {
    String program =
        "$SIG{ALRM} = sub {}; alarm 1; @s = stat $ARGV[0]; print @s ? \"there\\n\" : \"$!\\n\"";
    Child patient = startWaiting("perl", "-e", program, mount.path(file).toString());
    Child killed = startWaiting("perl", "-e", program, mount.path(file).toString());
    mount.awaitStats("asked again and again", stats -> stats.requests("INTERRUPT") > 10);

    killed.signal(Posix.SIGKILL);
    assertThat(killed.await(DEADLINE).exit()).isEqualTo(128 + Posix.SIGKILL);
    assertThat(patient.isAlive()).isTrue();
    store.thaw();

    assertThat(patient.await(DEADLINE).out()).isEqualTo("there\n");
  }
}
