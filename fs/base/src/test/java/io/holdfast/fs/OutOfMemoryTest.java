package io.holdfast.fs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;

/** The line says which bound was met, and how to raise it. */
final class OutOfMemoryTest {
  /** A log that cannot be written, for want of memory too, ended the thread that goes on. */
  @Test
  void tell_noMemoryForTheLine_doesNotFail() {
    Logger full =
        (Logger)
            Proxy.newProxyInstance(
                Logger.class.getClassLoader(),
                new Class<?>[] {Logger.class},
                (proxy, method, arguments) -> {
                  throw new OutOfMemoryError("made for the test");
                });
    assertThatCode(() -> OutOfMemory.tell(full, "failed", new IllegalStateException("x")))
        .doesNotThrowAnyException();
  }

  @Test
  void describe_noThread_namesItsBounds() {
    String line =
        OutOfMemory.describe(
            new OutOfMemoryError(
                "unable to create native thread: possibly out of memory or process/resource limits"
                    + " reached"));
    assertThat(line).contains("no thread", "fix:", "ulimit -u", "pids.max", "TasksMax=");
  }

  /** One who had to list a directory got ENOMEM, and the log said nothing. */
  @Test
  void describe_noMemoryOutsideTheHeap_namesItsBounds() {
    assertThat(OutOfMemory.describe(OutOfMemory.outsideHeap("a listing")))
        .startsWith("no memory outside the heap for a listing: ")
        .contains("fix:", "ulimit -v", "memory.max", "MemoryMax=");
  }

  @Test
  void describe_noHeap_namesItsVariable() {
    for (String reason : new String[] {"Java heap space", "GC overhead limit exceeded"}) {
      assertThat(OutOfMemory.describe(new OutOfMemoryError(reason)))
          .contains("heap of " + Runtime.getRuntime().maxMemory(), "fix:", "HOLDFAST_HEAP");
    }
  }
}
