package io.holdfast.fs.residency;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The names that users have pinned since the mount: paths of files and folders from the dataset's
 * root, and globs as in {@link Selection}. Items of a pinned name are to stay, whichever version
 * they have and whether or not they are resident yet. Thread-safe: a reader sees the names before
 * or after a change; changes wait only for each other.
 */
public final class Pins {
  /** Most paths and globs. */
  public static final int MOST = 10_000;

  private volatile Names names = new Names(List.of(), List.of());

  /**
   * Paths and globs. Immutable.
   *
   * @param paths from the root, without trailing slashes; the empty path is the whole dataset
   * @param globs as in {@link Selection}
   */
  public record Names(List<String> paths, List<String> globs) {
    /** Copies the lists. */
    public Names {
      paths = List.copyOf(paths);
      globs = List.copyOf(globs);
    }

    /** Tells whether there are no names. */
    public boolean isEmpty() {
      return paths.isEmpty() && globs.isEmpty();
    }

    int count() {
      return paths.size() + globs.size();
    }
  }

  /** The names in the form that {@link #contains} needs. */
  private record Lookup(Set<String> paths, Selection globs) {}

  private volatile Lookup lookup = new Lookup(Set.of(), Selection.NONE);

  /** Returns the pinned names. */
  public Names names() {
    return names;
  }

  /** Tells whether nothing is pinned. */
  public boolean isEmpty() {
    return names.isEmpty();
  }

  /** Tells whether a file is pinned by its own path, by a folder above it, or by a glob. */
  public boolean contains(String path) {
    Lookup now = lookup;
    if (now.paths.contains("") || now.paths.contains(path)) {
      return true;
    }
    for (int slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
      if (now.paths.contains(path.substring(0, slash))) {
        return true;
      }
    }
    return !now.globs.isEmpty() && now.globs.of(path) == Selection.Verdict.KEPT;
  }

  /**
   * Adds names.
   *
   * @throws IllegalArgumentException if a glob is invalid, or there are too many names
   */
  public synchronized void add(Names more) {
    Set<String> paths = new TreeSet<>(names.paths);
    Set<String> globs = new TreeSet<>(names.globs);
    paths.addAll(more.paths);
    globs.addAll(more.globs);
    set(new Names(new ArrayList<>(paths), new ArrayList<>(globs)));
  }

  /**
   * Removes names: a glob by its text, a path together with the pinned paths below it.
   *
   * @throws IllegalArgumentException if a name is not pinned; then nothing has changed
   */
  public synchronized void remove(Names which) {
    Set<String> paths = new TreeSet<>(names.paths);
    Set<String> globs = new TreeSet<>(names.globs);
    for (String path : which.paths) {
      boolean removed = paths.removeIf(pinned -> isWithin(pinned, path));
      if (!removed) {
        throw new IllegalArgumentException(notPinned(path));
      }
    }
    for (String glob : which.globs) {
      if (!globs.remove(glob)) {
        throw new IllegalArgumentException("the glob '" + glob + "' is not pinned");
      }
    }
    set(new Names(new ArrayList<>(paths), new ArrayList<>(globs)));
  }

  private String notPinned(String path) {
    for (String pinned : names.paths) {
      if (isWithin(path, pinned)) {
        return "'%s' is pinned as a part of '%s': unpin that"
            .formatted(path, pinned.isEmpty() ? "." : pinned);
      }
    }
    return "'" + (path.isEmpty() ? "." : path) + "' is not pinned, nor is anything below it";
  }

  private static boolean isWithin(String path, String folder) {
    return folder.isEmpty() || path.equals(folder) || path.startsWith(folder + "/");
  }

  private void set(Names all) {
    if (all.count() > MOST) {
      throw new IllegalArgumentException(
          "more than " + MOST + " names cannot be pinned: pin folders, or use --glob");
    }
    lookup = new Lookup(Set.copyOf(all.paths), Selection.of(all.globs, List.of()));
    names = all;
  }
}
