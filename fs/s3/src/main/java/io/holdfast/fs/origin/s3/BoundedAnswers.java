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
 * Fails an endless answer of the store. The client keeps a whole listing, and the text of an error,
 * in memory, and a broken or foreign store would fill it. The reader of an object bounds the
 * object's content. Stateless.
 */
final class BoundedAnswers implements ExecutionInterceptor {
  /**
   * Most bytes of an answer. A listing of 1,000 keys of 1,024 bytes, all escaped, takes a quarter
   * of this.
   */
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

    /**
     * Closes the connection. A normal close reads the answer to its end, so an endless one is
     * aborted.
     */
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
