package io.holdfast.fs.origin;

import io.holdfast.s3server.S3Server;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** A store that is a prefix of a bucket. */
public final class S3Store implements OriginStore, AutoCloseable {
  private final S3Client client;
  private final String bucket;
  private final String prefix;

  /**
   * Creates the bucket.
   *
   * @param prefix what all keys begin with: empty, or ending with a slash
   */
  public S3Store(URI endpoint, String bucket, String prefix) {
    this.bucket = bucket;
    this.prefix = prefix;
    this.client =
        S3Client.builder()
            .endpointOverride(endpoint)
            .forcePathStyle(true)
            .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
            .serviceConfiguration(each -> each.chunkedEncodingEnabled(false))
            .region(Region.US_EAST_1)
            .credentialsProvider(
                StaticCredentialsProvider.create(
                    AwsBasicCredentials.create(S3Server.ACCESS_KEY, S3Server.SECRET_KEY)))
            .build();
    client.createBucket(request -> request.bucket(bucket));
  }

  /** Puts an object, whatever its key. */
  public void put(String key, byte[] content) {
    client.putObject(request -> request.bucket(bucket).key(key), RequestBody.fromBytes(content));
  }

  private String key(byte[] path) {
    return prefix + new String(path, StandardCharsets.UTF_8);
  }

  @Override
  public void file(byte[] path, byte[] content) {
    put(key(path), content);
  }

  @Override
  public void directory(byte[] path) {
    put(key(path) + "/", new byte[0]);
  }

  @Override
  public void remove(byte[] path) {
    client.deleteObject(request -> request.bucket(bucket).key(key(path)));
  }

  @Override
  public long open() {
    return 0; // connections are the client's own, and end with it
  }

  @Override
  public void close() {
    client.close();
  }
}
