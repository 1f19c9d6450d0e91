package io.holdfast.fs.peers;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A node's description of its dataset: a few files with their versions and digests of some of their
 * bytes. Two nodes with matching sketches most likely have the same dataset; more certainty would
 * cost more reads. Immutable.
 *
 * <pre>
 *   holdfast-sketch 1 SOURCE
 *   PATH TAG CONTENT PLACE          for each file, sorted
 * </pre>
 *
 * @param source the node's source of the dataset, for people
 * @param samples the files, sorted by path
 */
record DatasetSketch(String source, List<FileSample> samples) {
  /** Most files in a sketch, sent or accepted. */
  static final int MOST = 32;

  private static final String HEAD = "holdfast-sketch 1 ";
  private static final int LONGEST_SOURCE = 4096;

  DatasetSketch {
    samples = List.copyOf(samples);
  }

  /**
   * Parses a peer's sketch.
   *
   * @throws IllegalArgumentException where the text is no sketch
   */
  static DatasetSketch parse(String text) {
    List<String> lines = text.lines().toList();
    if (lines.isEmpty() || !lines.get(0).startsWith(HEAD) || lines.size() > MOST + 1) {
      throw new IllegalArgumentException("no sketch of a dataset");
    }
    String source =
        URLDecoder.decode(lines.get(0).substring(HEAD.length()), StandardCharsets.UTF_8);
    if (source.length() > LONGEST_SOURCE) {
      throw new IllegalArgumentException("a source with a name that is too long");
    }
    List<FileSample> samples = new ArrayList<>();
    lines.subList(1, lines.size()).forEach(line -> samples.add(FileSample.parse(line)));
    return new DatasetSketch(source, samples);
  }

  /** Returns a digest of the sketch that fits into a header. */
  String mark() {
    return digest(toString().getBytes(StandardCharsets.US_ASCII));
  }

  static String digest(byte[] bytes) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
      return Base64.getUrlEncoder().withoutPadding().encodeToString(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /** Writes the sketch in the form that peers parse. */
  @Override
  public String toString() {
    return samples.stream()
        .map(sample -> sample + "\n")
        .collect(
            Collectors.joining(
                "", HEAD + URLEncoder.encode(source, StandardCharsets.UTF_8) + "\n", ""));
  }
}
