package io.holdfast.fs.checkpoint;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.NamedThreads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import jnr.constants.platform.Errno;
import org.jspecify.annotations.Nullable;

/** Has requests to a bucket made, some at a time. Thread-safe. */
final class S3Requests implements AutoCloseable {
  /** One request, or some in a row. */
  @FunctionalInterface
  interface Request {
    void send() throws FsException;
  }

  private static final int AT_ONCE = 8;

  private final ExecutorService threads =
      Executors.newFixedThreadPool(AT_ONCE, new NamedThreads("s3-objects"));

  /** Sends requests in any order; when it returns or fails, none is under way any more. */
  void all(List<Request> requests) throws FsException {
    if (requests.size() == 1) {
      requests.get(0).send();
      return;
    }
    AtomicReference<@Nullable FsException> failure = new AtomicReference<>();
    List<CompletableFuture<Void>> sent = new ArrayList<>();
    try {
      for (Request each : requests) {
        sent.add(CompletableFuture.runAsync(() -> send(each, failure), threads));
      }
    } catch (
        OutOfMemoryError e) { // no thread for it; those that have begun are awaited all the same
      failure.compareAndSet(null, asFailure(e));
    }
    sent.forEach(CompletableFuture::join);
    FsException first = failure.get();
    if (first != null) {
      throw first;
    }
  }

  /** Sends a request unless another one has failed. */
  private static void send(Request request, AtomicReference<@Nullable FsException> failure) {
    if (failure.get() != null) {
      return;
    }
    try {
      request.send();
    } catch (FsException | RuntimeException | Error e) {
      failure.compareAndSet(null, asFailure(e));
    }
  }

  private static FsException asFailure(Throwable cause) {
    return cause instanceof FsException failure
        ? failure
        : new FsException(FsError.IO, String.valueOf(cause), cause);
  }

  /** Sends a request whose failure the persister is to tell. */
  static void send(Request request) throws ErrnoException {
    try {
      request.send();
    } catch (FsException e) {
      throw failure(e);
    }
  }

  /** Returns a failure of the bucket as programs get it. */
  static ErrnoException failure(FsException e) {
    Errno errno =
        switch (e.code()) {
          case ACCESS_DENIED, UNAVAILABLE -> Errno.EACCES; // also credentials that it does not take
          case BUSY -> Errno.EBUSY;
          case TIMED_OUT -> Errno.ETIMEDOUT;
          default -> Errno.EIO;
        };
    return ErrnoException.because(errno, "", String.valueOf(e.getMessage()));
  }

  @Override
  public void close() {
    threads.shutdown();
  }
}
