package io.holdfast.fs.checkpoint;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.NamedThreads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import jnr.constants.platform.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Has requests to a bucket made, some at a time. Thread-safe. */
final class S3Requests implements AutoCloseable {
  /** One request, or some in a row. */
  @FunctionalInterface
  interface Request {
    void send() throws FsException;
  }

  private static final Logger log = LoggerFactory.getLogger(S3Requests.class);

  private static final int AT_ONCE = 8;

  private final ExecutorService threads =
      Executors.newFixedThreadPool(AT_ONCE, new NamedThreads("s3-objects"));

  /** Sends requests in any order; when it returns or fails, none is under way any more. */
  void all(List<Request> requests) throws FsException {
    if (requests.size() == 1) {
      requests.get(0).send();
      return;
    }
    List<Future<?>> futures = new ArrayList<>();
    for (Request each : requests) {
      futures.add(
          threads.submit(
              () -> {
                each.send();
                return true;
              }));
    }
    FsException failure = null;
    boolean cancelled = false;
    for (Future<?> future : futures) {
      try {
        future.get();
      } catch (ExecutionException e) {
        failure = asFailure(e.getCause() == null ? e : e.getCause());
      } catch (CancellationException e) {
        log.debug("not sent, since another request has failed");
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        failure = new FsException(FsError.IO, "interrupted", e);
      }
      if (failure != null && !cancelled) {
        futures.forEach(each -> each.cancel(false));
        cancelled = true;
      }
    }
    if (failure != null) {
      throw failure;
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
          case ACCESS_DENIED -> Errno.EACCES;
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
