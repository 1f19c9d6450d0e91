package io.holdfast.fs.accelerator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DirectoryStorageTest {
  private static final int SIZE = 1_000_000;
  private static final long HOUR = 3_600_000_000_000L;

  @TempDir Path temp;
  private final Window window = new Window(Clock.SYSTEM, HOUR);
  private Path file;

  @BeforeEach
  void create() throws IOException {
    file = Files.write(temp.resolve("a"), new byte[SIZE]);
  }

  private DirectoryStorage storage(long recordBytes, boolean cold) throws IOException {
    DatasetFiles files = DatasetFiles.find(temp, recordBytes, 10, new Random(1), () -> false);
    return new DirectoryStorage(temp, files, cold);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void file_isReadWholeAgainAndAgain(boolean cold) throws IOException {
    try (Storage.Reader reader = storage(0, cold).reader()) {
      assertThat(reader.read(0, 0, window)).isEqualTo(SIZE);
      assertThat(reader.read(0, 0, window)).isEqualTo(SIZE);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void records_areReadOneByOne(boolean cold) throws IOException {
    DirectoryStorage storage = storage(300_000, cold);
    assertThat(storage.samples(0)).isEqualTo(3);
    try (Storage.Reader reader = storage.reader()) {
      for (int sample = 0; sample < 3; sample++) {
        assertThat(reader.read(0, sample, window)).isEqualTo(300_000);
      }
      // another reader may have begun in the middle
      assertThat(reader.read(0, 1, window)).isEqualTo(300_000);
    }
  }

  @Test
  void windowThatIsOver_endsTheRead() throws IOException {
    window.endNow();
    try (Storage.Reader reader = storage(0, true).reader()) {
      assertThat(reader.read(0, 0, window)).isZero();
    }
  }

  @Test
  void fileThatShrank_isTold() throws IOException {
    DirectoryStorage storage = storage(0, false);
    Files.write(file, new byte[10]);
    try (Storage.Reader reader = storage.reader()) {
      assertThatThrownBy(() -> reader.read(0, 0, window))
          .isInstanceOf(IOException.class)
          .hasMessage(file + " is shorter than it was: let nobody change the dataset meanwhile");
    }
  }

  @Test
  void fileThatIsGone_isToldWithItsPath() throws IOException {
    DirectoryStorage storage = storage(0, false);
    Files.delete(file);
    try (Storage.Reader reader = storage.reader()) {
      assertThatThrownBy(() -> reader.read(0, 0, window))
          .isInstanceOf(IOException.class)
          .hasMessage(file + ": No such file or directory");
    }
    storage.forget(0);
  }
}
