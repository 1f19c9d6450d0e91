package io.holdfast.it;

import io.holdfast.s3server.ForwardingProxy;
import io.holdfast.s3server.S3Server;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * A bucket of an S3 server, which is a process of its own, one for all classes. Who mounts the
 * bucket goes through a proxy of the bucket's own, which counts requests and lets some go wrong;
 * what a test puts there does not.
 *
 * <p>A JUnit extension for a whole class. It must come before the {@link Sandbox}, by {@code
 * Order}: then the server is there until the last mount has ended.
 */
final class Bucket implements BeforeAllCallback, AfterAllCallback {
  /** Secrets that no log, file or list of processes may show. */
  static final List<String> SECRETS = List.of(S3Server.SECRET_KEY, "AWS4-HMAC");

  /** An environment in which no credentials are found. */
  static final Map<String, String> NO_CREDENTIALS =
      Map.of(
          "HOME",
          "/nonexistent",
          "AWS_ACCESS_KEY_ID",
          "",
          "AWS_SECRET_ACCESS_KEY",
          "",
          "AWS_EC2_METADATA_DISABLED",
          "true");

  private static final AtomicInteger COUNTER = new AtomicInteger();

  private final String name = "data-" + COUNTER.incrementAndGet();
  private ForwardingProxy proxy;
  private S3Client client;

  @Override
  public void beforeAll(ExtensionContext context) throws IOException {
    S3Server server = server(context);
    proxy = ForwardingProxy.start(server.endpoint());
    client =
        S3Client.builder()
            .endpointOverride(server.endpoint())
            .forcePathStyle(true)
            .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
            .serviceConfiguration(each -> each.chunkedEncodingEnabled(false))
            .region(Region.US_EAST_1)
            .credentialsProvider(
                StaticCredentialsProvider.create(
                    AwsBasicCredentials.create(S3Server.ACCESS_KEY, S3Server.SECRET_KEY)))
            .build();
    client.createBucket(request -> request.bucket(name));
  }

  /** The server, which ends after the last test. */
  private static S3Server server(ExtensionContext context) {
    return context
        .getRoot()
        .getStore(ExtensionContext.Namespace.create(Bucket.class))
        .getOrComputeIfAbsent(S3Server.class, any -> startServer(), S3Server.class);
  }

  private static S3Server startServer() {
    try {
      return S3Server.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void afterAll(ExtensionContext context) throws IOException {
    client.close();
    proxy.close();
  }

  void put(String key, byte[] bytes) {
    client.putObject(request -> request.bucket(name).key(key), RequestBody.fromBytes(bytes));
  }

  /** Puts the files of a dataset below a prefix. */
  void putAll(String prefix, Dataset dataset) {
    try {
      for (int i = 0; i < dataset.count(); i++) {
        put(prefix + "/" + dataset.files().get(i), Files.readAllBytes(dataset.file(i)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  byte[] get(String key) {
    return client.getObjectAsBytes(request -> request.bucket(name).key(key)).asByteArray();
  }

  void delete(String key) {
    client.deleteObject(request -> request.bucket(name).key(key));
  }

  /** Returns the proxy between mounts and the server. */
  ForwardingProxy proxy() {
    return proxy;
  }

  /** Returns the source of the objects below a prefix. */
  String source(String prefix) {
    return "s3://" + name + "/" + prefix;
  }

  /** The environment with what the server accepts. */
  static Map<String, String> credentials() {
    return Map.of(
        "AWS_ACCESS_KEY_ID", S3Server.ACCESS_KEY, "AWS_SECRET_ACCESS_KEY", S3Server.SECRET_KEY);
  }

  /** The options that lead to the proxy. */
  List<String> options() {
    return List.of("--s3-endpoint=" + proxy.endpoint(), "--s3-path-style");
  }

  /** Mounts the objects below a prefix at a new mountpoint. */
  Mount mount(Sandbox sandbox, String prefix, String... options) {
    List<String> all = new ArrayList<>(options());
    all.addAll(List.of(options));
    return sandbox.mountSource(source(prefix), credentials(), all.toArray(String[]::new));
  }
}
