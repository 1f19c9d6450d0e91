package io.holdfast.fs.origin.s3;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Version;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.EncodingType;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.RequestPayer;

/**
 * The requests to one bucket. Thread-safe. The client tries each request several times with
 * back-off and jitter, also when throttled and when many requests have failed, and ends it by the
 * deadline. The caller bounds the body of a GET; each read of the body ends within {@link
 * #silence(Duration)}.
 */
final class Bucket implements SortedKeys, AutoCloseable {
  /** The region of a store that ignores regions; the protocol requires one. */
  private static final Region ANY = Region.US_EAST_1;

  /** Attempts of a request, including the first. */
  private static final int ATTEMPTS = 4;

  private static final int CONNECTIONS = 256;
  private static final Duration CONNECT = Duration.ofSeconds(5);

  private final S3Client client;
  private final String name;
  private final @Nullable RequestPayer payer;

  Bucket(S3Settings settings) {
    name = settings.location().bucket();
    payer = settings.requesterPays() ? RequestPayer.REQUESTER : null;
    client = client(settings);
  }

  /** Returns a client for the store of these settings; a request of it ends by their deadline. */
  static S3Client client(S3Settings settings) {
    Duration deadline = settings.deadline();
    S3ClientBuilder builder =
        S3Client.builder()
            .forcePathStyle(settings.pathStyle())
            .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
            .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
            .serviceConfiguration(each -> each.chunkedEncodingEnabled(false))
            .httpClientBuilder(
                Apache5HttpClient.builder()
                    .maxConnections(CONNECTIONS)
                    .connectionTimeout(CONNECT.compareTo(deadline) < 0 ? CONNECT : deadline)
                    .connectionAcquisitionTimeout(deadline)
                    .socketTimeout(silence(deadline))
                    .tcpKeepAlive(true))
            .overrideConfiguration(
                each ->
                    each.apiCallTimeout(deadline)
                        .addExecutionInterceptor(new BoundedAnswers())
                        .retryStrategy(
                            AwsRetryStrategy.standardRetryStrategy().toBuilder()
                                .maxAttempts(ATTEMPTS)
                                .circuitBreakerEnabled(false)
                                .build()));
    if (settings.endpoint() != null) {
      builder.endpointOverride(settings.endpoint());
    }
    if (settings.anonymous()) {
      builder.credentialsProvider(AnonymousCredentialsProvider.create());
    }
    if (settings.region() != null) {
      builder.region(Region.of(settings.region()));
    } else if (settings.endpoint() != null) {
      builder.region(ANY);
    } else {
      builder.region(region()).crossRegionAccessEnabled(true);
    }
    return builder.build();
  }

  private static Region region() {
    try {
      return DefaultAwsRegionProviderChain.builder().build().getRegion();
    } catch (SdkClientException e) {
      return ANY; // the store reports the bucket's region
    }
  }

  /** Returns how long a connection may be silent before it is given up. */
  static Duration silence(Duration deadline) {
    return deadline.dividedBy(4);
  }

  /**
   * Returns the endpoint that was named, in the settings, the environment or the profile; null for
   * Amazon's.
   */
  @Nullable URI endpoint() {
    return client.serviceClientConfiguration().endpointOverride().orElse(null);
  }

  /**
   * Lists keys like {@link #list(Page, String)}, but fails with the runtime exceptions of the
   * client.
   */
  ListObjectsV2Response list(Page page) {
    return client.listObjectsV2(
        request -> {
          request
              .bucket(name)
              .prefix(page.prefix())
              .maxKeys(page.limit())
              .requestPayer(payer)
              .encodingType(EncodingType.URL);
          if (page.delimiter()) {
            request.delimiter("/");
          }
          if (page.token() == null) {
            request.startAfter(page.after());
          } else {
            request.continuationToken(page.token());
          }
        });
  }

  /**
   * Fails with UNAVAILABLE where the store says 404: a listing without keys is an answer of its
   * own, so the bucket is missing, or a proxy has lost the store. Neither tells that a key is gone.
   */
  @Override
  public ListObjectsV2Response list(Page page, String what) throws FsException {
    try {
      return list(page);
    } catch (RuntimeException e) {
      FsException failure = S3Failures.of(what, e);
      throw failure.code() == FsError.NOT_FOUND
          ? new FsException(FsError.UNAVAILABLE, String.valueOf(failure.getMessage()), e)
          : failure;
    }
  }

  /** Returns the metadata of a key, or null where there is no such key. */
  @Nullable HeadObjectResponse head(String key, String what) throws FsException {
    try {
      return client.headObject(request -> request.bucket(name).key(key).requestPayer(payer));
    } catch (RuntimeException e) {
      FsException failure = S3Failures.of(what, e);
      if (failure.code() == FsError.NOT_FOUND) {
        return null;
      }
      throw failure;
    }
  }

  /**
   * Requests a range of a version; returns when its first byte can be read.
   *
   * @param first first byte
   * @param end the byte after the last one
   */
  ResponseInputStream<GetObjectResponse> get(
      String key, Version version, long first, long end, String what) throws FsException {
    try {
      return client.getObject(
          request ->
              request
                  .bucket(name)
                  .key(key)
                  .ifMatch(version.etag().isEmpty() ? null : '"' + version.etag() + '"')
                  .range("bytes=" + first + "-" + (end - 1))
                  .requestPayer(payer));
    } catch (RuntimeException e) {
      throw S3Failures.of(what, e);
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
