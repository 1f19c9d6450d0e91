package io.holdfast.fs.tasks;

import io.holdfast.fs.FsException;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.tree.Node;
import org.jspecify.annotations.Nullable;

/**
 * Hands out the items of some files, each to one caller. Skips files that have gone meanwhile.
 * Thread-safe; the monitor guards the position.
 */
final class Items {
  private final TaskParts parts;
  private final FileIds files;
  private int nextFile;
  private @Nullable Node file;
  private long extent;
  private long extents;

  Items(TaskParts parts, FileIds files) {
    this.parts = parts;
    this.files = files;
  }

  /** Returns the next item, or null at the end. */
  synchronized @Nullable Item next() {
    while (file == null || extent == extents) {
      if (nextFile == files.size()) {
        return null;
      }
      enter(files.get(nextFile++));
    }
    return parts.item(file, extent++);
  }

  private void enter(long id) {
    extent = 0;
    extents = 0;
    try {
      file = parts.tree().node(id);
      extents = parts.items(file);
    } catch (FsException e) {
      file = null; // another version has taken its name
    }
  }
}
