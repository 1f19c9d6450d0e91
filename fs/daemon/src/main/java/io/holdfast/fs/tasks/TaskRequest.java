package io.holdfast.fs.tasks;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request for a task, without names. Immutable.
 *
 * @param order the order of the files
 * @param threads concurrent fetches
 * @param background whether the task goes on without a client
 * @param force whether to release residents that their names protect, too
 * @param size the new capacity, as users write it; null for none
 * @param upTo whether the new capacity may be smaller, where --memory does not leave as much
 * @param withinBudget whether the new capacity is another part of the node's budget
 */
record TaskRequest(
    Kind kind,
    List<String> globs,
    Order order,
    int threads,
    boolean background,
    boolean force,
    @Nullable String size,
    boolean upTo,
    boolean withinBudget) {
  static final int MOST_THREADS = 256;
  private static final int DEFAULT_THREADS = 16;

  /** The kinds of tasks. */
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

  /** The order in which a task takes files. */
  enum Order {
    /** By name if all files fit, so that a disk is read in order; otherwise random. */
    AUTO,
    /** As given; files of folders as they became known. */
    LIST,
    /** By name, folder by folder. */
    NAME,
    /** Random, but always the same. */
    RANDOM
  }

  /**
   * Parses a request.
   *
   * @throws FsException INVALID where the request is malformed
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
          size == null ? null : String.valueOf(size),
          Boolean.TRUE.equals(request.get("up_to")),
          Boolean.TRUE.equals(request.get("within_budget")));
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
