package io.holdfast.fs.cli;

import io.holdfast.fs.host.CliException;
import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command that started this process, to start a daemon. Stateless. */
final class OwnCommand {
  private static final String MAIN = Holdfast.class.getName();

  /** The launcher gives it to commands, which end soon. A daemon compiles as soon as it can. */
  private static final String LATE_COMPILING = "-XX:CompileThresholdScaling=5";

  private OwnCommand() {}

  /** Returns the words up to the main class: the same Java, options and class path. */
  static List<String> words() {
    try {
      return words(
          Path.of("/proc/self/exe").toRealPath().toString(),
          Procfs.host().commandLine(Procfs.SELF));
    } catch (IOException e) {
      throw CliException.couldNot("/proc/self cannot be read: mount /proc", e);
    }
  }

  /** The same of the words that a Java was started with. */
  static List<String> words(String java, List<String> all) {
    List<String> words = new ArrayList<>();
    words.add(java);
    for (String word : all.subList(Math.min(1, all.size()), all.size())) {
      if (!word.equals(LATE_COMPILING)) {
        words.add(word);
      }
      if (word.equals(MAIN)) {
        return words;
      }
    }
    throw CliException.couldNot(
        "the daemon's process cannot be started from here: use --foreground, or bin/holdfast");
  }

  /** Tells whether a process runs this program. */
  static boolean isOurs(long pid) {
    return Procfs.host().commandLine(Long.toString(pid)).contains(MAIN);
  }
}
