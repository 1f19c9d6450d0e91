package io.holdfast.fs.origin;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.NotEmpty;
import org.junit.jupiter.api.Test;

final class OriginPathTest {
  @Test
  void root_isEmptyAndShowsAsADot() {
    assertThat(OriginPath.of("")).isSameAs(OriginPath.ROOT);
    assertThat(OriginPath.of(new byte[0])).isSameAs(OriginPath.ROOT);
    assertThat(OriginPath.ROOT.bytes()).isEmpty();
    assertThat(OriginPath.ROOT).hasToString(".");
  }

  @Test
  void child_ofRootAndBelow_isSeparatedBySlashes() {
    OriginPath path = OriginPath.ROOT.child(bytes("a")).child(bytes("b c"));
    assertThat(path).isEqualTo(OriginPath.of("a/b c")).hasToString("a/b c");
    assertThat(path.hashCode()).isEqualTo(OriginPath.of("a/b c").hashCode());
    assertThat(path).isNotEqualTo(OriginPath.of("a/b")).isNotEqualTo(null);
  }

  @Property
  void child_ofAnyName_keepsItsBytes(@ForAll @NotEmpty byte[] directory, @ForAll byte[] name) {
    byte[] before = directory.clone();
    OriginPath child = OriginPath.of(directory).child(name);
    assertThat(directory).isEqualTo(before);
    int cut = directory.length;
    assertThat(Arrays.copyOf(child.bytes(), cut)).isEqualTo(directory);
    assertThat(child.bytes()[cut]).isEqualTo((byte) '/');
    assertThat(Arrays.copyOfRange(child.bytes(), cut + 1, child.bytes().length)).isEqualTo(name);
    assertThat(child).isEqualTo(OriginPath.of(child.bytes().clone()));
  }

  @Test
  void parentAndName_ofAnyPlace_areWhatItsChildIsMadeOf() {
    OriginPath deep = OriginPath.of("a/b c/d");
    assertThat(deep.parent()).isEqualTo(OriginPath.of("a/b c"));
    assertThat(deep.name()).isEqualTo(bytes("d"));
    assertThat(OriginPath.of("a").parent().isRoot()).isTrue();
    assertThat(OriginPath.of("a").name()).isEqualTo(bytes("a"));
    assertThat(deep.isRoot()).isFalse();
  }

  @Test
  void toString_ofWhatIsNoUtf8_showsReplacements() {
    assertThat(OriginPath.of(new byte[] {'a', (byte) 0xff})).hasToString("a\ufffd");
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
