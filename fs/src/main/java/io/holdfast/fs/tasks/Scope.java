package io.holdfast.fs.tasks;

import io.holdfast.fs.residency.Pins;
import io.holdfast.fs.residency.Selection;
import java.util.List;

/**
 * Which files a task is about, by name: some by path, all below some folders, those that globs
 * name, or all of the dataset where nothing is said. Immutable.
 */
final class Scope {
  private final List<String> paths;
  private final List<String> globs;
  private final Selection named;

  /**
   * Creates one.
   *
   * @param paths from the root, without slashes at their ends; the empty one is for everything
   * @param globs as for {@code --keep}
   * @throws IllegalArgumentException if a glob is none
   */
  Scope(List<String> paths, List<String> globs) {
    this.paths = List.copyOf(paths);
    this.globs = List.copyOf(globs);
    this.named = Selection.of(globs, List.of());
  }

  /** Tells whether it is about all of the dataset. */
  boolean isEverything() {
    return paths.contains("") || (paths.isEmpty() && globs.isEmpty());
  }

  /** Returns the names as they are pinned. */
  Pins.Names names() {
    return new Pins.Names(paths, globs);
  }

  /** Tells whether a file is in it. */
  boolean contains(String path) {
    return isEverything()
        || paths.stream().anyMatch(top -> path.equals(top) || path.startsWith(top + "/"))
        || named.of(path) == Selection.Verdict.KEPT;
  }
}
