package io.holdfast.fs.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class PrivateGroupsTest {
  private static final List<String> USERS =
      List.of(
          "root:x:0:0:root:/root:/bin/bash",
          "ann:x:1000:1000:Ann,,,:/home/ann:/bin/bash",
          "bob:x:1001:1001::/home/bob:/bin/sh",
          "eve:x:1002:1003::/home/eve:/bin/sh",
          "",
          "broken");

  private static boolean isPrivate(int user, int group, String... groups) {
    return PrivateGroups.parse(USERS, List.of(groups)).isPrivate(user, group);
  }

  @Test
  void group_ofOneUserOnly_isPrivate() {
    assertThat(isPrivate(1000, 1000, "users:x:100:bob", "ann:x:1000:")).isTrue();
    assertThat(isPrivate(1000, 1000, "ann:x:1000:ann")).isTrue();
  }

  @Test
  void group_withMembers_isNot() {
    assertThat(isPrivate(1000, 1000, "ann:x:1000:bob")).isFalse();
    assertThat(isPrivate(1000, 1000, "ann:x:1000:ann,bob")).isFalse();
    assertThat(isPrivate(1000, 1000, "ann:x:1000:", "ann:x:1000:bob")).isFalse();
    List<String> another = List.of(USERS.get(1), "mia:x:1004:1000::/home/mia:/bin/sh");
    assertThat(PrivateGroups.parse(another, List.of("ann:x:1000:")).isPrivate(1000, 1000))
        .isFalse();
  }

  @Test
  void group_ofAnotherNumberOrName_isNot() {
    assertThat(isPrivate(1001, 1000, "ann:x:1000:", "bob:x:1001:")).isFalse();
    assertThat(isPrivate(1000, 1000, "team:x:1000:")).isFalse();
    assertThat(isPrivate(1002, 1002, "eve:x:1003:")).isFalse();
    assertThat(isPrivate(1000, 1000)).isFalse();
    assertThat(isPrivate(1005, 1005, "dan:x:1005:")).isFalse();
  }
}
