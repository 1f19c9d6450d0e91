package io.holdfast.it;

import io.holdfast.posix.Posix;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A directory behind a server that can be stopped: programs then wait for it as for a server of NFS
 * that does not answer. Names that have been looked up stay known.
 */
final class HangingOrigin {
  private static final Duration START = Duration.ofSeconds(60);

  private final Child server;
  private final Path root;

  private HangingOrigin(Child server, Path root) {
    this.server = server;
    this.root = root;
  }

  static HangingOrigin of(Sandbox sandbox, Path directory) {
    return of(sandbox, directory, "3600");
  }

  /** The same, where nothing is known that was not asked for in that moment. */
  static HangingOrigin forgetful(Sandbox sandbox, Path directory) {
    return of(sandbox, directory, "0");
  }

  private static HangingOrigin of(Sandbox sandbox, Path directory, String seconds) {
    Path root = sandbox.folder("hanging-" + directory.getFileName());
    String known = "attr_timeout=%1$s,entry_timeout=%1$s".formatted(seconds);
    Child server =
        sandbox.start("bindfs", "-f", "-o", known, directory.toString(), root.toString());
    Await.until(START, "the origin", () -> !MountTable.below(root).isEmpty());
    return new HangingOrigin(server, root);
  }

  Path root() {
    return root;
  }

  void freeze() {
    server.freeze();
  }

  void thaw() {
    server.signal(Posix.SIGCONT);
  }
}
