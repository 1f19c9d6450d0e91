package io.holdfast.fs.accelerator;

import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * One reader of a data loader. It reads the files of its place in the sequence of all files, each
 * file's samples in order, makes batches of them, and goes on with the next epoch without a pause.
 * At most two batches are ready or in work, which is what PyTorch's DataLoader prefetches for each
 * worker. Ends with the window, or when its thread is interrupted.
 */
final class Loader implements Runnable {
  private final BlockingQueue<Batch> ready = new ArrayBlockingQueue<>(1);
  private final Storage storage;
  private final EpochOrders orders;
  private final Work work;
  private final LongAdder bytesRead;
  private final Consumer<IOException> onFailure;

  private long position;
  private int file = -1;
  private long nextSample;

  /**
   * The files that a reader reads, and until when.
   *
   * @param first the first file's position in the sequence of all files
   * @param step how far the next one is: the number of all readers
   * @param batch samples of a batch
   */
  record Work(int first, int step, int batch, Window window) {}

  /**
   * Creates a reader, which reads nothing yet.
   *
   * @param bytesRead is told of all bytes, those of batches that nobody takes included
   * @param onFailure is told when the reader ends because a file cannot be read
   */
  Loader(
      Storage storage,
      EpochOrders orders,
      Work work,
      LongAdder bytesRead,
      Consumer<IOException> onFailure) {
    this.storage = storage;
    this.orders = orders;
    this.work = work;
    this.bytesRead = bytesRead;
    this.onFailure = onFailure;
    this.position = work.first();
  }

  @Override
  public void run() {
    try (Storage.Reader reader = storage.reader()) {
      while (!work.window().isOver()) {
        long bytes = 0;
        for (int i = 0; i < work.batch() && !work.window().isOver(); i++) {
          bytes += readNext(reader);
        }
        ready.put(new Batch(bytes, work.window().now()));
      }
    } catch (IOException e) {
      onFailure.accept(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private long readNext(Storage.Reader reader) throws IOException {
    if (file < 0) {
      file = orders.fileAt(position);
      nextSample = 0;
    }
    long bytes = reader.read(file, nextSample, work.window());
    bytesRead.add(bytes);
    if (++nextSample == storage.samples(file)) {
      file = -1;
      position += work.step();
    }
    return bytes;
  }

  /** Waits for the next batch. */
  Batch take() throws InterruptedException {
    return ready.take();
  }
}
