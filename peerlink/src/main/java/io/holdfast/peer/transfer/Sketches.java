package io.holdfast.peer.transfer;

import java.util.regex.Pattern;

/**
 * The two datasets that a request is between: the digests of the sketches of asker and asked, as
 * the asker knows them. Immutable.
 *
 * @param asker digest of the asker's sketch
 * @param asked digest of the asked node's sketch
 */
public record Sketches(String asker, String asked) {
  private static final Pattern MARK = Pattern.compile("[A-Za-z0-9_-]{0,64}");
  private static final char SEPARATOR = ';';

  /** No sketch is known; no node sends an item in answer. */
  public static final Sketches NONE = new Sketches("", "");

  /** Checks that both fit into a header. */
  public Sketches {
    if (!MARK.matcher(asker).matches() || !MARK.matcher(asked).matches()) {
      throw new IllegalArgumentException("no digest of a sketch");
    }
  }

  /**
   * Parses the form that {@link #toString()} writes.
   *
   * @throws BadRequestException where the text is malformed
   */
  static Sketches parse(String text) throws BadRequestException {
    int separator = text.indexOf(SEPARATOR);
    if (separator < 0) {
      throw BadRequestException.malformed("no two digests in " + HttpNames.SKETCHES);
    }
    try {
      return new Sketches(text.substring(0, separator), text.substring(separator + 1));
    } catch (IllegalArgumentException e) {
      throw BadRequestException.malformed(String.valueOf(e.getMessage()));
    }
  }

  @Override
  public String toString() {
    return asker + SEPARATOR + asked;
  }
}
