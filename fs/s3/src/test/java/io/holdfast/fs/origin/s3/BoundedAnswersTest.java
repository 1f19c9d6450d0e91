package io.holdfast.fs.origin.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.SharedS3Server;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedS3Server.class)
final class BoundedAnswersTest {
  /** So much the server sends at most. */
  private static final long MOST = 8L * BoundedAnswers.LONGEST;

  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private final AtomicLong sent = new AtomicLong();

  @Test
  void listingWithoutEnd_failsWithOneLine() throws Exception {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::answer);
    server.start();
    URI endpoint = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    try (Bucket bucket = new Bucket(SharedS3Server.settings(endpoint, "s3://bucket", DEADLINE))) {
      assertThatExceptionOfType(FsException.class)
          .isThrownBy(() -> bucket.list(SortedKeys.Page.directory("", null), "a"))
          .withMessageMatching("a: .*the store's answer is longer than 16777216 bytes .*");
      assertThat(sent.get()).isLessThan(MOST);
    } finally {
      server.stop(0);
    }
  }

  private void answer(HttpExchange exchange) throws IOException {
    byte[] element = new byte[1 << 16];
    Arrays.fill(element, (byte) 'x');
    exchange.sendResponseHeaders(200, 0);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write("<ListBucketResult><Prefix>".getBytes(StandardCharsets.US_ASCII));
      while (sent.get() < MOST) {
        out.write(element);
        sent.addAndGet(element.length);
      }
    }
  }
}
