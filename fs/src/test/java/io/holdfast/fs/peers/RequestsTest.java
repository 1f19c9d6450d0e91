package io.holdfast.fs.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.origin.Version;
import org.junit.jupiter.api.Test;

class RequestsTest {
  @Test
  void tag_ofAFile_isSizeAndTime() {
    String tag = Requests.tag(new Version(255, 16, 1, ""));

    assertThat(tag).isEqualTo("ff-10").isEqualTo(Requests.tag(new Version(255, 16, 2, "")));
    assertThat(Requests.tag(new Version(255, 17, 1, ""))).isNotEqualTo(tag);
    assertThat(Requests.tag(new Version(254, 16, 1, ""))).isNotEqualTo(tag);
  }

  /** Nodes may learn an object's time in different precision, and a copy has another one. */
  @Test
  void tag_ofAnObject_isSizeAndEtag() {
    String tag = Requests.tag(new Version(255, 16, 1, "d41d8c-2"));

    assertThat(tag).isEqualTo("ff-d41d8c-2");
    assertThat(Requests.tag(new Version(255, 17, 2, "d41d8c-2"))).isEqualTo(tag);
    assertThat(Requests.tag(new Version(255, 16, 1, "d41d8c-3"))).isNotEqualTo(tag);
    assertThat(Requests.tag(new Version(254, 16, 1, "d41d8c-2"))).isNotEqualTo(tag);
  }

  @Test
  void tag_ofAnOddEtag_canBeInAHeader() {
    assertThat(Requests.tag(new Version(1, 1, 1, "a\"b\r\nä"))).matches("[!#-~]+");
  }
}
