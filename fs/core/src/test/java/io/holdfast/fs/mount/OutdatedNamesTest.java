package io.holdfast.fs.mount;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.origin.OriginPath;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class OutdatedNamesTest {
  private final OutdatedNames names = new OutdatedNames(Duration.ofHours(1), false);
  private final List<String> told = new ArrayList<>();

  private void tell(long parent, byte[] name) {
    told.add(parent + "/" + new String(name, US_ASCII));
  }

  private static byte[] name(String text) {
    return text.getBytes(US_ASCII);
  }

  @Test
  void tellReplaced_passesEachReplacedNameOnceAndNoMissingOne() {
    names.replaced(1, name("a"));
    names.replaced(1, name("a"));
    names.replaced(2, name("b"));
    names.missing(1, name("c"));

    names.tellReplaced(this::tell);
    names.tellReplaced(this::tell);

    assertThat(told).containsExactlyInAnyOrder("1/a", "2/b");
    assertThat(names.tell(1, name("a"), this::tell)).isFalse();
    assertThat(names.tell(1, name("c"), this::tell)).isTrue();
    assertThat(names.tell(1, name("c"), this::tell)).isFalse();
  }

  @Test
  void tellReplaced_nameIsGivenAwayAgainMeanwhile_isPassedAgain() {
    names.replaced(1, name("a"));
    names.tellReplaced(
        (parent, name) -> {
          tell(parent, name);
          names.replaced(parent, name);
        });

    names.tellReplaced(this::tell);

    assertThat(told).containsExactly("1/a", "1/a");
  }

  /** Anybody may ask for names that are missing; a table would be slow if all had one hash. */
  @Test
  void hash_ofNamesThatAUserHasChosen_isAnotherForEach() {
    Set<Integer> hashes = new HashSet<>();
    for (int i = 0; i < 1 << 10; i++) {
      StringBuilder name = new StringBuilder();
      for (int block = 0; block < 10; block++) {
        name.append((i >> block & 1) == 0 ? "Aa" : "BB");
      }
      hashes.add(new OutdatedNames.Name(1, OriginPath.of(name.toString())).hashCode());
    }
    assertThat(hashes).hasSizeGreaterThan(1000);
  }

  @Test
  void hasInherited_afterAnotherDaemon_only() {
    assertThat(new OutdatedNames(Duration.ofHours(1), true).hasInherited()).isTrue();
    assertThat(new OutdatedNames(Duration.ZERO, true).hasInherited()).isFalse();
    assertThat(names.hasInherited()).isFalse();
  }

  @Test
  void hasForgotten_afterTooManyNames_only() {
    assertThat(new OutdatedNames(Duration.ofHours(1), true).hasForgotten()).isFalse();
    for (int i = 0; i < 100_000; i++) {
      names.missing(1, name("n" + i));
    }
    assertThat(names.hasForgotten()).isFalse();

    names.missing(1, name("more"));

    assertThat(names.hasForgotten()).isTrue();
  }

  @Test
  void tellWithin_passesAllOfTheseDirectoriesAndLeavesTheOthers() {
    names.replaced(1, name("a"));
    names.missing(1, name("b"));
    names.replaced(2, name("c"));

    names.tellWithin(directory -> directory == 1, this::tell);

    assertThat(told).containsExactlyInAnyOrder("1/a", "1/b");
    assertThat(names.tell(2, name("c"), this::tell)).isTrue();
    assertThat(names.tell(1, name("a"), this::tell)).isFalse();
  }

  /**
   * A refresh returns only when the kernel knows, so it cannot rely on another refresh that is just
   * telling.
   */
  @Test
  void tell_anotherIsJustTelling_tellsToo() {
    names.missing(1, name("a"));
    names.replaced(1, name("a"));
    names.tellWithin(
        directory -> true,
        (parent, name) -> {
          tell(parent, name);
          assertThat(names.tell(parent, name, this::tell)).isTrue();
        });

    assertThat(told).containsExactly("1/a", "1/a");
  }

  @Test
  void tell_nameIsMissingAgainMeanwhile_isToldAgain() {
    names.missing(1, name("a"));
    assertThat(names.tell(1, name("a"), (parent, name) -> names.missing(parent, name))).isTrue();

    assertThat(names.tell(1, name("a"), this::tell)).isTrue();
    assertThat(told).containsExactly("1/a");
  }
}
