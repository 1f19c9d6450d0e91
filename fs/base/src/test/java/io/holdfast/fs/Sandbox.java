package io.holdfast.fs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;

/**
 * A directory of a test's own on a real filesystem, gone in the end whatever the names in it: paths
 * beyond PATH_MAX and names that are no UTF-8 are more than Java's own file calls can remove.
 */
public final class Sandbox implements AutoCloseable {
  private final Path root;

  private Sandbox(Path root) {
    this.root = root;
  }

  /** Creates one that every user may enter. */
  public static Sandbox create() throws IOException {
    Path root = Files.createTempDirectory("holdfast-test-").toRealPath();
    Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxr-xr-x"));
    return new Sandbox(root);
  }

  /** Returns the directory. */
  public Path root() {
    return root;
  }

  /** Returns a place in it. */
  public Path path(String name) {
    return root.resolve(name);
  }

  /** Returns how many descriptors of this process lead into it. */
  public long openDescriptors() throws IOException {
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return descriptors.filter(this::leadsHere).count();
    }
  }

  private boolean leadsHere(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString().startsWith(root.toString());
    } catch (IOException e) {
      return false; // it was that of the listing itself
    }
  }

  @Override
  public void close() throws IOException {
    try {
      int status =
          new ProcessBuilder("rm", "-rf", "--", root.toString()).inheritIO().start().waitFor();
      if (status != 0) {
        throw new IOException(root + " cannot be removed");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }
}
