package io.holdfast.fs.tasks;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is asked for, without names. Immutable.
 *
 * @param order in which files are taken
 * @param threads how many fetch at once
 * @param background whether it goes on when nobody asks after it
 * @param force whether also what is to stay is given up
 * @param size of the new capacity, as people write it; null for none
 */
record TaskRequest(
    Kind kind,
    List<String> globs,
    Order order,
    int threads,
    boolean background,
    boolean force,
    @Nullable String size) {
  static final int MOST_THREADS = 256;
  private static final int DEFAULT_THREADS = 16;

  /** What can be asked for. */
  enum Kind {
    WARM,
    CHECK,
    PIN,
    UNPIN,
    DROP,
    CAPACITY;

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** In which order files are taken. */
  enum Order {
    /** By name where all fits, so that a disk is read in order; else a random one. */
    AUTO,
    /** As they were given; files of folders as they became known. */
    LIST,
    /** By name, folder by folder. */
    NAME,
    /** A random one, always the same. */
    RANDOM
  }

  /**
   * Reads a request.
   *
   * @throws FsException INVALID where it makes no sense
   */
  static TaskRequest of(Map<String, Object> request) throws FsException {
    try {
      Object size = request.get("size");
      return new TaskRequest(
          Kind.valueOf(text(request, "begin", "").toUpperCase(Locale.ROOT)),
          texts(request, "globs"),
          Order.valueOf(text(request, "order", "list").toUpperCase(Locale.ROOT)),
          threads(request.get("threads")),
          Boolean.TRUE.equals(request.get("background")),
          Boolean.TRUE.equals(request.get("force")),
          size == null ? null : String.valueOf(size));
    } catch (IllegalArgumentException e) {
      throw new FsException(FsError.INVALID, "no such task: " + e.getMessage(), e);
    }
  }

  private static int threads(@Nullable Object value) {
    int threads = value instanceof Number number ? number.intValue() : DEFAULT_THREADS;
    if (threads < 1 || threads > MOST_THREADS) {
      throw new IllegalArgumentException("threads: from 1 to " + MOST_THREADS);
    }
    return threads;
  }

  private static String text(Map<String, Object> request, String key, String otherwise) {
    return String.valueOf(request.getOrDefault(key, otherwise));
  }

  /** Returns a list of texts; empty where there is none. */
  static List<String> texts(Map<String, Object> request, String key) {
    return request.get(key) instanceof List<?> list
        ? list.stream().map(String::valueOf).toList()
        : List.of();
  }
}
