package io.holdfast.fs.origin.s3;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.Abortable;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;

/**
 * Fails answers that have no end. The client keeps a whole listing, and the text of an error, in
 * memory; a store that is broken or foreign would fill it. The content of an object is bounded
 * where it is read. Stateless.
 */
final class BoundedAnswers implements ExecutionInterceptor {
  /** A listing of 1,000 keys of 1,024 bytes, each of them escaped, takes a quarter of it. */
  static final int LONGEST = 16 << 20;

  @Override
  public Optional<InputStream> modifyHttpResponseContent(
      Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
    boolean content =
        context.request() instanceof GetObjectRequest && context.httpResponse().isSuccessful();
    return content ? context.responseBody() : context.responseBody().map(Bounded::new);
  }

  private static final class Bounded extends FilterInputStream {
    private long left = LONGEST;

    Bounded(InputStream answer) {
      super(answer);
    }

    @Override
    public int read() throws IOException {
      int read = super.read();
      took(read < 0 ? 0 : 1);
      return read;
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
      int read = super.read(buffer, offset, length);
      took(Math.max(0, read));
      return read;
    }

    @Override
    public long skip(long count) throws IOException {
      long skipped = super.skip(count);
      took(skipped);
      return skipped;
    }

    private void took(long bytes) {
      left -= bytes;
      if (left < 0) {
        throw SdkClientException.create("the store's answer is longer than " + LONGEST + " bytes");
      }
    }

    /** To be closed, a connection is read to its end: one that has none is cut. */
    @Override
    public void close() throws IOException {
      if (left < 0 && in instanceof Abortable connection) {
        connection.abort();
      } else {
        super.close();
      }
    }
  }
}
