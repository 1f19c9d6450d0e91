package io.holdfast.fs.origin.s3;

import java.util.regex.Pattern;

/**
 * The location of a dataset: a bucket, and a prefix in it that is a directory. Immutable.
 *
 * @param bucket name of the bucket
 * @param prefix the prefix of the dataset's keys: empty, or ending with a slash
 */
public record S3Location(String bucket, String prefix) {
  private static final String SCHEME = "s3://";

  /** Older buckets and other stores have names that S3 would not accept today. */
  private static final Pattern BUCKET =
      Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]");

  /**
   * Creates a location.
   *
   * @throws IllegalArgumentException where the bucket's name is invalid, or a part of the prefix
   *     cannot be a name
   */
  public S3Location {
    if (!BUCKET.matcher(bucket).matches()) {
      throw new IllegalArgumentException("not the name of a bucket: '" + bucket + "'");
    }
    if (!prefix.isEmpty()) {
      String directory = prefix.endsWith("/") ? prefix.substring(0, prefix.length() - 1) : prefix;
      for (String part : directory.split("/", -1)) {
        if (!KeyNames.isName(part)) {
          throw new IllegalArgumentException(
              "not a prefix that is a directory: '" + prefix + "': '" + part + "' is no name");
        }
      }
      prefix = directory + "/";
    }
  }

  /** Tells whether a text means an S3 location, valid or not. */
  public static boolean isMeant(String text) {
    return text.regionMatches(true, 0, SCHEME, 0, SCHEME.length());
  }

  /**
   * Parses {@code s3://bucket} or {@code s3://bucket/prefix}, with or without a slash at the end.
   *
   * @throws IllegalArgumentException where the text is no location; the message says why
   */
  public static S3Location parse(String text) {
    if (!isMeant(text)) {
      throw new IllegalArgumentException("not of the form s3://bucket/prefix: '" + text + "'");
    }
    String path = text.substring(SCHEME.length());
    int slash = path.indexOf('/');
    return slash < 0
        ? new S3Location(path, "")
        : new S3Location(path.substring(0, slash), path.substring(slash + 1));
  }

  /** Returns the text that {@link #parse} takes, without a slash at the end. */
  @Override
  public String toString() {
    return prefix.isEmpty()
        ? SCHEME + bucket
        : SCHEME + bucket + "/" + prefix.substring(0, prefix.length() - 1);
  }
}
