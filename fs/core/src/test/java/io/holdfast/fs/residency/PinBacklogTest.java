package io.holdfast.fs.residency;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.transit.Item;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Pins that come behind the readers: others may have the memory of transit meanwhile. */
final class PinBacklogTest extends ResidencyFixture {
  private static final int LENGTH = 5 * PAGE;

  private final CountDownLatch mayPin = new CountDownLatch(1);

  /** An item that programs have been given whole. */
  private static class Read extends Offered {
    private final Item item;

    Read(Item item, boolean elsewhere) {
      super(item, elsewhere);
      this.item = item;
    }

    @Override
    public int firstUndelivered() {
      return item.length();
    }
  }

  /** Creates a residency on a machine with so much memory, whose pinners wait. */
  private void begin(long available) {
    start(1 << 20);
    residency.available(available);
    for (int i = 0; i < 2; i++) {
      pinners.execute(() -> Await.latch(mayPin));
    }
  }

  private Read offered(String name, boolean elsewhere) throws IOException {
    file(name, random(LENGTH));
    Read read = new Read(item(name, LENGTH), elsewhere);
    assertThat(residency.offer(read)).isTrue();
    return read;
  }

  private void awaitPins() {
    mayPin.countDown();
    Await.until("nothing is behind", () -> residency.figures().pinBacklogBytes() == 0);
  }

  private long locked() throws IOException {
    return ProcessStatus.lockedBytes() - lockedBefore;
  }

  @Test
  void itemReadWhole_givesWayAtOnceAndIsPinnedLater() throws IOException {
    begin(1 << 20);

    Read read = offered("f", false);

    assertThat(read.givesWay).isTrue();
    assertThat(read.calls).hasValue(0);
    assertThat(residency.figures().pinBacklogBytes()).isEqualTo(LENGTH);
    assertThat(residency.isResident(read.item())).isTrue();
    assertThat(residency.isPinned(read.item())).isFalse();
    awaitPins();
    assertThat(residency.isPinned(read.item())).isTrue();
    assertThat(locked()).isEqualTo(LENGTH);
    assertThat(read.calls).hasValue(1);
  }

  /** Two threads took a quarter more time for each: they waited for each other in the kernel. */
  @Test
  void manyItemsReadWhole_arePinnedByOneThread() throws IOException {
    begin(1L << 30);
    for (int i = 0; i < 30; i++) {
      offered("f" + i, false);
    }
    awaitPins();
    assertThat(locked()).isEqualTo(30L * LENGTH);
    assertThat(users).hasSize(1);

    offered("g", false);
    awaitPins();
    assertThat(locked()).isEqualTo(31L * LENGTH);
  }

  @Test
  void pinThatEndsWithAnError_keepsNoneBehindItFromBeingPinned() throws IOException {
    begin(1 << 20);
    file("f", random(LENGTH));
    OutOfMemoryError fault = new OutOfMemoryError("a test");
    Item item = item("f", LENGTH);
    residency.offer(
        new Read(item, false) {
          @Override
          public void done() {
            super.done();
            throw fault;
          }
        });
    offered("g", false);
    offered("h", false);

    awaitPins();

    assertThat(locked()).isEqualTo(3L * LENGTH);
    List<Throwable> told = new ArrayList<>();
    failures.take((thread, failure) -> told.add(failure));
    assertThat(told).containsExactly(fault);
  }

  /** The kernel may take pages that are cached and not locked yet. */
  @Test
  void itemReadWhole_losesPagesMeanwhile_hasThemBackWithItsPin() throws IOException {
    begin(1 << 20);
    Read read = offered("f", false);
    Path path = sandbox.path("f");
    try (MappedFile application = application(path)) {
      application.read();
      application.drop();
      assertThat(application.cachedPages()).isZero();

      awaitPins();

      assertThat(application.cachedPages()).isEqualTo(5);
    }
    assertThat(residency.isPinned(read.item())).isTrue();
    assertThat(locked()).isEqualTo(LENGTH);
  }

  @Test
  void itemReadWhole_isReleasedMeanwhile_isNotPinned() throws IOException {
    begin(1 << 20);
    Read read = offered("f", false);

    assertThat(residency.release(read.item().node())).isEqualTo(LENGTH);
    awaitPins();

    assertThat(residency.isResident(read.item())).isFalse();
    assertThat(mappings()).isZero();
    assertThat(locked()).isZero();
  }

  /** So that transit's memory bounds the rest. */
  @Test
  void moreThanAQuarterOfTheMemoryIsBehind_nextItemKeepsItsMemory() throws IOException {
    begin(4L * 2 * LENGTH);
    offered("f", false);
    offered("g", false);
    Read read = offered("h", false);

    assertThat(read.givesWay).isFalse();
    assertThat(residency.figures().pinBacklogBytes()).isEqualTo(2L * LENGTH);
    awaitPins();
    Await.latch(read.done);
    assertThat(locked()).isEqualTo(3L * LENGTH);
    assertThat(offered("i", false).givesWay).isTrue();
    awaitPins();
  }

  /** Its pages are to be brought in anew, by the bytes in transit. */
  @Test
  void itemReadFromElsewhere_keepsItsMemory() throws IOException {
    begin(1 << 20);
    Read read = offered("f", true);
    assertThat(read.givesWay).isFalse();
    assertThat(residency.figures().pinBacklogBytes()).isZero();
    mayPin.countDown();
    Await.latch(read.done);
    assertThat(locked()).isEqualTo(LENGTH);
  }

  @Test
  void residencyIsClosed_nothingIsBehind() throws IOException {
    begin(1 << 20);
    offered("f", false);
    residency.close();
    mayPin.countDown();
    assertThat(residency.offer(new Read(item("g", LENGTH), false))).isFalse();
    assertThat(mappings()).isZero();
  }
}
