package io.holdfast.fs.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CallerTest {
  @Test
  void of_anEnvironmentWithoutLauncher_isNothing() {
    assertThat(Caller.of(Map.of("LC_ALL", "C.UTF-8"))).isNull();
  }

  @Test
  void restore_undoesWhatTheLauncherHasSet_andNothingElse() {
    Map<String, String> environment =
        new LinkedHashMap<>(
            Map.of("LC_ALL", "C.UTF-8", "MALLOC_ARENA_MAX", "1", "PATH", "/bin", "A", "b"));
    environment.put(
        "HOLDFAST_CALLER",
        "LC_ALL=de_DE.UTF-8\nPATH=/evil\nfiles=1024\ndescriptors= 0 1 2 63\nignored=8000000000001004");

    Caller caller = Objects.requireNonNull(Caller.of(environment));
    caller.restore(environment);

    assertThat(environment).isEqualTo(Map.of("LC_ALL", "de_DE.UTF-8", "PATH", "/bin", "A", "b"));
    assertThat(caller.files()).hasValue(1024);
    assertThat(caller.descriptors()).isEqualTo(Set.of(0, 1, 2, 63));
    assertThat(caller.ignored()).isEqualTo(0x8000_0000_0000_1004L);
  }

  /** The text comes from the environment: anybody may have written it. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "files",
        "files=unlimited",
        "files=-1",
        "files=99999999999999999999",
        "descriptors=x -4 99999999999999999999 ../1",
        "ignored=x",
        "ignored=-1",
        "ignored=10000000000000000",
        "\n\n=\n"
      })
  void of_whatIsNoNumber_isNotTaken(String told) {
    Caller caller = Objects.requireNonNull(Caller.of(Map.of("HOLDFAST_CALLER", told)));
    assertThat(caller.files()).isEmpty();
    assertThat(caller.descriptors()).isEmpty();
    assertThat(caller.ignored()).isZero();
    assertThat(caller.variables()).isEmpty();
  }
}
