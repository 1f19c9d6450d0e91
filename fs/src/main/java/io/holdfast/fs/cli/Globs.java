package io.holdfast.fs.cli;

import java.nio.file.FileSystems;
import java.util.List;
import java.util.regex.PatternSyntaxException;

/** Globs as users write them. Stateless. */
final class Globs {
  private Globs() {}

  /** Fails where one is none; to be asked first, whatever is mounted. */
  static void check(List<String> globs) {
    for (String glob : globs) {
      if (glob.isEmpty() || glob.startsWith("/")) {
        throw CliException.usage(
            "--glob '" + glob + "': write a name, or a path from the dataset's root");
      }
      try {
        FileSystems.getDefault().getPathMatcher("glob:" + glob);
      } catch (PatternSyntaxException e) {
        throw CliException.usage("--glob '" + glob + "' is no glob: " + e.getDescription(), e);
      }
    }
  }
}
