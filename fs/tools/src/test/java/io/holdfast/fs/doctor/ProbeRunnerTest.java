package io.holdfast.fs.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class ProbeRunnerTest {
  /** Long enough for the probes that end, on a machine that is busy. */
  private static final Duration DEADLINE = Duration.ofSeconds(4);

  private final CountDownLatch end = new CountDownLatch(1);

  /** A probe that a test makes of a lambda. */
  private interface Look {
    List<Finding> run() throws IOException, InterruptedException;
  }

  private static ProbeRunner.Task task(String name, Look look) {
    return new ProbeRunner.Task(
        "machine",
        new Probe() {
          @Override
          public String name() {
            return name;
          }

          @Override
          public List<Finding> run() throws IOException, InterruptedException {
            return look.run();
          }
        });
  }

  @Test
  void probes_oneHangsAndOneFails_allAreReportedInOrder() {
    List<Diagnosis> report =
        new ProbeRunner(DEADLINE)
            .run(
                List.of(
                    task("hangs", this::hang),
                    task("throws", ProbeRunnerTest::fail),
                    task("says nothing", List::of),
                    task("well", () -> List.of(Finding.ok("fine"), Finding.ok("too")))));
    end.countDown();
    assertThat(report)
        .extracting(line -> line.probe() + ": " + line.finding().level())
        .containsExactly("hangs: WARN", "throws: WARN", "well: OK", "well: OK");
    assertThat(report.get(0).finding().text()).startsWith("no answer in ");
    assertThat(report.get(1).finding().text()).contains("no such luck");
  }

  private List<Finding> hang() throws InterruptedException {
    end.await();
    return List.of();
  }

  private static List<Finding> fail() throws IOException {
    throw new IOException("no such luck");
  }
}
