package io.holdfast.it;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.TreeSet;

/**
 * A program that reads one file again and again while it changes: {@code Rereader FILE STAMP
 * SECONDS}. Each pass must be of one version; an error is no harm. Prints {@code passes=N errors=N
 * versions=N wrong=N} and ends with 0 unless a pass was mixed.
 */
final class Rereader {
  private Rereader() {}

  public static void main(String[] arguments) {
    Path file = Path.of(arguments[0]);
    long stamp = Long.parseLong(arguments[1]);
    long end = System.nanoTime() + Duration.ofSeconds(Long.parseLong(arguments[2])).toNanos();
    byte[] buffer = new byte[64 << 10];
    TreeSet<Long> versions = new TreeSet<>();
    int passes = 0;
    int errors = 0;
    int wrong = 0;
    while (System.nanoTime() < end) {
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
