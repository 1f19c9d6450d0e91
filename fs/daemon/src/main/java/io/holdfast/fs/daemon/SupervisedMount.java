package io.holdfast.fs.daemon;

import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The state directory of a mount, as other processes read it, and write to it for the supervisor.
 * Stateless. Commands ask this at each start, so it has neither a logger nor native calls.
 */
public final class SupervisedMount {
  private static final String ENDED = "ended";
  private static final String CHECKPOINTS = "checkpoints";

  private SupervisedMount() {}

  /**
   * Tells whether a mount has a supervisor, which would start another daemon.
   *
   * @param state its state directory
   */
  public static boolean isSupervised(Path state) {
    try {
      String process = Files.readString(state.resolve("supervisor")).strip();
      return isSupervisor(Procfs.host().commandLine(process), state);
    } catch (IOException e) {
      return false; // there is no supervisor any more, or there never was
    }
  }

  /**
   * Tells whether a process is the supervisor of a mount. Another mount's supervisor may have the
   * number of one that was killed.
   *
   * @param words the words that the process was started with
   * @param state the mount's state directory; a user may know it by another path
   */
  public static boolean isSupervisor(List<String> words, Path state) {
    String directory = "/" + state.getFileName();
    return words.stream().anyMatch(word -> word.contains("holdfast-supervise"))
        && words.stream().anyMatch(word -> word.endsWith(directory));
  }

  /**
   * Notes that a mount is one for checkpoints, and has no dataset.
   *
   * @param state its state directory
   */
  public static void markForCheckpoints(Path state) throws IOException {
    Files.write(state.resolve(CHECKPOINTS), new byte[0]);
  }

  /**
   * Tells whether a mount is one for checkpoints, also while its daemon goes on after the unmount.
   * False for a user who may not look into the state directory.
   *
   * @param state its state directory
   */
  public static boolean isForCheckpoints(Path state) {
    return Files.exists(state.resolve(CHECKPOINTS));
  }

  /**
   * Makes sure that the supervisor of another process's mount starts no further daemon.
   *
   * @param state its state directory
   */
  public static void forbidRestart(Path state) throws IOException {
    Files.write(state.resolve(ENDED), new byte[0]);
  }

  /**
   * Tells whether the supervisor of another process's mount is to start no further daemon.
   *
   * @param state its state directory
   */
  public static boolean hasEnded(Path state) {
    return Files.exists(state.resolve(ENDED));
  }
}
