package io.holdfast.fs.client;

import io.holdfast.fs.control.RunningDaemon;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/** Finds where a dataset can be read without its mount. Stateless. */
public final class OriginPath {
  private OriginPath() {}

  /**
   * Returns a path to the source's directory: its own, or, where the mount lies over it, the
   * daemon's descriptor of it. Empty where it is no directory, or this user may not look there.
   *
   * @param origin as in the daemon's figures
   */
  public static Optional<Path> of(RunningDaemon daemon, String origin) {
    if (!origin.startsWith("/")) {
      return Optional.empty();
    }
    Path path = Path.of(origin);
    if (!path.equals(daemon.mountpoint())) {
      return Optional.of(path).filter(Files::isDirectory);
    }
    Path descriptors = Path.of("/proc", Long.toString(daemon.pid()), "fd");
    try (DirectoryStream<Path> all = Files.newDirectoryStream(descriptors)) {
      for (Path descriptor : all) {
        if (isBelowMount(descriptor, path)) {
          return Optional.of(descriptor);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      // Another user's daemon, or it has just ended.
    }
    return Optional.empty();
  }

  private static boolean isBelowMount(Path descriptor, Path mountpoint) throws IOException {
    try {
      return Files.readSymbolicLink(descriptor).equals(mountpoint)
          && !Files.getAttribute(descriptor, "unix:dev")
              .equals(Files.getAttribute(mountpoint, "unix:dev"));
    } catch (NoSuchFileException e) {
      return false; // closed in the meantime
    }
  }
}
