package io.holdfast.fs.origin;

import io.holdfast.fs.origin.s3.S3Location;
import io.holdfast.fs.origin.s3.S3Settings;
import io.holdfast.s3server.S3Server;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * One S3 server for all test classes that want one; each test has a bucket of its own. The default
 * credentials are those of the server meanwhile.
 */
public final class SharedS3Server implements BeforeAllCallback {
  private static final String KEY_ID = "aws.accessKeyId";
  private static final String SECRET = "aws.secretAccessKey";
  private static final AtomicInteger buckets = new AtomicInteger();
  private static volatile S3Server server;

  /** The server, which ends with the last test. */
  private static final class Running implements AutoCloseable {
    static Running start() {
      try {
        server = S3Server.start();
      } catch (IOException e) {
        throw new AssertionError(e);
      }
      System.setProperty(KEY_ID, S3Server.ACCESS_KEY);
      System.setProperty(SECRET, S3Server.SECRET_KEY);
      return new Running();
    }

    @Override
    public void close() throws IOException {
      System.clearProperty(KEY_ID);
      System.clearProperty(SECRET);
      server.close();
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
    return server.endpoint();
  }

  /** Returns the name of a bucket that is not there yet. */
  public static String newBucket() {
    return "bucket-" + buckets.incrementAndGet();
  }

  /** Returns settings for a dataset that is reached in this way. */
  public static S3Settings settings(URI endpoint, String location, Duration deadline) {
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
