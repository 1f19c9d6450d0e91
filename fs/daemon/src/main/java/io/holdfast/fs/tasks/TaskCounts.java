package io.holdfast.fs.tasks;

import io.holdfast.fs.transit.Item;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * A task's progress in files, items and bytes. A file counts under the kind of its last item.
 * Thread-safe; the monitor guards the list of failures.
 */
final class TaskCounts {
  private static final int MOST_FAILURES = 10;

  private final TaskParts parts;
  private final Map<Kind, Sum> sums = new EnumMap<>(Kind.class);
  private final List<String> failures = new ArrayList<>();
  private volatile long files;
  private volatile long bytes;

  /** The state in which the task found an item, or left it. */
  enum Kind {
    /** Already resident before the task. */
    RESIDENT,
    /** Fetched by the task, and resident. */
    FETCHED,
    /** Not resident, because there is no room or the policy refuses it. */
    UNFIT,
    /** Owned by another node, or excluded by its name. */
    OTHER,
    /** Could not be fetched or pinned. */
    FAILED,
    /** Not resident, and would be admitted. */
    MISSING,
    /** Released, or now kept or no longer kept. */
    CHANGED,
    /** Not released, because its name protects it. */
    KEPT;

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private static final class Sum {
    final LongAdder files = new LongAdder();
    final LongAdder items = new LongAdder();
    final LongAdder bytes = new LongAdder();
  }

  TaskCounts(TaskParts parts) {
    this.parts = parts;
    for (Kind kind : Kind.values()) {
      sums.put(kind, new Sum());
    }
  }

  /** Records the number and the bytes of all files. */
  void total(long allFiles, long allBytes) {
    files = allFiles;
    bytes = allBytes;
  }

  void add(Kind kind, Item item) {
    Sum sum = sum(kind);
    sum.items.increment();
    sum.bytes.add(item.length());
    if (parts.isLast(item)) {
      sum.files.increment();
    }
  }

  /** Counts an empty file, which has no items, as resident. */
  void addEmpty() {
    sum(Kind.RESIDENT).files.increment();
  }

  /** Counts items that tasks skip as without room. */
  void addLeftOut(long items, long bytes) {
    Sum sum = sum(Kind.UNFIT);
    sum.items.add(items);
    sum.bytes.add(bytes);
    sum.files.increment();
  }

  void addFailure(Item item, String why) {
    add(Kind.FAILED, item);
    note(item.path().get() + ": " + why);
  }

  /** Counts a folder whose files are unknown as one item that failed. */
  void addUnlisted(String folder) {
    sum(Kind.FAILED).items.increment();
    note(
        folder
            + ": no scan has listed it whole (see the log), so some of its files may be unknown");
  }

  private void note(String failure) {
    synchronized (failures) {
      if (failures.size() < MOST_FAILURES) {
        failures.add(failure);
      }
    }
  }

  long items(Kind kind) {
    return sum(kind).items.sum();
  }

  private Sum sum(Kind kind) {
    Sum sum = sums.get(kind);
    if (sum == null) {
      throw new IllegalArgumentException(kind + " is not counted");
    }
    return sum;
  }

  /** Puts the figures into an answer. */
  void describe(Map<String, Object> into) {
    into.put("files", files);
    into.put("bytes", bytes);
    sums.forEach(
        (kind, sum) -> {
          Map<String, Object> figures = new LinkedHashMap<>();
          figures.put("files", sum.files.sum());
          figures.put("items", sum.items.sum());
          figures.put("bytes", sum.bytes.sum());
          into.put(kind.text(), figures);
        });
    synchronized (failures) {
      into.put("failures", List.copyOf(failures));
    }
  }
}
