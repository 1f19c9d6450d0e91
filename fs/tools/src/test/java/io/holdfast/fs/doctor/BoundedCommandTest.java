package io.holdfast.fs.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class BoundedCommandTest {
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  /** The virtual machine moves a child's output when the child ends, which may be during a read. */
  @Test
  void run_childrenThatEndAtOnce_noOutputIsLost() throws Exception {
    for (int i = 0; i < 100; i++) {
      assertThat(BoundedCommand.run(DEADLINE, 100, List.of("echo", "hello")))
          .hasValueSatisfying(output -> assertThat(output.text()).isEqualTo("hello"));
    }
  }

  @Test
  void run_moreThanIsKept_isCutAndSaysSo() throws Exception {
    assertThat(BoundedCommand.run(DEADLINE, 10, List.of("seq", "1000")))
        .hasValue(new BoundedCommand.Output(0, "1\n2\n3\n4\n5\n", true));
  }

  @Test
  void run_doesNotEnd_isGivenUp() throws Exception {
    assertThat(BoundedCommand.run(Duration.ofMillis(50), 10, List.of("sleep", "60"))).isEmpty();
  }
}
