package io.holdfast.fs.host;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Where the files of a user's mounts are when nobody says where. Stateless. */
public final class UserDirectories {
  private static final Path CONFIGURATION_OF_ALL = Path.of("/etc/holdfast");

  private UserDirectories() {}

  /**
   * Returns the directories with the files of a user's mounts; the first one that has a file wins.
   */
  public static List<Path> configuration(int uid, Map<String, String> environment) {
    if (uid == 0) {
      return List.of(CONFIGURATION_OF_ALL);
    }
    String config = environment.get("XDG_CONFIG_HOME");
    Path own =
        config != null && config.startsWith("/")
            ? Path.of(config, "holdfast")
            : Path.of(environment.getOrDefault("HOME", "/"), ".config/holdfast");
    return List.of(own, CONFIGURATION_OF_ALL);
  }

  /** Returns the directory of what a user's mounts leave to later ones. */
  public static Path state(int uid, Map<String, String> environment) {
    return uid == 0 ? Path.of("/var/lib/holdfast") : ofUser(environment);
  }

  /** Returns the directory of a user's logs. */
  public static Path logs(int uid, Map<String, String> environment) {
    return uid == 0 ? Path.of("/var/log/holdfast") : ofUser(environment);
  }

  /** Returns the directory of everything that lasts, of a user who is not root. */
  private static Path ofUser(Map<String, String> environment) {
    String state = environment.get("XDG_STATE_HOME");
    if (state != null && state.startsWith("/")) {
      return Path.of(state, "holdfast");
    }
    return Path.of(environment.getOrDefault("HOME", "/"), ".local/state/holdfast");
  }
}
