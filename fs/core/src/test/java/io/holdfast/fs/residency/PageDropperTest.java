package io.holdfast.fs.residency;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.ItemKey;
import io.holdfast.fs.origin.Version;
import io.holdfast.fs.transit.Item;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Pages of items that were not admitted go in time. */
final class PageDropperTest extends ResidencyFixture {
  @Test
  void delivered_itemNotAdmitted_isDroppedAfterTheAge() throws IOException {
    start(0);
    Path path = file("f", random(5 * PAGE));
    try (MappedFile application = application(path)) {
      application.read();
      residency.noteDelivered(item("f", 5 * PAGE), 5 * PAGE, true);
      residency.tick();
      assertThat(residency.figures().windowBytes()).isEqualTo(5L * PAGE);
      assertThat(application.cachedPages()).isEqualTo(5);
      clock.advance(AGE);
      residency.tick();
      Await.until("it is dropped", () -> residency.figures().droppedBytes() == 5L * PAGE);
      assertThat(application.cachedPages()).isZero();
      assertThat(residency.figures().windowBytes()).isZero();
    }
  }

  /** Extents are as long and as aligned as the smallest that may be set: folios are smaller. */
  @Test
  void delivered_nextToAPinnedExtent_leavesThePinAlone() throws IOException {
    int extent = 1 << 20;
    start(extent);
    Path path = file("f", random(2 * extent));
    try (MappedFile application = application(path)) {
      application.read();
      pin(item("f", 5, 0, 0, extent));
      residency.noteDelivered(item("f", 5, 1, extent, extent), extent, true);
      clock.advance(AGE);
      residency.tick();
      Await.until("it is dropped", () -> residency.figures().droppedBytes() == extent);
      assertThat(application.cachedPages()).isEqualTo(extent / PAGE);
    }
  }

  @Test
  void delivered_itemThatIsMapped_isDroppedWhenItIsUnmapped() throws IOException {
    start(0);
    Path path = file("f", random(5 * PAGE));
    try (MappedFile application = application(path)) {
      application.map();
      residency.noteDelivered(item("f", 5 * PAGE), 5 * PAGE, true);
      for (int i = 0; i < 3; i++) {
        clock.advance(Duration.ofSeconds(10));
        residency.tick();
        Await.until("the droppers are idle", this::droppersAreIdle);
        assertThat(residency.figures().windowBytes()).isEqualTo(5L * PAGE);
      }
      application.unmap();
      Await.until("it is dropped", this::tickUntilDropped);
      assertThat(application.cachedPages()).isZero();
    }
  }

  /** A fetch of the version before may deliver after the name has been given to another. */
  @Test
  void delivered_versionBeforeTheOneThatIsPinned_lingersNoMore() throws IOException {
    start(1 << 20);
    file("f", random(5 * PAGE));
    Item item = item("f", 5 * PAGE);
    pin(item);
    Version former = new Version(5L * PAGE, item.version().modified() - 1, 8, "");
    residency.noteDelivered(
        new Item(new ItemKey(99, 0), item.path(), former, 0, 5 * PAGE), 10, true);
    clock.advance(AGE);
    residency.tick();
    Await.until("the window is empty", () -> residency.figures().windowBytes() == 0);
    assertThat(residency.isPinned(item)).isTrue();
  }

  /** As when others made room, and an item of the window was read again. */
  @Test
  void delivered_itemThatIsPinnedMeanwhile_lingersNoMore() throws IOException {
    start(1 << 20);
    Path path = file("f", random(5 * PAGE));
    try (MappedFile application = application(path)) {
      Item item = item("f", 5 * PAGE);
      residency.noteDelivered(item, 2 * PAGE, false);
      pin(item);
      Await.until("nothing lingers", this::tickUntilDropped);
      assertThat(application.cachedPages()).isEqualTo(5);
    }
  }

  /**
   * Reads past the page cache may begin and end within a page, which the reads of others have
   * brought in; the kernel drops whole pages only.
   */
  @Test
  void delivered_partThatEndsWithinAPage_lingersNoMore() throws IOException {
    start(1 << 20);
    Path path = file("f", random(5 * PAGE));
    try (MappedFile application = application(path)) {
      application.read();
      Item whole = item("f", 5 * PAGE);
      int half = PAGE / 2;
      residency.noteDelivered(
          new Item(whole.key(), whole.path(), whole.version(), 0, PAGE + half), PAGE + half, true);
      residency.noteDelivered(
          new Item(whole.key(), whole.path(), whole.version(), PAGE + half, PAGE), PAGE, true);
      Await.until("nothing lingers", this::tickUntilDropped);
      assertThat(application.cachedPages()).as("those that no part was of").isEqualTo(2);
    }
  }

  /** As after a killed daemon: nobody noted the pages of its window. */
  @Test
  void dropStray_itemThatIsNotResident_dropsItsPages() throws IOException {
    start(1 << 20);
    Path path = file("f", random(5 * PAGE));
    try (MappedFile application = application(path)) {
      application.read();
      residency.dropStray(item("f", 5 * PAGE));
      assertThat(application.cachedPages()).isZero();
      assertThat(residency.figures().windowBytes()).isZero();
      assertThat(residency.figures().droppedBytes()).as("nobody counted them").isZero();
    }
  }

  @Test
  void dropStray_itemThatIsResidentByNow_leavesItAlone() throws IOException {
    start(1 << 20);
    Path path = file("f", random(5 * PAGE));
    try (MappedFile application = application(path)) {
      Item item = item("f", 5 * PAGE);
      pin(item);
      residency.dropStray(item);
      assertThat(application.cachedPages()).isEqualTo(5);
      assertThat(residency.isPinned(item)).isTrue();
    }
  }

  @Test
  void dropStray_itemThatIsMapped_isDroppedWhenItIsUnmapped() throws IOException {
    start(1 << 20);
    Path path = file("f", random(5 * PAGE));
    try (MappedFile application = application(path)) {
      application.map();
      residency.dropStray(item("f", 5 * PAGE));
      assertThat(application.cachedPages()).isEqualTo(5);
      application.unmap();
      Await.until(
          "it is dropped",
          () -> {
            tickUntilDropped();
            return application.cachedPages() == 0;
          });
    }
  }

  private boolean droppersAreIdle() {
    CountDownLatch done = new CountDownLatch(1);
    droppers.execute(done::countDown);
    Await.latch(done);
    return true;
  }

  private boolean tickUntilDropped() {
    clock.advance(Duration.ofSeconds(30));
    residency.tick();
    droppersAreIdle();
    return residency.figures().windowBytes() == 0;
  }
}
