package io.holdfast.fs.settings;

import io.holdfast.fs.units.Durations;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Sizes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How values of settings are written, wherever somebody gives them, and how they are shown.
 * Immutable.
 *
 * @param <T> what a value is in the program
 * @param label what values look like, for a help: {@code SIZE|P%}
 * @param shape how many there are, and of what
 * @param mayBeNone whether {@link #NONE} says that there is to be no value
 * @param parser reads what was given
 * @param exact writes a value so that the parser reads the same
 */
record Kind<T>(
    String label,
    Shape shape,
    boolean mayBeNone,
    Parser<T> parser,
    Function<T, @Nullable Object> exact) {
  /** The word for a value that is not to be there, where a label says so. */
  static final String NONE = "none";

  /** The text of what is not there. */
  private static final String NOTHING = "-";

  private static final String INDEFINITE = "indefinite";
  private static final int OCTAL = 8;

  /** Longer sizes, as 78125000K, nobody reads. */
  private static final int LONGEST_EXACT = 5;

  private static final Map<String, String> BOOLEANS =
      Map.of(
          "true", "true", "yes", "true", "on", "true", "false", "false", "no", "false", "off",
          "false");

  /** How many values a setting takes, and whether somebody else has to know more of them. */
  enum Shape {
    ONE,
    PATH,
    /** A path, or the name of a store. */
    PLACE,
    YES_OR_NO,
    /** Given several times, or as a list. */
    LIST
  }

  /** Reads what was given. */
  interface Parser<T> {
    /**
     * Reads values.
     *
     * @param values at least one; one but for {@link Shape#LIST}
     * @param memory of the machine, in bytes, which percentages are of
     * @return null for {@link #NONE}
     * @throws IllegalArgumentException with what is wrong and what is wanted
     */
    @Nullable T parse(List<String> values, long memory);
  }

  /** Bytes. */
  static Kind<Long> size() {
    return new Kind<>("SIZE", Shape.ONE, false, (v, memory) -> Sizes.parse(v.get(0)), Sizes::exact);
  }

  /** Bytes, also as a percentage of the machine's memory. */
  static Kind<Long> share() {
    return new Kind<>(
        "SIZE|P%", Shape.ONE, false, (v, memory) -> Sizes.parse(v.get(0), memory), Sizes::exact);
  }

  /** A time. */
  static Kind<Duration> time() {
    return of("TIME", Durations::parse, Durations::exact);
  }

  /** A time that may be {@link Settings#INDEFINITE}. */
  static Kind<Duration> timeOrIndefinite() {
    return of(
        "TIME|" + INDEFINITE,
        text -> text.equals(INDEFINITE) ? Settings.INDEFINITE : Durations.parse(text),
        time -> time.equals(Settings.INDEFINITE) ? INDEFINITE : Durations.exact(time));
  }

  /** A text of a form of its own. */
  static Kind<String> text(String label) {
    return of(label, Function.identity());
  }

  /** What a type reads and writes by itself. */
  static <T> Kind<T> of(String label, Function<String, T> parse) {
    return of(label, parse, Object::toString);
  }

  private static <T> Kind<T> of(
      String label, Function<String, T> parse, Function<T, String> exact) {
    return new Kind<>(label, Shape.ONE, false, (v, memory) -> parse.apply(v.get(0)), exact::apply);
  }

  /** One of several words. */
  static <E extends Enum<E>> Kind<E> choice(E[] values) {
    String label = Arrays.stream(values).map(Kind::word).collect(Collectors.joining("|"));
    return choice(label, values);
  }

  /** The same where the words are too many for a help. */
  static <E extends Enum<E>> Kind<E> choice(String label, E[] values) {
    return of(label, text -> one(values, text), Kind::word);
  }

  /** Permission bits. */
  static Kind<Integer> mode() {
    return of(
        "OCTAL",
        text -> {
          Settings.require(
              text.matches("0?[0-7]{3}"), "'%s' is no mode: write three octal digits: 644", text);
          return Integer.parseInt(text, OCTAL);
        },
        mode -> String.format(Locale.ROOT, "%04o", mode));
  }

  /** A user or a group. */
  static Kind<Integer> owner() {
    return of(
        "NUMBER",
        text -> {
          Settings.require(
              text.matches("[0-9]{1,9}"), "'%s' is no number of a user or group", text);
          return Integer.parseInt(text);
        });
  }

  /** A file or directory of this machine. */
  static Kind<Path> path(String label) {
    return new Kind<>(label, Shape.PATH, false, (v, memory) -> Path.of(v.get(0)), Path::toString);
  }

  /** One of the two places of a mount. */
  static <T> Kind<T> place(String label, Function<String, T> parse) {
    return new Kind<>(
        label, Shape.PLACE, false, (v, memory) -> parse.apply(v.get(0)), Object::toString);
  }

  /** On or off. */
  static Kind<Boolean> yesOrNo() {
    return new Kind<>(
        "true|false",
        Shape.YES_OR_NO,
        false,
        (v, memory) -> "true".equals(BOOLEANS.get(v.get(0))),
        value -> value ? "yes" : "no");
  }

  /** Names and paths with wildcards. */
  static Kind<List<String>> patterns() {
    return new Kind<>("GLOB", Shape.LIST, false, (v, memory) -> List.copyOf(v), value -> value);
  }

  /** The same, and a word for nothing at all. */
  Kind<T> orNone() {
    return new Kind<>(
        label + "|" + NONE,
        shape,
        true,
        (v, memory) -> v.get(0).equals(NONE) ? null : parser.parse(v, memory),
        exact);
  }

  /** Tells whether a value is a path of this machine. */
  boolean isPath(String value) {
    return shape == Shape.PLACE
        ? !Source.URL.matcher(value).matches()
        : shape == Shape.PATH && !(mayBeNone && value.equals(NONE));
  }

  /** Tells whether the one value is several, with commas between. */
  boolean isCommaList() {
    return label.contains(",...");
  }

  /** Tells whether values name files. */
  boolean namesFiles() {
    return shape == Shape.PATH || shape == Shape.LIST;
  }

  /**
   * Makes one text of those that mean the same, also in another process.
   *
   * @throws IllegalArgumentException where it is to be on or off, and is neither
   */
  String normal(String value) {
    if (shape == Shape.YES_OR_NO) {
      String known = BOOLEANS.get(value);
      Settings.require(known != null, "'%s' is not known: write true or false", value);
      return String.valueOf(known);
    }
    return isPath(value) ? Path.of(value).toAbsolutePath().normalize().toString() : value;
  }

  /**
   * Returns a value as an option or a file would give it; a list where there may be several; null
   * where there is none, and no word for that.
   */
  @Nullable Object exact(@Nullable T value) {
    if (value == null) {
      return mayBeNone ? NONE : null;
    }
    return exact.apply(value);
  }

  /** Returns a value for people; long sizes in words as well. */
  String text(@Nullable T value) {
    Object exact = exact(value);
    if (value instanceof Long bytes && String.valueOf(exact).length() > LONGEST_EXACT) {
      return exact + " (" + Human.bytes(bytes) + ")";
    }
    if (exact instanceof List<?> list) {
      return list.isEmpty()
          ? NOTHING
          : list.stream().map(String::valueOf).collect(Collectors.joining(" "));
    }
    return exact == null ? NOTHING : exact.toString();
  }

  /** Returns the value that is written so. */
  private static <E extends Enum<E>> E one(E[] values, String text) {
    return Arrays.stream(values)
        .filter(value -> word(value).equals(text))
        .findFirst()
        .orElseThrow(() -> unknown(text, Arrays.stream(values).map(Kind::word).toList()));
  }

  /** Says that a word is none of those that are known. */
  static IllegalArgumentException unknown(String text, List<String> known) {
    return new IllegalArgumentException(
        "'%s' is not known: choose one of %s".formatted(text, String.join(", ", known)));
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
