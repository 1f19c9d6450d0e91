package io.holdfast.fs.doctor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A tree of files that stands for a machine's {@code /proc}, {@code /sys} and {@code /etc}. */
public final class FakeMachine {
  private final Path root;

  /** Uses an empty directory. */
  public FakeMachine(Path root) {
    this.root = root;
  }

  /** Writes a file. */
  public FakeMachine file(String name, String text) {
    try {
      Path file = root.resolve(name);
      Files.createDirectories(file.getParent());
      Files.writeString(file, text);
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Makes a symlink. */
  public FakeMachine link(String name, String target) {
    try {
      Path link = root.resolve(name);
      Files.createDirectories(link.getParent());
      Files.createSymbolicLink(link, Path.of(target));
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns what probes read. */
  public MachineFiles files() {
    return new MachineFiles(root);
  }
}
