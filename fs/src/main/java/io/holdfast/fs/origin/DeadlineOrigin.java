package io.holdfast.fs.origin;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * An origin whose calls end by a deadline, for one that may hang. Each call runs on a thread of the
 * executor and is given up when it takes too long; the executor bounds how many threads can be
 * stuck, and refuses further calls at once when all are. {@link #open} and what is read from the
 * file are not bounded here: they run on the threads of fetches, which have their own deadline.
 */
public final class DeadlineOrigin implements Origin {
  private final Origin origin;
  private final ExecutorService threads;
  private final Duration deadline;

  /**
   * Wraps an origin.
   *
   * @param threads bounded in number, refusing what it has no thread for; closed with this origin
   * @param deadline how long a call may take
   */
  public DeadlineOrigin(Origin origin, ExecutorService threads, Duration deadline) {
    this.origin = origin;
    this.threads = threads;
    this.deadline = deadline;
  }

  private <T> T bounded(OriginPath path, Callable<T> call) throws FsException {
    Future<T> answer;
    try {
      answer = threads.submit(call);
    } catch (RejectedExecutionException e) {
      throw new FsException(
          FsError.TIMED_OUT, path + ": the origin hangs, and too many calls wait for it", e);
    }
    try {
      return answer.get(deadline.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof FsException failure) {
        throw failure;
      }
      throw new FsException(FsError.IO, path + ": " + e.getCause(), e);
    } catch (TimeoutException e) {
      throw new FsException(
          FsError.TIMED_OUT, path + ": the origin did not answer within " + deadline, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new FsException(FsError.IO, path + ": interrupted", e);
    }
  }

  @Override
  public String describe() {
    return origin.describe();
  }

  @Override
  public boolean mayHang() {
    return origin.mayHang();
  }

  @Override
  public Attributes stat(OriginPath path) throws FsException {
    return bounded(path, () -> origin.stat(path));
  }

  @Override
  public byte[] readLink(OriginPath path) throws FsException {
    return bounded(path, () -> origin.readLink(path));
  }

  /**
   * The listing is taken whole before it is passed on, so that the sink is never called after the
   * deadline.
   */
  @Override
  public void list(OriginPath path, EntrySink sink) throws FsException {
    List<Consumer<EntrySink>> entries =
        bounded(
            path,
            () -> {
              List<Consumer<EntrySink>> listed = new ArrayList<>();
              origin.list(
                  path, (name, type, inode) -> listed.add(taker -> taker.entry(name, type, inode)));
              return listed;
            });
    entries.forEach(entry -> entry.accept(sink));
  }

  @Override
  public OriginFile open(OriginPath path) throws FsException {
    return origin.open(path);
  }

  @Override
  public byte[] extendedAttribute(OriginPath path, byte[] name) throws FsException {
    return bounded(path, () -> origin.extendedAttribute(path, name));
  }

  @Override
  public byte[] extendedAttributeNames(OriginPath path) throws FsException {
    return bounded(path, () -> origin.extendedAttributeNames(path));
  }

  @Override
  public StoreFigures figures() throws FsException {
    return bounded(OriginPath.ROOT, origin::figures);
  }

  @Override
  public void close() {
    threads.shutdown();
    origin.close();
  }
}
