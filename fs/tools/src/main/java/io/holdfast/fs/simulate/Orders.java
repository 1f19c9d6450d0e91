package io.holdfast.fs.simulate;

import io.holdfast.policy.simulator.AccessOrder;
import java.util.List;

/** The orders in which files can be read, by the names that users give. Stateless. */
public final class Orders {
  /** The name of a shuffled order of several nodes, each of which knows the coming epochs. */
  public static final String KNOWN = "known";

  private static final List<String> FORMS =
      List.of("shuffle", "sequential", "window[:FILES]", "skewed[:EXPONENT]", "one-pass", KNOWN);

  private static final int DEFAULT_WINDOW = 1_000;
  private static final double DEFAULT_EXPONENT = 0.9;
  private static final double LARGEST_EXPONENT = 10;

  private Orders() {}

  /** An order for any number of files. */
  @FunctionalInterface
  public interface Choice {
    /** Returns the order of file numbers. */
    AccessOrder of(int files, int epochs, long seed);
  }

  /**
   * Parses an order: {@code shuffle}, {@code sequential}, {@code window}, {@code window:1000},
   * {@code skewed}, {@code skewed:0.9}, {@code one-pass}, {@code known}.
   *
   * @throws IllegalArgumentException if the text is wrong, with one line that names it and says
   *     what is allowed
   */
  public static Choice parse(String text) {
    int colon = text.indexOf(':');
    String name = colon < 0 ? text : text.substring(0, colon);
    String argument = colon < 0 ? "" : text.substring(colon + 1);
    boolean bare = colon < 0;
    if (bare && name.equals("shuffle")) {
      return (files, epochs, seed) -> AccessOrder.shuffle(files);
    }
    if (bare && name.equals(KNOWN)) {
      return (files, epochs, seed) -> AccessOrder.known(files);
    }
    if (bare && name.equals("sequential")) {
      return (files, epochs, seed) -> AccessOrder.sequential(files);
    }
    if (bare && name.equals("one-pass")) {
      return (files, epochs, seed) -> AccessOrder.onePass(files, epochs);
    }
    if (name.equals("window")) {
      int window = bare ? DEFAULT_WINDOW : Numbers.whole(argument, 1, Integer.MAX_VALUE);
      return (files, epochs, seed) -> AccessOrder.window(files, window);
    }
    if (name.equals("skewed")) {
      double exponent =
          bare ? DEFAULT_EXPONENT : Numbers.between(argument, 0, LARGEST_EXPONENT, "exponent");
      return (files, epochs, seed) -> AccessOrder.skewed(files, exponent, seed);
    }
    throw new IllegalArgumentException(
        "'" + text + "' is not known: choose one of " + String.join(", ", FORMS));
  }
}
