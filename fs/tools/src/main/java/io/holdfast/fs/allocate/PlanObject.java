package io.holdfast.fs.allocate;

import io.holdfast.fs.units.NearestWord;
import io.holdfast.fs.units.Sizes;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An object of a file that a user wrote, such as a plan: takes values by their keys. What is wrong
 * is an {@link IllegalArgumentException} with one line that names the key and says what to do.
 * Immutable.
 */
public final class PlanObject {
  private static final int LONGEST_TEXT = 255;

  private final String place;
  private final Map<?, ?> values;

  /**
   * Takes one.
   *
   * @param place where it is in the file; empty for the whole
   */
  public PlanObject(String place, Map<?, ?> values) {
    this.place = place;
    this.values = values;
  }

  /**
   * Takes a value that must be an object.
   *
   * @param thing what it describes, such as a mount
   */
  public static PlanObject of(String place, String thing, @Nullable Object value) {
    if (value instanceof Map<?, ?> object) {
      return new PlanObject(place, object);
    }
    throw new IllegalArgumentException(
        "%s must be an object with the keys of a %s (was %s)"
            .formatted(place, thing, shown(value)));
  }

  /** Returns the same, whose place also says a name. */
  public PlanObject named(String name) {
    return new PlanObject(place + " ('" + name + "')", values);
  }

  /** Requires that it has no other keys. */
  public void requireKnown(List<String> known) {
    for (Object key : values.keySet()) {
      String word = String.valueOf(key);
      if (!known.contains(word)) {
        throw new IllegalArgumentException(
            "%s is unknown: %s"
                .formatted(
                    path(word),
                    NearestWord.of(word, known)
                        .map(near -> "did you mean '" + near + "'?")
                        .orElse("choose one of " + String.join(", ", known))));
      }
    }
  }

  /** Tells whether a key is there. */
  public boolean has(String key) {
    return values.containsKey(key);
  }

  /** Returns a text of 1 to 255 characters. */
  public String text(String key) {
    Object value = required(key, "a text");
    if (value instanceof String text && !text.isBlank() && text.length() <= LONGEST_TEXT) {
      return text;
    }
    throw wrong(key, "must be a text of 1 to " + LONGEST_TEXT + " characters");
  }

  Map<?, ?> object(String key, String keys) {
    Object value = required(key, "an object with " + keys);
    if (value instanceof Map<?, ?> object) {
      return object;
    }
    throw wrong(key, "must be an object with " + keys);
  }

  /**
   * Returns bytes that are written as people do, such as {@code 64G}.
   *
   * @param whole bytes that {@code 100%} stands for
   */
  long size(String key, long least, long whole) {
    Object value = required(key, "a size, such as 64G");
    if (!(value instanceof String || value instanceof Number)) {
      throw wrong(key, "must be a size, such as 64G");
    }
    try {
      long size = Sizes.parse(value.toString(), whole);
      if (size >= least) {
        return size;
      }
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(path(key) + " " + e.getMessage(), e);
    }
    throw wrong(key, "must be greater than 0");
  }

  /**
   * Returns the elements of an array.
   *
   * @param things what they describe, in the plural
   */
  public List<?> list(String key, String things) {
    Object value = required(key, "an array of " + things);
    if (value instanceof List<?> list) {
      return list;
    }
    throw wrong(key, "must be an array");
  }

  /** Returns bytes per second, rounded to a whole number. */
  long rate(String key, long most) {
    return number(key, 1, most).setScale(0, RoundingMode.HALF_UP).longValueExact();
  }

  /** Returns a whole number, or another one where the key is not there. */
  public long whole(String key, long least, long most, long otherwise) {
    return has(key) ? whole(key, least, most) : otherwise;
  }

  /** Returns a whole number from the least to the most. */
  public long whole(String key, long least, long most) {
    BigDecimal number = number(key, least, most);
    if (number.stripTrailingZeros().scale() > 0) {
      throw wrong(key, "must be a whole number");
    }
    return number.longValueExact();
  }

  /** Compares a number before anybody writes it out: 1e999999999 is short only as it is. */
  private BigDecimal number(String key, long least, long most) {
    String wanted = "a number from %,d to %,d".formatted(least, most);
    BigDecimal number = decimal(required(key, wanted));
    if (number == null
        || number.compareTo(BigDecimal.valueOf(least)) < 0
        || number.compareTo(BigDecimal.valueOf(most)) > 0) {
      throw wrong(key, "must be " + wanted);
    }
    return number;
  }

  /** Returns what to throw for a value that is wrong. */
  public IllegalArgumentException wrong(String key, String rule) {
    return new IllegalArgumentException(
        "%s %s (was %s)".formatted(path(key), rule, shown(values.get(key))));
  }

  private Object required(String key, String wanted) {
    if (!has(key)) {
      throw new IllegalArgumentException(path(key) + " is missing: give " + wanted);
    }
    Object value = values.get(key);
    if (value == null) {
      throw wrong(key, "must be " + wanted);
    }
    return value;
  }

  private String path(String key) {
    return place.isEmpty() ? key : place + "." + key;
  }

  private static @Nullable BigDecimal decimal(Object value) {
    if (value instanceof BigDecimal decimal) {
      return decimal;
    }
    if (value instanceof BigInteger whole) {
      return new BigDecimal(whole);
    }
    if (value instanceof Double real) {
      return Double.isFinite(real) ? BigDecimal.valueOf(real) : null;
    }
    return value instanceof Long || value instanceof Integer
        ? BigDecimal.valueOf(((Number) value).longValue())
        : null;
  }

  private static String shown(@Nullable Object value) {
    String text =
        value instanceof Map ? "an object" : value instanceof List ? "an array" : text(value);
    return text.length() <= 60 ? text : text.substring(0, 60) + "...";
  }

  private static String text(@Nullable Object value) {
    return value instanceof String ? "'" + value + "'" : String.valueOf(value);
  }
}
