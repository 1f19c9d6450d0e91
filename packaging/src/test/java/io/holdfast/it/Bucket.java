package io.holdfast.it;

import io.holdfast.s3server.ForwardingProxy;
import io.holdfast.s3server.S3Server;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
 * A bucket of an S3 server, which is a process of its own. Who mounts it goes through a proxy,
 * which counts requests and lets some go wrong; what a test puts there does not.
 *
 * <p>A JUnit extension for a whole class. It must come before the {@link Sandbox}, by {@code
 * Order}: then the server is there until the last mount has ended.
 */
final class Bucket implements BeforeAllCallback, AfterAllCallback {
  /** What no log, file or list of processes may show. */
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

  private static final String NAME = "data";

  private S3Server server;
  private ForwardingProxy proxy;
  private S3Client client;

  @Override
  public void beforeAll(ExtensionContext context) throws IOException {
    server = S3Server.start();
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
    client.createBucket(request -> request.bucket(NAME));
  }

  @Override
  public void afterAll(ExtensionContext context) throws IOException {
    client.close();
    proxy.close();
    server.close();
  }

  void put(String key, byte[] bytes) {
    client.putObject(request -> request.bucket(NAME).key(key), RequestBody.fromBytes(bytes));
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

  void delete(String key) {
    client.deleteObject(request -> request.bucket(NAME).key(key));
  }

  /** What stands between mounts and the server. */
  ForwardingProxy proxy() {
    return proxy;
  }

  /** What a user calls the objects below a prefix. */
  static String source(String prefix) {
    return "s3://" + NAME + "/" + prefix;
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
