package io.holdfast.fs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The line says which bound was met, and how to raise it. */
final class OutOfMemoryTest {
  @Test
  void describe_noThread_namesItsBounds() {
    String line =
        OutOfMemory.describe(
            new OutOfMemoryError(
                "unable to create native thread: possibly out of memory or process/resource limits"
                    + " reached"));
    assertThat(line).contains("no thread", "fix:", "ulimit -u", "pids.max", "TasksMax=");
  }

  @Test
  void describe_noHeap_namesItsVariable() {
    for (String reason : new String[] {"Java heap space", "GC overhead limit exceeded"}) {
      assertThat(OutOfMemory.describe(new OutOfMemoryError(reason)))
          .contains("heap of " + Runtime.getRuntime().maxMemory(), "fix:", "HOLDFAST_HEAP");
    }
  }
}
