package io.holdfast.fs.doctor;

import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Reads files of the kernel and the distribution in {@code /proc}, {@code /sys} and {@code /etc},
 * below a root that is {@code /} except in tests. Immutable and thread-safe.
 */
public final class MachineFiles {
  private static final int LARGEST = 4 << 20;

  private final Path root;

  /** Uses a tree that stands for {@code /}. */
  public MachineFiles(Path root) {
    this.root = root;
  }

  /** Returns the tree. */
  public Path root() {
    return root;
  }

  /** Returns the reader of its {@code /proc}. */
  public Procfs procfs() {
    return new Procfs(root);
  }

  /** Returns the path of a file. A name that begins with a slash is below the root, too. */
  public Path path(String file) {
    return root.resolve(file.startsWith("/") ? file.substring(1) : file);
  }

  /** Tells whether there is such a file. */
  public boolean exists(String file) {
    return Files.exists(path(file));
  }

  /** Returns a file's text without blanks around it; nothing if it cannot be read. */
  public Optional<String> text(String file) {
    try {
      return Optional.of(read(file).strip());
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /**
   * Returns the text of a file; of a large file, the beginning.
   *
   * @throws IOException with the reason, if it cannot be read
   */
  public String read(String file) throws IOException {
    try (InputStream in = Files.newInputStream(path(file))) {
      return new String(in.readNBytes(LARGEST), StandardCharsets.UTF_8);
    }
  }

  /** Returns a file's lines; none if it cannot be read. */
  public List<String> lines(String file) {
    return text(file).map(text -> text.lines().toList()).orElse(List.of());
  }

  /** Returns the number that a file consists of. */
  public OptionalLong number(String file) {
    return text(file).map(MachineFiles::leadingNumber).orElse(OptionalLong.empty());
  }

  /** Returns the value behind a key and a colon. */
  public Optional<String> value(String file, String key) {
    return lines(file).stream()
        .filter(line -> line.startsWith(key))
        .map(line -> line.substring(key.length()).replaceFirst("^[:=\\s]+", "").strip())
        .findFirst();
  }

  private static OptionalLong leadingNumber(String text) {
    String digits = text.split("\\s", 2)[0];
    try {
      return OptionalLong.of(Long.parseLong(digits));
    } catch (NumberFormatException e) {
      return OptionalLong.empty();
    }
  }
}
