package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InvalidClassException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
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
