package io.holdfast.fs.tasks;

import io.holdfast.fs.residency.Pins;
import io.holdfast.fs.residency.Selection;
import java.util.List;

/**
 * The files that a task works on, by name: paths, folders and globs. Without names it is the whole
 * dataset. Immutable.
 */
final class Scope {
  private final List<String> paths;
  private final List<String> globs;
  private final Selection named;

  /**
   * Creates a scope.
   *
   * @param paths from the root, without trailing slashes; the empty path is the whole dataset
   * @param globs as for {@code --keep}
   * @throws IllegalArgumentException if a glob is invalid
   */
  Scope(List<String> paths, List<String> globs) {
    this.paths = List.copyOf(paths);
    this.globs = List.copyOf(globs);
    this.named = Selection.of(globs, List.of());
  }

  /** Tells whether the scope is the whole dataset. */
  boolean isEverything() {
    return paths.contains("") || (paths.isEmpty() && globs.isEmpty());
  }

  /** Returns the names in the form in which they are pinned. */
  Pins.Names names() {
    return new Pins.Names(paths, globs);
  }

  /** Tells whether a file is in the scope. */
  boolean contains(String path) {
    return isEverything()
        || paths.stream().anyMatch(top -> path.equals(top) || path.startsWith(top + "/"))
        || named.of(path) == Selection.Verdict.KEPT;
  }
}
