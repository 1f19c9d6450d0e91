package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InvalidClassException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HoldfastTest {
  /** The tests' own process keeps its filter, so that another asks. */
  @ParameterizedTest
  @ValueSource(strings = {"-Djdk.serialFilter=!*", "-Dof.another.launcher="})
  void serializedObject_inTheProcess_isRefused(String property) throws Exception {
    Process process =
        new ProcessBuilder(
                System.getProperty("java.home") + "/bin/java",
                "-XX:TieredStopAtLevel=1",
                property,
                "-cp",
                System.getProperty("java.class.path"),
                Reader.class.getName())
            .redirectErrorStream(true)
            .start();
    assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .isEqualTo("refused");
    assertThat(process.waitFor()).isZero();
  }

  /** On a full disk a command ended with 0, and its output was cut off or empty. */
  @Test
  void output_thatCannotBeWritten_isAFailure() throws Exception {
    Process process =
        new ProcessBuilder(program("version"))
            .redirectOutput(Path.of("/dev/full").toFile())
            .start();
    assertThat(new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8))
        .startsWith("holdfast: the standard output cannot be written (No space left on device): ")
        .hasLineCount(1);
    assertThat(process.waitFor()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({"version, 0", "nonsense, 2"})
  void output_whoseReaderHasGone_isNoFailure(String word, int exitCode) throws Exception {
    Process process = new ProcessBuilder(program(word)).start();
    process.getInputStream().close();
    String errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(errors).doesNotContain("standard output");
    assertThat(process.waitFor()).isEqualTo(exitCode);
  }

  private static List<String> program(String word) {
    return List.of(
        System.getProperty("java.home") + "/bin/java",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        System.getProperty("java.class.path"),
        Holdfast.class.getName(),
        word);
  }

  /** The code of that process. */
  static final class Reader {
    public static void main(String[] arguments) throws Exception {
      Holdfast.refuseSerialized();
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
        out.writeObject(List.of("an object"));
      }
      ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()));
      assertThatExceptionOfType(InvalidClassException.class).isThrownBy(in::readObject);
      System.out.print("refused");
    }
  }
}
