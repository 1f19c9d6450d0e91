package io.holdfast.fs.residency;

import java.nio.file.FileSystems;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.PatternSyntaxException;

/**
 * What users say of files by name: validation sets that are to stay whatever the policy thinks,
 * index files that are not worth memory. Immutable.
 *
 * <p>Patterns are globs. One without a slash is for a name in any folder, as {@code *.idx}; one
 * with a slash is for a path from the dataset's root, as {@code val/*.tar}; one that ends with a
 * slash is for everything below a folder, as {@code val/}. Where both lists name a file, it is
 * kept.
 */
public final class Selection {

  /** Nothing is said of any file. */
  public static final Selection NONE = new Selection(List.of(), List.of());

  private final List<PathMatcher> keep;
  private final List<PathMatcher> exclude;

  /** What is to be done with an item. */
  public enum Verdict {
    /** The policy decides. */
    ORDINARY,
    /** It is {@linkplain io.holdfast.policy.CachePolicy#keep kept}. */
    KEPT,
    /** It is never resident. */
    EXCLUDED
  }

  private Selection(List<PathMatcher> keep, List<PathMatcher> exclude) {
    this.keep = keep;
    this.exclude = exclude;
  }

  /**
   * Reads patterns.
   *
   * @throws IllegalArgumentException if one is not a glob; the message names it
   */
  public static Selection of(List<String> keep, List<String> exclude) {
    return new Selection(matchers(keep), matchers(exclude));
  }

  private static List<PathMatcher> matchers(List<String> patterns) {
    List<PathMatcher> matchers = new ArrayList<>();
    for (String pattern : patterns) {
      if (pattern.isEmpty() || pattern.startsWith("/")) {
        throw new IllegalArgumentException(
            "pattern '" + pattern + "': write a name, or a path from the dataset's root");
      }
      int slash = pattern.indexOf('/');
      if (slash < 0) {
        matchers.add(matcher(pattern, pattern));
        matchers.add(matcher(pattern, "**/" + pattern));
      } else {
        matchers.add(matcher(pattern, pattern.endsWith("/") ? pattern + "**" : pattern));
      }
    }
    return List.copyOf(matchers);
  }

  private static PathMatcher matcher(String pattern, String glob) {
    try {
      return FileSystems.getDefault().getPathMatcher("glob:" + glob);
    } catch (PatternSyntaxException e) {
      throw new IllegalArgumentException(
          "pattern '" + pattern + "' is not a glob: " + e.getDescription(), e);
    }
  }

  /** Tells whether nothing is said of any file. */
  public boolean isEmpty() {
    return keep.isEmpty() && exclude.isEmpty();
  }

  /**
   * Says what is to be done with the items of a file.
   *
   * @param path relative to the dataset's root
   */
  public Verdict of(String path) {
    Path file;
    try {
      file = Path.of(path);
    } catch (InvalidPathException e) {
      return Verdict.ORDINARY;
    }
    if (keep.stream().anyMatch(matcher -> matcher.matches(file))) {
      return Verdict.KEPT;
    }
    boolean excluded = exclude.stream().anyMatch(matcher -> matcher.matches(file));
    return excluded ? Verdict.EXCLUDED : Verdict.ORDINARY;
  }
}
