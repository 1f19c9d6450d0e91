package io.holdfast.fs.residency;

import java.nio.file.FileSystems;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.PatternSyntaxException;

/**
 * The user's rules for files by name: files that stay whatever the policy decides, such as a
 * validation set, and files that never become resident, such as index files. Immutable.
 *
 * <p>Patterns are globs. A pattern without a slash matches a name in any folder, as {@code *.idx}.
 * A pattern with a slash matches a path from the dataset's root, as {@code val/*.tar}. A pattern
 * that ends with a slash matches everything below a folder, as {@code val/}. A file that both lists
 * match is kept.
 */
public final class Selection {

  /** A selection without rules. */
  public static final Selection NONE = new Selection(List.of(), List.of());

  private final List<PathMatcher> keep;
  private final List<PathMatcher> exclude;

  /** The rule for an item. */
  public enum Verdict {
    /** The policy decides. */
    ORDINARY,
    /** The item is {@linkplain io.holdfast.policy.CachePolicy#keep kept}. */
    KEPT,
    /** The item never becomes resident. */
    EXCLUDED
  }

  private Selection(List<PathMatcher> keep, List<PathMatcher> exclude) {
    this.keep = keep;
    this.exclude = exclude;
  }

  /**
   * Parses patterns.
   *
   * @throws IllegalArgumentException if a pattern is not a glob; the message names the pattern
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

  /** Tells whether there are no rules. */
  public boolean isEmpty() {
    return keep.isEmpty() && exclude.isEmpty();
  }

  /**
   * Returns the rule for the items of a file.
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
