package io.holdfast.peer.transfer;

import java.util.regex.Pattern;

/**
 * Which datasets a request is between: the digests of what asker and asked tell of theirs, as the
 * asker knows them. Immutable.
 *
 * @param asker of the node that asks
 * @param asked of the node that is asked
 */
public record Sketches(String asker, String asked) {
  private static final Pattern MARK = Pattern.compile("[A-Za-z0-9_-]{0,64}");
  private static final char SEPARATOR = ';';

  /** Nothing is known of either; nobody serves an item to that. */
  public static final Sketches NONE = new Sketches("", "");

  /** Checks that both can stand in a header. */
  public Sketches {
    if (!MARK.matcher(asker).matches() || !MARK.matcher(asked).matches()) {
      throw new IllegalArgumentException("no digest of a sketch");
    }
  }

  /**
   * Reads what {@link #toString()} writes.
   *
   * @throws BadRequestException where it is something else
   */
  static Sketches parse(String text) throws BadRequestException {
    int separator = text.indexOf(SEPARATOR);
    if (separator < 0) {
      throw BadRequestException.malformed("no two digests in " + Wire.SKETCHES);
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
