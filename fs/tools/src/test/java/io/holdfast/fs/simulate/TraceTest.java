package io.holdfast.fs.simulate;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsException;
import io.holdfast.policy.ItemHash;
import io.holdfast.policy.simulator.Dataset;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Datasets that are there, and recorded accesses. */
class TraceTest {
  private static final long ITEM = 1 << 20;
  @TempDir Path temp;

  private Path trace(String text) throws IOException {
    return Files.writeString(temp.resolve("trace"), text);
  }

  private DatasetDirectory directory() throws IOException {
    Path root = Files.createDirectories(temp.resolve("data"));
    Files.createDirectories(root.resolve("b/deep"));
    Files.write(root.resolve("b/deep/large"), new byte[(int) (2 * ITEM + 5)]);
    Files.write(root.resolve("b/two"), new byte[2]);
    Files.write(root.resolve("a"), new byte[1]);
    Files.write(root.resolve("empty"), new byte[0]);
    Files.createSymbolicLink(root.resolve("link"), root.resolve("a"));
    Files.createSymbolicLink(root.resolve("loop"), root);
    return new DatasetDirectory(root);
  }

  private static int[] epoch(Trace trace, int epoch) {
    return trace.order().epoch(epoch, new SplittableRandom(1));
  }

  @Test
  void directory_isReadInTheOrderOfNames() throws IOException {
    DatasetDirectory directory = directory();
    Dataset dataset = directory.read(ITEM).dataset();
    assertThat(dataset.items()).isEqualTo(5);
    assertThat(dataset.bytes()).isEqualTo(2 * ITEM + 8);
    assertThat(dataset.size(0)).isEqualTo(1);
    assertThat(dataset.size(1)).isEqualTo(2);
    assertThat(dataset.size(2)).isEqualTo(ITEM);
    assertThat(dataset.size(4)).isEqualTo(5);
    assertThat(directory.leftOut()).isEmpty();
  }

  @Test
  void directory_hashesPathsWithOffsets() throws IOException {
    Dataset dataset = directory().read(ITEM).dataset();
    assertThat(dataset.hash(1)).isEqualTo(ItemHash.of("b/two".getBytes(UTF_8), 0));
    assertThat(dataset.hash(3)).isEqualTo(ItemHash.of("b/deep/large".getBytes(UTF_8), ITEM));
  }

  @Test
  void directory_missingOrNoneOrEmpty_isTold() throws IOException {
    assertThatThrownBy(() -> new DatasetDirectory(temp.resolve("missing")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("does not exist");
    Path file = trace("");
    assertThatThrownBy(() -> new DatasetDirectory(file))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("is not a directory");
    DatasetDirectory empty = new DatasetDirectory(Files.createDirectory(temp.resolve("none")));
    assertThatThrownBy(() -> empty.read(ITEM))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("has no files with bytes");
  }

  @Test
  void paths_ofADirectory_areReadWhole() throws IOException {
    Path file = trace("# epoch\nb/two\nb/deep/large\n\n# epoch\n./a\nempty\nb/two\n");
    Trace trace = Trace.ofPaths(file, directory(), ITEM);
    assertThat(trace.epochs()).hasSize(2);
    assertThat(epoch(trace, 1)).containsExactly(1, 2, 3, 4);
    assertThat(epoch(trace, 2)).containsExactly(0, 1);
  }

  @Test
  void paths_thatAreNone_areToldWithTheirLine() throws IOException {
    Path file = trace("a\n# epoch\nlink\n");
    DatasetDirectory directory = directory();
    assertThatThrownBy(() -> Trace.ofPaths(file, directory, ITEM))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("trace', line 3: 'link' is no file of the directory");
  }

  @Test
  void numbers_areFiles() throws IOException {
    FileList files = FileSizes.parse("1536K").files(3, ITEM, 1);
    Trace trace = Trace.ofNumbers(trace("2\n0\n2\n"), files);
    assertThat(trace.epochs()).hasSize(1);
    assertThat(epoch(trace, 1)).containsExactly(4, 5, 0, 1, 4, 5);
  }

  @ParameterizedTest
  @ValueSource(strings = {"3", "-1", "x", "1.5", "99999999999", "0 1"})
  void numbers_thatAreNoFiles_areToldWithTheirLine(String line) throws IOException {
    Path file = trace("0\n1\n" + line + "\n");
    FileList files = FileSizes.parse("1K").files(3, ITEM, 1);
    assertThatThrownBy(() -> Trace.ofNumbers(file, files))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("line 3: '" + line + "' is no item")
        .hasMessageContaining("from 0 to 2");
  }

  @Test
  void names_bringTheirSizes() throws IOException {
    Trace trace = Trace.ofSizes(trace("a b\t1000\nc\t2M\n# epoch\na b\nc\t2M\na b\n"), ITEM);
    assertThat(trace.files().files()).isEqualTo(2);
    assertThat(trace.files().dataset().bytes()).isEqualTo(1000 + 2 * ITEM);
    assertThat(epoch(trace, 1)).containsExactly(0, 1, 2);
    assertThat(epoch(trace, 2)).containsExactly(0, 1, 2, 0);
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = " => ",
      quoteCharacter = '`',
      value = {
        "a => line 2: 'a' is unknown: its first line must give its bytes, NAME<TAB>BYTES",
        "a|0 => line 2: 'a' has 0 bytes",
        "a|-3 => line 2: '-3' is not a size",
        "a|x => line 2: 'x' is not a size",
        "a|9223372036854775808 => line 2: '9223372036854775808' is more than any machine can hold",
        "a|7E => line 2: the dataset has more than",
        "z|7 => line 2: 'z' has 7 bytes here, and 5 before"
      })
  void names_withoutASoundSize_areToldWithTheirLine(String line, String message)
      throws IOException {
    Path file = trace("z\t5\n" + line.replace('|', '\t') + "\n");
    assertThatThrownBy(() -> Trace.ofSizes(file, ITEM))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void trace_missingEmptyOrADirectory_isTold() throws IOException {
    Path empty = trace("# epoch\n\n");
    assertThatThrownBy(() -> Trace.ofSizes(empty, ITEM))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("has no accesses");
    assertThatThrownBy(() -> Trace.ofSizes(temp.resolve("missing"), ITEM))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("does not exist");
    assertThatThrownBy(() -> Trace.ofSizes(temp, ITEM))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("is a directory");
  }

  @Test
  void trace_thatCannotBeReadToItsEnd_isNotTheUsersMistake() {
    assertThatThrownBy(() -> Trace.ofSizes(Path.of("/proc/self/mem"), ITEM))
        .isInstanceOf(FsException.class)
        .hasMessageContaining("/proc/self/mem' cannot be read");
  }
}
