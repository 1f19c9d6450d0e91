package io.holdfast.fs.transit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TransitMemoryTest {
  private static final long LONG = Duration.ofSeconds(20).toNanos();

  private final TransitMemory memory = new TransitMemory(1000);

  @Test
  void acquire_upToTheCapacity_succeeds() {
    long first = memory.acquire(400, 0);
    long second = memory.acquire(600, 0);
    assertThat(first).isNotZero();
    assertThat(second).isNotZero().isNotEqualTo(first);
    assertThat(memory.used()).isEqualTo(1000);
    assertThat(memory.acquire(1, 0)).isZero();
    assertThat(memory.acquire(1, 1)).isZero();
    memory.release(first, 400);
    memory.release(second, 600);
    assertThat(memory.used()).isZero();
    assertThat(memory.capacity()).isEqualTo(1000);
  }

  @Test
  void acquire_moreThanTheCapacity_fails() {
    assertThat(memory.acquire(1001, 1)).isZero();
    assertThat(memory.used()).isZero();
  }

  @Test
  void acquire_full_waitsForARelease() throws Exception {
    long held = memory.acquire(1000, 0);
    CompletableFuture<Long> waiting =
        CompletableFuture.supplyAsync(() -> memory.acquire(500, LONG));
    memory.release(held, 1000);
    long address = waiting.get(Await.LONGEST.toSeconds(), TimeUnit.SECONDS);
    assertThat(address).isNotZero();
    memory.release(address, 500);
  }

  @Test
  void acquire_interrupted_failsAndKeepsTheInterrupt() throws Exception {
    long held = memory.acquire(1000, 0);
    AtomicBoolean interrupted = new AtomicBoolean();
    Thread thread =
        new Thread(
            () -> {
              boolean failed = memory.acquire(1, LONG) == 0;
              interrupted.set(failed && Thread.currentThread().isInterrupted());
            });
    thread.start();
    thread.interrupt();
    thread.join(Await.LONGEST.toMillis());
    assertThat(interrupted).isTrue();
    memory.release(held, 1000);
  }

  /** Each byte may be written to; a store that copies to where it is told to wants whole pages. */
  @ParameterizedTest
  @ValueSource(ints = {1, 4096, 131_071, 131_072, 131_073, (1 << 20) + 5000, 8 << 20})
  void acquire_ofEachLength_beginsWithAPageWhereItIsLarge(int length) {
    TransitMemory large = new TransitMemory(32L << 20);
    long first = large.acquire(length, 0);
    long second = large.acquire(length, 0);
    for (long address : new long[] {first, second}) {
      assertThat(address % (length < 131_072 ? Long.BYTES : Linux.PAGE_SIZE)).isZero();
      Memory.clear(address, length);
    }
    large.release(first, length);
    large.release(second, length);
    assertThat(large.used()).isZero();
  }
}
