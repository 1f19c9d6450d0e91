package io.holdfast.fs.cli;

import io.holdfast.fs.checkpoint.daemon.StorePlace;
import io.holdfast.fs.settings.SettingTable;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of a store in S3, as those of a dataset there. Not thread-safe. */
final class S3Options {
  private static final String ENDPOINT = "--s3-endpoint";
  private static final String REGION = "--s3-region";
  private static final String PATH_STYLE = "--s3-path-style";

  @Option(
      names = ENDPOINT,
      paramLabel = "URL",
      description =
          "Where a store other than AWS is: http://HOST:PORT. Default: AWS, or what the environment"
              + " says.")
  private @Nullable String endpoint;

  @Option(
      names = REGION,
      paramLabel = "REGION",
      description =
          "The bucket's region, as AWS calls it. Default: from the environment or ~/.aws/config.")
  private @Nullable String region;

  @Option(
      names = PATH_STYLE,
      description =
          "Send the bucket's name in the path of requests, not in the host's name; many stores"
              + " other than AWS want that.")
  private boolean pathStyle;

  /** Tells whether any of them was given. */
  boolean isGiven() {
    return pathStyle || Stream.of(endpoint, region).anyMatch(value -> value != null);
  }

  /**
   * Returns the place of a store.
   *
   * @throws IllegalArgumentException with one line if a value is wrong
   */
  StorePlace.Bucket place(String location) {
    URI address = endpoint == null ? null : SettingTable.endpoint(endpoint);
    if (region != null) {
      SettingTable.requireRegion(region);
    }
    return new StorePlace.Bucket(location, address, region, pathStyle);
  }

  /** Returns the words that lead to the same place again. */
  static List<String> words(StorePlace.Bucket place) {
    List<String> words = new ArrayList<>();
    if (place.endpoint() != null) {
      words.add(ENDPOINT + "=" + place.endpoint());
    }
    if (place.region() != null) {
      words.add(REGION + "=" + place.region());
    }
    if (place.pathStyle()) {
      words.add(PATH_STYLE);
    }
    return words;
  }
}
