package io.holdfast.fs.cli;

import io.holdfast.fs.daemon.Settings;
import java.util.ArrayList;
import java.util.List;

/**
 * The command line of a daemon: everything that was said, so that it need not ask the environment
 * and the file again, and the next one, should it die, is the same. Immutable.
 *
 * @param program the words that start another process of this program
 * @param given what was said, each with where
 * @param notes lines for its log
 */
record DaemonWords(List<String> program, GivenSettings given, List<String> notes) {
  /** What the launcher gives to a virtual machine that is to compute nothing much. */
  private static final String LITTLE_COMPILING = "-XX:TieredStopAtLevel=1";

  /**
   * Returns the words.
   *
   * @param how the option that makes it a daemon
   * @param settings with the paths as they were found to be
   */
  List<String> of(String how, Settings settings) {
    List<String> words = new ArrayList<>(program);
    if (settings.peers().isPresent()) {
      // Proofs are computed, and the launcher does not read the file that may ask for them.
      words.remove(LITTLE_COMPILING);
    }
    words.addAll(List.of("mount", how));
    notes.forEach(line -> words.add("--note=" + line));
    words.addAll(given.words());
    // Behind two dashes also a path that begins with one is a path.
    words.addAll(List.of("--", settings.origin().toString(), settings.mountpoint().toString()));
    return words;
  }
}
