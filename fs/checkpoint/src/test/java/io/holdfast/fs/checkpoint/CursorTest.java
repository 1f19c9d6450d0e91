package io.holdfast.fs.checkpoint;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.linux.Linux;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CursorTest {
  @TempDir private Path directory;

  private static int descriptorOf(Path file) throws IOException {
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return descriptors
          .filter(each -> leadsTo(each, file))
          .mapToInt(each -> Integer.parseInt(each.getFileName().toString()))
          .findFirst()
          .orElseThrow();
    }
  }

  private static boolean leadsTo(Path descriptor, Path file) {
    try {
      return Files.readSymbolicLink(descriptor).equals(file);
    } catch (IOException e) {
      return false; // closed meanwhile
    }
  }

  /**
   * The store has the operation that was begun. If that was forgotten, it would be applied a second
   * time, which fails for ever: the store has its name already.
   */
  @Test
  void whatTheDiskDidNotTake_isAsBefore() throws Exception {
    Path file = directory.toRealPath().resolve("cursor");
    try (Cursor cursor = new Cursor(file)) {
      cursor.setDurable(4);
      cursor.begin(5, 99);
      int descriptor = descriptorOf(file);
      try (FileTree tree = FileTree.open(directory)) {
        int readOnly = tree.open("cursor", Linux.O_RDONLY);
        LIBC.dup2(readOnly, descriptor);
        LIBC.close(readOnly);
      }

      assertThatThrownBy(() -> cursor.setDurable(5)).isInstanceOf(ErrnoException.class);
      assertThatThrownBy(() -> cursor.begin(6, 7)).isInstanceOf(ErrnoException.class);

      assertThat(cursor.durable()).isEqualTo(4);
      assertThat(cursor.begun()).isEqualTo(5);
      assertThat(cursor.witness()).isEqualTo(99);
    }
  }
}
