package io.holdfast.fs.origin.s3;

import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.Origin.ScanSink;
import io.holdfast.fs.origin.Origin.ScannedEntry;
import io.holdfast.fs.origin.OriginPath;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Turns a range of sorted keys into directories and their entries. It holds the directories that
 * lead to the last key, and at most a batch of the entries of each. A file waits until its name is
 * known not to be a directory's; see {@link DirectoryListing}. Used by one thread. Several ranges
 * share the directories in which they all have keys, and the last range to leave a directory
 * reports it as complete.
 */
final class ScannedTree {
  /** Entries that are passed together. */
  private static final int BATCH = 1024;

  /** A directory, for all ranges that have keys in it. */
  private static final class Directory {
    final OriginPath path;
    final AtomicInteger ranges = new AtomicInteger(1);
    final AtomicReference<@Nullable FsException> failure = new AtomicReference<>();

    Directory(OriginPath path) {
      this.path = path;
    }
  }

  /** A directory that leads to the last key, with the entries that have not been passed yet. */
  private static final class Level {
    final Directory directory;
    final String prefix;
    List<ScannedEntry> batch = new ArrayList<>();

    Level(Directory directory, String prefix) {
      this.directory = directory;
      this.prefix = prefix;
    }
  }

  private record Waiting(String key, Level level, Attributes attributes) {}

  private final Entries entries;
  private final ScanSink sink;
  private final List<Level> levels = new ArrayList<>();
  private final List<Waiting> waiting = new ArrayList<>();

  private ScannedTree(Entries entries, ScanSink sink) {
    this.entries = entries;
    this.sink = sink;
  }

  /**
   * Creates a tree for all keys below a directory.
   *
   * @param prefix the prefix of the keys
   */
  ScannedTree(Entries entries, ScanSink sink, OriginPath top, String prefix) {
    this(entries, sink);
    levels.add(new Level(new Directory(top), prefix));
  }

  /**
   * Returns a tree for the keys after a point; the point is in directories of the last key only.
   */
  ScannedTree behind(String point) {
    flush(levels.size());
    ScannedTree other = new ScannedTree(entries, sink);
    for (Level level : levels) {
      if (point.startsWith(level.prefix)) {
        level.directory.ranges.incrementAndGet();
        other.levels.add(new Level(level.directory, level.prefix));
      }
    }
    return other;
  }

  /** Takes the next key. */
  void key(String key, Attributes attributes) {
    settle(key);
    while (!key.startsWith(top().prefix)) {
      leave();
    }
    int from = top().prefix.length();
    for (int slash = key.indexOf('/', from); slash >= 0; slash = key.indexOf('/', from)) {
      String name = key.substring(from, slash);
      if (!KeyNames.isName(name)) {
        sink.hidden(key);
        return;
      }
      enter(name, key.substring(0, slash));
      from = slash + 1;
    }
    String file = key.substring(from);
    if (KeyNames.isName(file)) {
      waiting.add(new Waiting(key, top(), attributes));
    } else if (!file.isEmpty()) {
      sink.hidden(key);
    }
  }

  /**
   * Passes or hides the waiting files whose fate the next key decides. Each waiting file's key
   * begins with the key before it.
   */
  private void settle(String next) {
    while (!waiting.isEmpty()) {
      Waiting last = waiting.get(waiting.size() - 1);
      boolean begins = next.startsWith(last.key);
      if (begins && !next.startsWith("/", last.key.length())) {
        return;
      }
      waiting.remove(waiting.size() - 1);
      if (begins) {
        sink.hidden(last.key);
      } else {
        pass(last);
      }
    }
  }

  private void pass(Waiting file) {
    String name = file.key.substring(file.level.prefix.length());
    add(file.level, new ScannedEntry(OriginPath.of(name), file.attributes));
  }

  private void enter(String name, String key) {
    OriginPath path = OriginPath.of(name);
    add(top(), new ScannedEntry(path, entries.directory(key)));
    Directory directory = new Directory(top().directory.path.child(path.bytes()));
    levels.add(new Level(directory, key + "/"));
  }

  private Level top() {
    return levels.get(levels.size() - 1);
  }

  private void add(Level level, ScannedEntry entry) {
    level.batch.add(entry);
    if (level.batch.size() >= BATCH) {
      flush(levels.indexOf(level) + 1);
    }
  }

  /**
   * Passes the entries of the upper directories first, so that a directory is known before its
   * entries.
   */
  private void flush(int count) {
    for (Level level : levels.subList(0, count)) {
      if (!level.batch.isEmpty()) {
        sink.entries(level.directory.path, level.batch);
        level.batch = new ArrayList<>();
      }
    }
  }

  private void leave() {
    flush(levels.size());
    Directory directory = levels.remove(levels.size() - 1).directory;
    if (directory.ranges.decrementAndGet() == 0) {
      FsException failure = directory.failure.get();
      if (failure == null) {
        sink.complete(directory.path);
      } else {
        sink.failed(directory.path, failure);
      }
    }
  }

  /** Tells whether a name is also a directory's. */
  @FunctionalInterface
  interface Directories {
    boolean contain(String key) throws FsException;
  }

  /**
   * Learns that there is no further key.
   *
   * @param end the end of the range; null where it has none
   * @param directories asked about files whose directory would be after the end
   */
  void end(@Nullable String end, Directories directories) throws FsException {
    while (!waiting.isEmpty()) {
      Waiting last = waiting.get(waiting.size() - 1);
      boolean unknown = end != null && end.startsWith(last.key);
      if (unknown && directories.contain(last.key)) {
        sink.hidden(last.key);
      } else {
        pass(last);
      }
      waiting.remove(waiting.size() - 1);
    }
    while (!levels.isEmpty()) {
      leave();
    }
  }

  /** Learns that the further keys of the range cannot be read. */
  void fail(FsException cause) {
    for (Level level : levels) {
      level.directory.failure.compareAndSet(null, cause);
    }
    while (!levels.isEmpty()) {
      leave();
    }
  }
}
