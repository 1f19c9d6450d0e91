package io.holdfast.fs.transit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.transit.TransitMemory.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TransitMemoryTest {
  private final TransitMemory memory = new TransitMemory(1000);

  private static Buffer take(TransitMemory from, int length) {
    return Objects.requireNonNull(from.take(length));
  }

  private CompletableFuture<Buffer> whenFree(int length, long deadline) {
    CompletableFuture<Buffer> granted = new CompletableFuture<>();
    memory.whenFree(
        length,
        deadline,
        (buffer, none) -> {
          if (none == null) {
            granted.complete(buffer);
          } else {
            granted.completeExceptionally(none);
          }
        });
    return granted;
  }

  @Test
  void take_upToTheCapacity_succeeds() {
    Buffer first = take(memory, 400);
    Buffer second = take(memory, 600);
    assertThat(first.address()).isNotZero();
    assertThat(second.address()).isNotZero().isNotEqualTo(first.address());
    assertThat(memory.used()).isEqualTo(1000);
    assertThat(memory.take(1)).isNull();
    first.free();
    second.free();
    assertThat(memory.used()).isZero();
    assertThat(memory.capacity()).isEqualTo(1000);
  }

  @Test
  void take_moreThanTheCapacity_fails() {
    assertThat(memory.take(1001)).isNull();
    assertThat(memory.used()).isZero();
  }

  @Test
  void whenFree_someIs_isThereAtOnce() {
    whenFree(500, 1).join().free();
    assertThat(memory.used()).isZero();
    assertThat(memory.isShort()).isFalse();
  }

  /** The first one is not passed over by those who need less. */
  @Test
  void whenFree_full_isGrantedInOrder() {
    Buffer held = take(memory, 600);
    Buffer more = take(memory, 400);
    List<String> granted = new ArrayList<>();
    List<CompletableFuture<Void>> waiting = new ArrayList<>();
    for (int length : new int[] {700, 300, 1}) {
      waiting.add(whenFree(length, 1).thenAccept(buffer -> granted.add("" + buffer.length())));
    }
    assertThat(memory.isShort()).isTrue();

    held.free();
    assertThat(granted).isEmpty();
    more.free();

    assertThat(granted).containsExactly("700", "300");
    assertThat(memory.used()).isEqualTo(1000);
    assertThat(waiting.get(2)).isNotDone();
  }

  @Test
  void whenFree_deadlineHasPassed_fails() {
    Buffer held = take(memory, 1000);
    CompletableFuture<Buffer> first = whenFree(500, 10);
    CompletableFuture<Buffer> second = whenFree(400, 20);
    memory.expire(9);
    assertThat(first).isNotDone();
    memory.expire(10);
    assertThatThrownBy(first::join)
        .hasCauseInstanceOf(FsException.class)
        .hasMessageContaining("transit memory full: 1000 of 1000 bytes in use");
    assertThat(second).isNotDone();
    held.free();
    second.join().free();
    assertThat(memory.used()).isZero();
  }

  @Test
  void whenFree_heapIsFullForOneTaker_theNextHasItsMemory() {
    Buffer held = take(memory, 1000);
    List<Buffer> taken = new ArrayList<>();
    memory.whenFree(
        300,
        1,
        (buffer, none) -> {
          taken.add(Objects.requireNonNull(buffer));
          throw new OutOfMemoryError("Java heap space");
        });
    CompletableFuture<Buffer> next = whenFree(700, 1);

    held.free();

    assertThat(next).isCompleted();
    assertThat(memory.used()).isEqualTo(1000);
    next.join().free();
    taken.forEach(Buffer::free);
    assertThat(memory.used()).isZero();
  }

  /** Each byte may be written to; a store that copies to where it is told to wants whole pages. */
  @ParameterizedTest
  @ValueSource(ints = {1, 4096, 131_071, 131_072, 131_073, (1 << 20) + 5000, 8 << 20})
  void take_ofEachLength_beginsWithAPageWhereItIsLarge(int length) {
    TransitMemory large = new TransitMemory(32L << 20);
    Buffer first = take(large, length);
    Buffer second = take(large, length);
    for (Buffer buffer : List.of(first, second)) {
      assertThat(buffer.address() % (length < 131_072 ? Long.BYTES : Linux.PAGE_SIZE)).isZero();
      Memory.clear(buffer.address(), length);
    }
    first.free();
    second.free();
    assertThat(large.used()).isZero();
  }
}
