package io.holdfast.fs.cli;

import io.holdfast.fs.client.Targets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The arguments of commands about some files of a mount: paths and globs. */
final class DatasetPaths {
  @Parameters(
      arity = "0..*",
      paramLabel = "[MOUNTPOINT|NAME] PATH",
      description =
          "Which mount, by default the only one, and which files or folders of it: below the"
              + " mountpoint, or relative to it.")
  private List<String> words = new ArrayList<>();

  @Option(
      names = "--glob",
      paramLabel = "GLOB",
      description = "Files by name, as for mount --keep: 'train/*.tar'. May be repeated.",
      converter = OptionValues.Glob.class)
  private List<String> globs = new ArrayList<>();

  /** Finds the mount that the user means, and the paths in it. */
  Targets.Inside find(Targets targets) {
    return targets.inside(words);
  }

  /** Tells whether the user has named any file. */
  boolean areNamed(Targets.Inside inside) {
    return !inside.paths().isEmpty() || !globs.isEmpty();
  }

  /** Returns what asks a daemon for a task about these files, but for their paths. */
  Map<String, Object> request(String kind) {
    Map<String, Object> request = new LinkedHashMap<>();
    request.put("begin", kind);
    request.put("globs", globs);
    return request;
  }
}
