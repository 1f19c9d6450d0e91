package io.holdfast.fs.origin.s3;

import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Guesses where a range of sorted keys may be divided, when nothing is known but the keys that were
 * seen. Keys of datasets differ at a few positions, by letters and digits that occur elsewhere,
 * too. So a point is the last key that was seen, cut off at some position, with one of the letters
 * and digits behind its own there. Thread-safe; the monitor guards the characters.
 *
 * <p>Points have no other slashes than the key that they come from, so that the directories they
 * lie in are known.
 */
final class SplitPoints {
  /** Keys of a page that are looked at for their characters. */
  private static final int SAMPLES = 20;

  /** Below it the order of characters is the same in UTF-8 and UTF-16. */
  private static final char FIRST_OUT_OF_ORDER = Character.MIN_SURROGATE;

  private final int base;
  private final BitSet seen = new BitSet(128);

  /**
   * Creates one that has seen nothing.
   *
   * @param base what all keys have in common, characters
   */
  SplitPoints(int base) {
    this.base = base;
  }

  /** Takes note of the characters of some keys. */
  synchronized void learn(List<String> keys) {
    int step = Math.max(1, keys.size() / SAMPLES);
    for (int i = 0; i < keys.size(); i += step) {
      keys.get(i).chars().filter(c -> kindOf(c) != Kind.OTHER).forEach(seen::set);
    }
  }

  private enum Kind {
    DIGIT,
    UPPER,
    LOWER,
    OTHER
  }

  private static Kind kindOf(int c) {
    if (c >= '0' && c <= '9') {
      return Kind.DIGIT;
    }
    if (c >= 'A' && c <= 'Z') {
      return Kind.UPPER;
    }
    return c >= 'a' && c <= 'z' ? Kind.LOWER : Kind.OTHER;
  }

  /**
   * The bounds of a range, and the keys that are known of it.
   *
   * @param first the first key of the page that was read last
   * @param last its last key; the range begins behind it
   * @param next the first key behind the range, or else where it ends; null where it has no end
   * @param real whether {@code next} is a key
   */
  record Known(String first, String last, @Nullable String next, boolean real) {}

  /**
   * Returns a text between the last key and the end of the range, or null where none is in sight.
   */
  @Nullable String between(Known known) {
    String last = known.last;
    String next = known.next;
    int fork = next == null ? base : Math.max(base, differenceOf(last, next));
    int fromPosition = known.real ? fork : guess(known, fork);
    for (int i = fromPosition; i < last.length(); i++) {
      String point = at(i, last, i == fork ? next : null);
      if (point != null) {
        return point;
      }
    }
    for (int i = fromPosition - 1; i >= fork; i--) {
      String point = at(i, last, i == fork ? next : null);
      if (point != null) {
        return point;
      }
    }
    return null;
  }

  /**
   * Guesses the position of the next change. Characters that did not change within a page, but are
   * in one run of digits or letters with characters that did, will change later: the number in
   * {@code img_0000123}. The middle of that run is coarse enough to have keys behind it, and fine
   * enough to have keys at all.
   */
  private int guess(Known known, int fork) {
    String last = known.last;
    int changed = Math.max(fork, differenceOf(known.first, last));
    int lowest = known.next == null ? base : fork + 1;
    int begin = changed;
    while (begin > lowest && kindOf(last.charAt(begin - 1)) == kindOf(last.charAt(changed - 1))) {
      begin--;
    }
    boolean run = begin < changed && kindOf(last.charAt(changed - 1)) != Kind.OTHER;
    return run ? (begin + changed - 1) / 2 : changed;
  }

  private static int differenceOf(String a, String b) {
    int i = 0;
    while (i < a.length() && i < b.length() && a.charAt(i) == b.charAt(i)) {
      i++;
    }
    return i;
  }

  /** The middle one of the characters that may stand at a position. */
  private synchronized @Nullable String at(int position, String last, @Nullable String next) {
    for (int i = 0; i < position; i++) {
      if (last.charAt(i) >= FIRST_OUT_OF_ORDER) {
        return null;
      }
    }
    int above = position < last.length() ? last.charAt(position) + 1 : 0;
    int below = next != null && position < next.length() ? next.charAt(position) : seen.size();
    BitSet candidates = new BitSet();
    BitSet alike = new BitSet();
    for (int c = seen.nextSetBit(above); c >= 0 && c < below; c = seen.nextSetBit(c + 1)) {
      candidates.set(c);
      alike.set(c, kindOf(c) == kindOf(above - 1));
    }
    if (!alike.isEmpty()) {
      candidates = alike;
    }
    if (candidates.isEmpty()) {
      return null;
    }
    int skip = (candidates.cardinality() - 1) / 2;
    int chosen = candidates.nextSetBit(0);
    for (int i = 0; i < skip; i++) {
      chosen = candidates.nextSetBit(chosen + 1);
    }
    return last.substring(0, position) + (char) chosen;
  }
}
