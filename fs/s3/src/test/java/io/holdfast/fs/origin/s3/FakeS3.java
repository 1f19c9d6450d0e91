package io.holdfast.fs.origin.s3;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import software.amazon.awssdk.services.s3.model.CommonPrefix;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * The LIST and HEAD of S3 over HTTP, for keys such as no HTTP server takes in a path. All objects
 * have ten bytes. Thread-safe.
 */
final class FakeS3 implements AutoCloseable {
  private static final String TIME = FakeSortedKeys.TIME.toString();
  private static final String HTTP_TIME = "Fri, 02 Jan 2026 03:04:05 GMT";

  private final FakeSortedKeys listings;
  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();

  FakeS3(List<String> keys) throws IOException {
    listings = new FakeSortedKeys(keys, Duration.ZERO);
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
  }

  URI endpoint() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      if (exchange.getRequestMethod().equals("HEAD")) {
        head(exchange);
      } else {
        byte[] body = list(query(exchange.getRequestURI().getRawQuery()));
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
      }
    }
  }

  private void head(HttpExchange exchange) throws IOException {
    String[] path = exchange.getRequestURI().getRawPath().split("/", 3);
    if (!listings.has(URLDecoder.decode(path[2].replace("+", "%2B"), StandardCharsets.UTF_8))) {
      exchange.sendResponseHeaders(404, -1);
      return;
    }
    exchange.getResponseHeaders().set("ETag", "\"e\"");
    exchange.getResponseHeaders().set("Last-Modified", HTTP_TIME);
    exchange.getResponseHeaders().set("Content-Length", "10");
    exchange.sendResponseHeaders(200, -1);
  }

  private static Map<String, String> query(String text) {
    Map<String, String> query = new HashMap<>();
    for (String each : text.split("&", -1)) {
      String[] parts = each.split("=", 2);
      query.put(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
    }
    return query;
  }

  private byte[] list(Map<String, String> query) {
    ListObjectsV2Response page =
        listings.list(
            new SortedKeys.Page(
                query.getOrDefault("prefix", ""),
                query.containsKey("delimiter"),
                query.get("start-after"),
                query.get("continuation-token"),
                Integer.parseInt(query.getOrDefault("max-keys", "1000"))),
            "");
    StringBuilder text =
        new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult>");
    text.append("<EncodingType>url</EncodingType>");
    text.append("<IsTruncated>" + page.isTruncated() + "</IsTruncated>");
    if (page.nextContinuationToken() != null) {
      String token = xml(page.nextContinuationToken());
      text.append("<NextContinuationToken>" + token + "</NextContinuationToken>");
    }
    for (S3Object each : page.contents()) {
      text.append("<Contents><Key>" + encoded(each.key()) + "</Key><LastModified>" + TIME);
      text.append("</LastModified><ETag>&quot;e&quot;</ETag><Size>10</Size></Contents>");
    }
    for (CommonPrefix each : page.commonPrefixes()) {
      text.append("<CommonPrefixes><Prefix>" + encoded(each.prefix()));
      text.append("</Prefix></CommonPrefixes>");
    }
    return text.append("</ListBucketResult>").toString().getBytes(StandardCharsets.UTF_8);
  }

  private static String encoded(String key) {
    return URLEncoder.encode(key, StandardCharsets.UTF_8);
  }

  private static String xml(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;");
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
