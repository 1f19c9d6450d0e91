package io.holdfast.fs.mount;

import io.holdfast.fs.AccessEvent;
import io.holdfast.fs.AccessLog;
import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.ReadSource;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Passes the answer to a read on, and adds it to the access log. Answered once, by any thread. */
final class LoggedReply implements ReadReply {
  private final ReadReply reply;
  private final AccessLog log;
  private final Read read;
  private final LongSupplier nanoTime;
  private final long started;
  private volatile ReadSource source = ReadSource.MEMORY;

  /** The read that is answered; see {@link AccessEvent}. */
  record Read(int thread, Supplier<?> path, long offset, int length) {}

  LoggedReply(ReadReply reply, AccessLog log, Read read, LongSupplier nanoTime) {
    this.reply = reply;
    this.log = log;
    this.read = read;
    this.nanoTime = nanoTime;
    this.started = nanoTime.getAsLong();
  }

  @Override
  public void data(CheckedBytes bytes) {
    reply.data(bytes);
    tell(source, null);
  }

  @Override
  public void waitedFor(ReadSource from) {
    source = from;
  }

  @Override
  public void failed(FsException cause) {
    reply.failed(cause);
    tell(null, cause.code());
  }

  private void tell(@Nullable ReadSource from, @Nullable FsError failure) {
    log.add(
        new AccessEvent(
            AccessEvent.Kind.READ,
            read.thread(),
            read.path(),
            read.offset(),
            read.length(),
            from,
            nanoTime.getAsLong() - started,
            failure));
  }
}
