package io.holdfast.fs.accelerator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DatasetFilesTest {
  @TempDir Path temp;

  private void file(String name, int size) throws IOException {
    Path file = temp.resolve(name);
    Files.createDirectories(file.getParent());
    Files.write(file, new byte[size]);
  }

  private DatasetFiles find(long recordBytes, int most) throws IOException {
    return DatasetFiles.find(temp, recordBytes, most, new Random(1), () -> false);
  }

  private static List<String> names(DatasetFiles files) {
    return IntStream.range(0, files.count()).mapToObj(files::name).toList();
  }

  @Test
  void wholeFiles_areAllRegularOnesThatHaveBytes() throws IOException {
    file("a", 10);
    file("d/e/b", 30);
    file("d/empty", 0);
    Files.createSymbolicLink(temp.resolve("link"), temp.resolve("a"));
    DatasetFiles files = find(0, 100);
    assertThat(names(files)).containsExactlyInAnyOrder("a", "d/e/b");
    assertThat(files.isComplete()).isTrue();
    assertThat(files.bytes()).isEqualTo(40);
    assertThat(files.meanSampleBytes()).isEqualTo(20);
    assertThat(files.samples(0)).isEqualTo(1);
  }

  @Test
  void records_areWholeOnes() throws IOException {
    file("a", 25);
    file("b", 9);
    DatasetFiles files = find(10, 100);
    assertThat(names(files)).containsExactly("a");
    assertThat(files.tooSmall()).isEqualTo(1);
    assertThat(files.samples(0)).isEqualTo(2);
    assertThat(files.bytes()).isEqualTo(20);
    assertThat(files.meanSampleBytes()).isEqualTo(10);
  }

  /** What is resident may be so by name: the part that is read must not be the first by name. */
  @Test
  void filesOfAPart_areOfRandomDirectories() throws IOException {
    for (int i = 0; i < 20; i++) {
      file("d" + i + "/a", 10);
    }
    Set<Set<String>> parts = new HashSet<>();
    for (int seed = 0; seed < 10; seed++) {
      DatasetFiles files = DatasetFiles.find(temp, 0, 5, new Random(seed), () -> false);
      assertThat(files.isComplete()).isFalse();
      assertThat(files.count()).isEqualTo(5);
      parts.add(Set.copyOf(names(files)));
    }
    assertThat(parts).hasSizeGreaterThan(1);
  }

  @Test
  void timeThatIsOver_isAnEmptyPart() throws IOException {
    file("a", 10);
    DatasetFiles files = DatasetFiles.find(temp, 0, 5, new Random(1), () -> true);
    assertThat(files.count()).isZero();
    assertThat(files.isComplete()).isFalse();
    assertThat(files.meanSampleBytes()).isNaN();
  }

  @Test
  void rootThatIsGone_isTold() {
    assertThatThrownBy(
            () -> DatasetFiles.find(temp.resolve("gone"), 0, 5, new Random(1), () -> false))
        .isInstanceOf(NoSuchFileException.class);
  }
}
