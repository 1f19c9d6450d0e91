package io.holdfast.it;

import java.io.IOException;
import java.nio.file.Path;
import java.util.TreeSet;

/**
 * A program that reads one file again and again while it changes, until it has seen a number of
 * versions: {@code Rereader FILE STAMP VERSIONS}. Each pass must be of one version; an error is no
 * harm. Prints {@code passes=N errors=N versions=N wrong=N} and ends with 0 unless a pass was
 * mixed.
 */
final class Rereader {
  private Rereader() {}

  public static void main(String[] arguments) {
    Path file = Path.of(arguments[0]);
    long stamp = Long.parseLong(arguments[1]);
    int wanted = Integer.parseInt(arguments[2]);
    byte[] buffer = new byte[64 << 10];
    TreeSet<Long> versions = new TreeSet<>();
    int passes = 0;
    int errors = 0;
    int wrong = 0;
    while (versions.size() < wanted) {
      try {
        WholeRead read = WholeRead.of(file, stamp, buffer);
        passes++;
        versions.add(read.finding().version());
        if (!read.finding().isWhole()) {
          wrong++;
          System.err.println(read);
        }
      } catch (IOException e) {
        errors++;
      }
    }
    System.out.printf(
        "passes=%d errors=%d versions=%d wrong=%d%n", passes, errors, versions.size(), wrong);
    System.exit(wrong == 0 ? 0 : 3);
  }
}
