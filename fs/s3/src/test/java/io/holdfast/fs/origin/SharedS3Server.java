package io.holdfast.fs.origin;

import io.holdfast.fs.origin.s3.S3Location;
import io.holdfast.fs.origin.s3.S3Settings;
import io.holdfast.s3server.S3Server;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * One S3 server for all test classes that want one; each test has a bucket of its own. The default
 * credentials are those of the server meanwhile. The environment may name another server, with the
 * same credentials, as {@code HOLDFAST_TEST_S3=http://127.0.0.1:8000}.
 */
public final class SharedS3Server implements BeforeAllCallback {
  private static final String KEY_ID = "aws.accessKeyId";
  private static final String SECRET = "aws.secretAccessKey";
  private static final AtomicInteger buckets = new AtomicInteger();

  /** No two runs have the same buckets on a server that stays. */
  private static final String RUN = Long.toString(System.currentTimeMillis(), Character.MAX_RADIX);

  private static volatile URI endpoint;

  /** The server, which ends with the last test. */
  private static final class Running implements AutoCloseable {
    private final @Nullable S3Server server;

    private Running(@Nullable S3Server server) {
      this.server = server;
    }

    static Running start() {
      String other = System.getenv("HOLDFAST_TEST_S3");
      S3Server started = null;
      try {
        started = other == null ? S3Server.start() : null;
      } catch (IOException e) {
        throw new AssertionError(e);
      }
      endpoint = started == null ? URI.create(other) : started.endpoint();
      System.setProperty(KEY_ID, S3Server.ACCESS_KEY);
      System.setProperty(SECRET, S3Server.SECRET_KEY);
      return new Running(started);
    }

    @Override
    public void close() throws IOException {
      System.clearProperty(KEY_ID);
      System.clearProperty(SECRET);
      if (server != null) {
        server.close();
      }
    }
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    context
        .getRoot()
        .getStore(Namespace.create(SharedS3Server.class))
        .getOrComputeIfAbsent(Running.class, key -> Running.start());
  }

  /** Returns where it answers. */
  public static URI endpoint() {
    return endpoint;
  }

  /** Returns the name of a bucket that is not there yet. */
  public static String newBucket() {
    return "bucket-" + RUN + "-" + buckets.incrementAndGet();
  }

  /** Returns settings for a dataset that is reached in this way. */
  public static S3Settings settings(@Nullable URI endpoint, String location, Duration deadline) {
    return new S3Settings(
        S3Location.parse(location),
        endpoint,
        null,
        true,
        false,
        false,
        0644,
        0755,
        1000,
        1001,
        deadline);
  }
}
