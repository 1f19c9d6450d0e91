package io.holdfast.fs.mount;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class OutdatedNamesTest {
  private final OutdatedNames names = new OutdatedNames(Duration.ofHours(1));
  private final List<String> taken = new ArrayList<>();

  private void take(long parent, byte[] name) {
    taken.add(parent + "/" + new String(name, US_ASCII));
  }

  private static byte[] name(String text) {
    return text.getBytes(US_ASCII);
  }

  @Test
  void takeReplaced_passesEachReplacedNameOnceAndNoMissingOne() {
    names.replaced(1, name("a"));
    names.replaced(1, name("a"));
    names.replaced(2, name("b"));
    names.missing(1, name("c"));

    names.takeReplaced(this::take);
    names.takeReplaced(this::take);

    assertThat(taken).containsExactlyInAnyOrder("1/a", "2/b");
    assertThat(names.take(1, name("a"))).isFalse();
    assertThat(names.take(1, name("c"))).isTrue();
    assertThat(names.take(1, name("c"))).isFalse();
  }

  @Test
  void takeReplaced_nameIsGivenAwayAgainMeanwhile_isPassedAgain() {
    names.replaced(1, name("a"));
    names.takeReplaced(
        (parent, name) -> {
          take(parent, name);
          names.replaced(parent, name);
        });

    names.takeReplaced(this::take);

    assertThat(taken).containsExactly("1/a", "1/a");
  }

  @Test
  void takeWithin_passesAllOfTheseDirectoriesAndLeavesTheOthers() {
    names.replaced(1, name("a"));
    names.missing(1, name("b"));
    names.replaced(2, name("c"));

    names.takeWithin(directory -> directory == 1, this::take);

    assertThat(taken).containsExactlyInAnyOrder("1/a", "1/b");
    assertThat(names.take(2, name("c"))).isTrue();
    assertThat(names.take(1, name("a"))).isFalse();
  }
}
