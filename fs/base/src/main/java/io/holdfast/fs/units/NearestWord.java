package io.holdfast.fs.units;

import java.util.List;
import java.util.Optional;

/** Finds the word that somebody most likely meant. Stateless. */
public final class NearestWord {
  private NearestWord() {}

  /** Returns the known word that is nearest to a mistyped one; empty when none is near. */
  public static Optional<String> of(String word, List<String> known) {
    String best = null;
    int least = Integer.MAX_VALUE;
    for (String candidate : known) {
      int distance = distance(word, candidate);
      boolean beginning = word.length() > 3 && candidate.startsWith(word);
      int effective = beginning ? Math.min(distance, 1) : distance;
      if (effective < least) {
        least = effective;
        best = candidate;
      }
    }
    return least <= word.length() / 3 ? Optional.ofNullable(best) : Optional.empty();
  }

  /**
   * Returns the number of letters that must be changed, removed, inserted or swapped with their
   * neighbour to turn one word into the other (optimal string alignment).
   */
  static int distance(String a, String b) {
    int[][] d = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      d[i][0] = i;
    }
    for (int j = 0; j <= b.length(); j++) {
      d[0][j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      for (int j = 1; j <= b.length(); j++) {
        int change = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        int least = Math.min(d[i - 1][j - 1] + change, Math.min(d[i - 1][j], d[i][j - 1]) + 1);
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          least = Math.min(least, d[i - 2][j - 2] + 1);
        }
        d[i][j] = least;
      }
    }
    return d[a.length()][b.length()];
  }
}
