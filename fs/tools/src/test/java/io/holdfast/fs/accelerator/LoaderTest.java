package io.holdfast.fs.accelerator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LoaderTest {
  private static final long HOUR = 3_600_000_000_000L;

  private final Window window = new Window(Clock.SYSTEM, HOUR);
  private final LongAdder bytes = new LongAdder();
  private final AtomicReference<IOException> failure = new AtomicReference<>();

  private Loader loader(Storage storage, int first, int step, int batch) {
    return new Loader(
        storage,
        new EpochOrders(storage.files(), 5),
        new Loader.Work(first, step, batch, window),
        bytes,
        failure::set);
  }

  /** Runs a loader until its storage gives nothing more, and returns the samples that it read. */
  private List<Integer> readAll(FakeStorage storage, int first, int step, int batch)
      throws InterruptedException {
    Loader loader = loader(storage, first, step, batch);
    Thread reader = new Thread(loader, "reader");
    reader.start();
    Thread taker = new Thread(() -> takeAll(loader), "taker");
    taker.start();
    reader.join();
    taker.interrupt();
    taker.join();
    assertThat(failure.get()).hasMessage("no more");
    assertThat(storage.openReaders()).isZero();
    return storage.read().get(0);
  }

  private static void takeAll(Loader loader) {
    try {
      while (true) {
        loader.take();
      }
    } catch (InterruptedException e) {
      // the test has ended
    }
  }

  @Test
  void onlyReader_readsEachFileOnceAnEpoch_recordByRecord() throws Exception {
    int epoch = 20 * 3;
    List<Integer> read = readAll(new FakeStorage(20, 3, 2 * epoch), 0, 1, 7);
    List<Integer> all = IntStream.range(0, epoch).boxed().toList();
    assertThat(read.subList(0, epoch)).containsExactlyInAnyOrderElementsOf(all);
    assertThat(read.subList(epoch, 2 * epoch))
        .containsExactlyInAnyOrderElementsOf(all)
        .isNotEqualTo(read.subList(0, epoch));
    for (int i = 0; i < read.size(); i += 3) {
      assertThat(read.get(i) % 3).isZero();
      assertThat(read.subList(i, i + 3))
          .containsExactly(read.get(i), read.get(i) + 1, read.get(i) + 2);
    }
    assertThat(bytes.sum()).isEqualTo(10L * 2 * epoch);
  }

  @Test
  void readersOfAnEpoch_divideItsFiles() throws Exception {
    List<Integer> all = new ArrayList<>();
    for (int first = 0; first < 4; first++) {
      failure.set(null);
      all.addAll(readAll(new FakeStorage(20, 1, 5), first, 4, 7));
    }
    assertThat(all).containsExactlyInAnyOrderElementsOf(IntStream.range(0, 20).boxed().toList());
  }

  /** PyTorch's DataLoader gives each worker two batches ahead. */
  @Test
  void batchesThatNobodyTakes_areTwo() throws Exception {
    FakeStorage storage = new FakeStorage(20, 1, Integer.MAX_VALUE);
    Loader loader = loader(storage, 0, 1, 7);
    Thread reader = new Thread(loader, "reader");
    reader.start();
    while (bytes.sum() < 2 * 70 || reader.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    assertThat(bytes.sum()).isEqualTo(2 * 70);
    reader.interrupt();
    reader.join();
    assertThat(storage.openReaders()).isZero();
    assertThat(failure.get()).isNull();
  }
}
