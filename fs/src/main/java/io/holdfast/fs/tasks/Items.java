package io.holdfast.fs.tasks;

import io.holdfast.fs.FsException;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.tree.Node;
import org.jspecify.annotations.Nullable;

/**
 * The items of some files, one after the other, each given to one of those who ask. Files that have
 * gone meanwhile are passed over. Thread-safe; the monitor guards the place.
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
      file = null; // another version has its place
    }
  }
}
