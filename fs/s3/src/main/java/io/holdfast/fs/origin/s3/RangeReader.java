package io.holdfast.fs.origin.s3;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.Version;
import java.io.EOFException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * Reads a range of one version of an object sequentially. When a body breaks off, requests the rest
 * from where it broke. Used by one thread at a time.
 */
final class RangeReader implements AutoCloseable {
  /** GETs for one range, including the first, without the client's own retries. */
  private static final int ATTEMPTS = 4;

  private static final long BACK_OFF_NANOS = Duration.ofMillis(50).toNanos();
  private static final int CHUNK = 64 << 10;

  /**
   * An object to read.
   *
   * @param key the object
   * @param version its content
   * @param what the entry, for messages
   * @param deadline longest duration of one call
   */
  record Source(Bucket bucket, String key, Version version, String what, Duration deadline) {}

  private final Source source;
  private final long end;
  private final byte[] chunk;
  private long position;
  private int failures;
  private @Nullable ResponseInputStream<GetObjectResponse> body;

  /**
   * Creates a reader that has sent no request yet.
   *
   * @param first first byte
   * @param end the byte after the last one, within the content
   */
  RangeReader(Source source, long first, long end) {
    this.source = source;
    this.position = first;
    this.end = end;
    this.chunk = new byte[(int) Math.min(CHUNK, end - first)];
  }

  /** Returns the position of the next byte. */
  long position() {
    return position;
  }

  /** Returns the position after the last byte. */
  long end() {
    return end;
  }

  /**
   * Sends the request and waits for the beginning of the answer. The client retries requests by
   * itself, so only an invalid answer is retried here.
   *
   * @param until when to give up, on the clock of nanoseconds
   */
  void open(long until) throws FsException {
    while (body == null) {
      ResponseInputStream<GetObjectResponse> answer =
          source.bucket.get(source.key, source.version, position, end, source.what);
      body = answer;
      try {
        check(answer.response());
      } catch (FsException e) {
        close();
        if (e.code() != FsError.IO) {
          throw e;
        }
        failed(e, e, until);
      }
    }
  }

  /** Checks the version and the range of an answer. */
  private void check(GetObjectResponse answer) throws FsException {
    Version version = source.version;
    Long told = answer.contentLength();
    if (told == null || answer.lastModified() == null) {
      throw new FsException(
          FsError.IO, source.what + ": the store's answer has no length, or no time");
    }
    String range = answer.contentRange();
    boolean same =
        Entries.unquoted(answer.eTag()).equals(version.etag())
            && Entries.nanos(answer.lastModified()) == version.modified()
            && (range == null || range.endsWith("/" + version.size()));
    if (!same) {
      throw new FsException(FsError.STALE, source.what + ": changed at the origin");
    }
    long length = end - position;
    boolean right = range == null ? length == version.size() : range.startsWith(rangeBegin());
    if (!right || told != length) {
      throw new FsException(
          FsError.IO,
          source.what + ": asked for " + length + " bytes and was answered with " + told);
    }
  }

  private String rangeBegin() {
    return "bytes " + position + "-" + (end - 1) + "/";
  }

  /**
   * Reads some bytes, at least one.
   *
   * @param until when to give up, on the clock of nanoseconds
   * @return bytes read; 0 at the end of the range
   */
  int read(long address, int length, long until) throws FsException {
    int most = (int) Math.min(Math.min(length, chunk.length), end - position);
    while (most > 0) {
      open(until);
      try {
        int count = readBody(most);
        Memory.put(address, chunk, 0, count);
        position += count;
        if (position == end) {
          close();
        } else if (System.nanoTime() - until > 0) {
          throw late(null);
        }
        return count;
      } catch (FsException e) {
        throw e;
      } catch (IOException | RuntimeException e) {
        String text = source.what + ": the body broke off: " + e.getMessage();
        failed(new FsException(FsError.IO, text, e), e, until);
      }
    }
    return 0;
  }

  private int readBody(int most) throws IOException {
    int count = body == null ? -1 : body.read(chunk, 0, most);
    if (count <= 0) {
      throw new EOFException((end - position) + " bytes early");
    }
    return count;
  }

  private void failed(FsException failure, Exception cause, long until) throws FsException {
    close();
    failures++;
    long pause = ThreadLocalRandom.current().nextLong(BACK_OFF_NANOS * failures);
    if (System.nanoTime() + pause - until > 0) {
      throw late(cause);
    }
    if (failures >= ATTEMPTS) {
      throw failure;
    }
    LockSupport.parkNanos(pause);
  }

  private FsException late(@Nullable Exception cause) {
    String text = source.what + ": the store did not send it in time";
    return cause == null
        ? new FsException(FsError.TIMED_OUT, text)
        : new FsException(FsError.TIMED_OUT, text, cause);
  }

  /** Gives up the connection, unless the whole range was read. */
  @Override
  public void close() {
    ResponseInputStream<GetObjectResponse> from = body;
    body = null;
    if (from == null) {
      return;
    }
    if (position < end) {
      from.abort();
      return;
    }
    try {
      from.close();
    } catch (IOException e) {
      from.abort(); // all bytes have arrived; only the connection cannot be reused
    }
  }
}
