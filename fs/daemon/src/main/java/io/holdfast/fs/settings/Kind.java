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
 * How users write the values of settings, and how the values are shown. Immutable.
 *
 * @param <T> the type of a value in the program
 * @param label the form of a value, for a help: {@code SIZE|P%}
 * @param shape how many values there are, and whether they are places or paths
 * @param mayBeNone whether {@link #NONE} means that there is no value
 * @param parser parses the given texts
 * @param exact writes a value so that the parser returns the same
 */
record Kind<T>(
    String label,
    Shape shape,
    boolean mayBeNone,
    Parser<T> parser,
    Function<T, @Nullable Object> exact) {
  /** The word for no value, if the label has it. */
  static final String NONE = "none";

  /** The text that shows no value. */
  private static final String NOTHING = "-";

  private static final String INDEFINITE = "indefinite";
  private static final int OCTAL = 8;

  /** Stands for no user or group in calls of the kernel. */
  private static final long NOBODY = 0xffff_ffffL;

  /** The longest size that is shown exactly: nobody reads 78125000K. */
  private static final int LONGEST_EXACT = 5;

  private static final Map<String, String> BOOLEANS =
      Map.of(
          "true", "true", "yes", "true", "on", "true", "false", "false", "no", "false", "off",
          "false");

  /** How many values a setting takes, and whether they are places or paths. */
  enum Shape {
    ONE,
    PATH,
    /** A path, or the name of a store. */
    PLACE,
    YES_OR_NO,
    /** Given several times, or as a list. */
    LIST
  }

  /** Parses the given texts. */
  interface Parser<T> {
    /**
     * Parses values.
     *
     * @param values at least one; one but for {@link Shape#LIST}
     * @param memory the machine's memory, in bytes; percentages are of it
     * @return null for {@link #NONE}
     * @throws IllegalArgumentException if a value is wrong, with what is wrong and what is allowed
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

  /** A text of another form. */
  static Kind<String> text(String label) {
    return of(label, Function.identity());
  }

  /** A type that parses and writes itself. */
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

  /** The same, if the words are too many for a help. */
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

  /** A user or a group, as the kernel has them: 32 bits without a sign. */
  static Kind<Integer> owner() {
    return of(
        "NUMBER",
        text -> {
          Settings.require(
              text.matches("[0-9]{1,10}") && Long.parseLong(text) < NOBODY,
              "'%s' is no number of a user or group: write one from 0 to %d",
              text,
              NOBODY - 1);
          return Integer.parseUnsignedInt(text);
        },
        Integer::toUnsignedString);
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

  /** The same kind, with {@link #NONE} for no value. */
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
        ? Source.isPath(value)
        : shape == Shape.PATH && !(mayBeNone && value.equals(NONE));
  }

  /** Tells whether the one value is a list with commas. */
  boolean isCommaList() {
    return label.contains(",...");
  }

  /** Tells whether values name files. */
  boolean namesFiles() {
    return shape == Shape.PATH || shape == Shape.LIST;
  }

  /**
   * Returns the same text for all texts that mean the same, also in another process.
   *
   * @throws IllegalArgumentException if the setting is on or off, and the value is neither
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
   * Returns a value as an option or a file would give it: a list if there may be several; null if
   * there is no value, and no word for that.
   */
  @Nullable Object exact(@Nullable T value) {
    if (value == null) {
      return mayBeNone ? NONE : null;
    }
    return exact.apply(value);
  }

  /** Returns a value as text for people; a long size also in a larger unit. */
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

  /** Returns the value of a word. */
  private static <E extends Enum<E>> E one(E[] values, String text) {
    return Arrays.stream(values)
        .filter(value -> word(value).equals(text))
        .findFirst()
        .orElseThrow(() -> unknown(text, Arrays.stream(values).map(Kind::word).toList()));
  }

  /** Returns an exception that says that a word is not known. */
  static IllegalArgumentException unknown(String text, List<String> known) {
    return new IllegalArgumentException(
        "'%s' is not known: choose one of %s".formatted(text, String.join(", ", known)));
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
