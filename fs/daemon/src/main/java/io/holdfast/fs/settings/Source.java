package io.holdfast.fs.settings;

import io.holdfast.fs.origin.s3.S3Location;
import java.nio.file.Path;

/**
 * The place of a dataset: a directory, or objects in S3. {@link #parse} takes what {@code toString}
 * returns. Immutable.
 */
public sealed interface Source {
  /** Tells whether a user's text is the path of a directory, and no URL, of whatever kind. */
  static boolean isPath(String text) {
    return !text.matches("(?s)[A-Za-z][A-Za-z0-9+.-]*://.*");
  }

  /**
   * A directory of this machine, on any filesystem.
   *
   * @param path absolute
   */
  record Directory(Path path) implements Source {
    @Override
    public String lastPart() {
      Path name = path.getFileName();
      return name == null ? "" : name.toString();
    }

    @Override
    public String toString() {
      return path.toString();
    }
  }

  /** Objects in S3, or in a store that is compatible with it. */
  record S3(S3Location location) implements Source {
    @Override
    public String lastPart() {
      String name = location.toString();
      return name.substring(name.lastIndexOf('/') + 1);
    }

    @Override
    public String toString() {
      return location.toString();
    }
  }

  /**
   * Parses a user's text.
   *
   * @param text {@code s3://bucket/prefix}, or the path of a directory, which may be relative
   * @throws IllegalArgumentException if it is neither, with one line for the user
   */
  static Source parse(String text) {
    if (S3Location.isMeant(text)) {
      return objects(text);
    }
    if (!isPath(text)) {
      throw new IllegalArgumentException(
          "source '%s' is of no kind that Holdfast reads: give a directory, or s3://BUCKET/PREFIX"
              .formatted(text));
    }
    if (text.isEmpty()) {
      throw new IllegalArgumentException("SOURCE is empty: give a directory");
    }
    return new Directory(Path.of(text).toAbsolutePath().normalize());
  }

  private static Source objects(String text) {
    try {
      return new S3(S3Location.parse(text));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "source '%s' is %s: write s3://BUCKET/PREFIX".formatted(text, e.getMessage()), e);
    }
  }

  /** Returns the last part of its name: of the path or the prefix, or else the bucket. */
  String lastPart();
}
