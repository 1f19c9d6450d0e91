package io.holdfast.fs.cli;

import java.nio.file.Path;
import java.util.Map;

/** Where what outlives a mount is kept when nobody says where. Stateless. */
final class StateDirectory {
  private StateDirectory() {}

  /** Returns the directory of what a user's mounts leave to later ones. */
  static Path of(int uid, Map<String, String> environment) {
    return uid == 0 ? Path.of("/var/lib/holdfast") : ofUser(environment);
  }

  /** Returns the directory of everything that lasts, of a user who is not root. */
  static Path ofUser(Map<String, String> environment) {
    String state = environment.get("XDG_STATE_HOME");
    if (state != null && state.startsWith("/")) {
      return Path.of(state, "holdfast");
    }
    return Path.of(environment.getOrDefault("HOME", "/"), ".local/state/holdfast");
  }
}
