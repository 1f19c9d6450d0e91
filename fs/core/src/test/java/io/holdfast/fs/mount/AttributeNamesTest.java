package io.holdfast.fs.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class AttributeNamesTest {
  private static final int NOBODY = 65534;

  @ParameterizedTest
  @CsvSource({
    "'',''",
    "user.a|,user.a|",
    "trusted.a|,''",
    "trusted.a|user.b|trusted.c|security.selinux|,user.b|security.selinux|",
    "user.trusted.a|trusted|trustedx|,user.trusted.a|trusted|trustedx|",
    "user.a|trusted.b,user.a|",
    "user.a,user.a"
  })
  void names_ofTrustedAttributes_areForRootAlone(String all, String others) {
    assertThat(AttributeNames.visibleTo(NOBODY, names(all))).isEqualTo(names(others));
    assertThat(AttributeNames.visibleTo(0, names(all))).isEqualTo(names(all));
  }

  private static byte[] names(String text) {
    return text.replace('|', '\0').getBytes(StandardCharsets.UTF_8);
  }
}
