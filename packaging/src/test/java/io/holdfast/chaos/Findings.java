package io.holdfast.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The violations, each printed as it is found. Thread-safe. */
final class Findings {
  /** After so many the rest is not told any more. */
  private static final int MOST_TOLD = 50;

  private final long start = System.nanoTime();
  private final List<String> violations = new ArrayList<>();

  /** A violation of a rule that is checked all the time. */
  synchronized void violation(String what) {
    violations.add(what);
    if (violations.size() <= MOST_TOLD) {
      say("VIOLATION: " + what);
    }
  }

  synchronized void say(String what) {
    long millis = Duration.ofNanos(System.nanoTime() - start).toMillis();
    System.out.printf("%7.1f s  %s%n", millis / 1000.0, what);
    System.out.flush();
  }

  synchronized int count() {
    return violations.size();
  }

  synchronized List<String> all() {
    return List.copyOf(violations);
  }
}
