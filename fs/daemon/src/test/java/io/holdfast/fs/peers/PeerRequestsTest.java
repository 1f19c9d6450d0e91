package io.holdfast.fs.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.origin.Version;
import org.junit.jupiter.api.Test;

class PeerRequestsTest {
  @Test
  void tag_ofAFile_isSizeAndTime() {
    String tag = PeerRequests.content(new Version(255, 16, 1, ""));

    assertThat(tag).isEqualTo("ff-10").isEqualTo(PeerRequests.content(new Version(255, 16, 2, "")));
    assertThat(PeerRequests.content(new Version(255, 17, 1, ""))).isNotEqualTo(tag);
    assertThat(PeerRequests.content(new Version(254, 16, 1, ""))).isNotEqualTo(tag);
  }

  /** Copies have the time of the content in common, and one store all times. */
  @Test
  void isAskedFor_fileWithAnotherTimeOfItsLastChange_ofACopyOnly() {
    Version version = new Version(255, 16, 32, 1, 0, "");
    Version copy = new Version(255, 16, 33, 2, 0, "");
    String tag = PeerRequests.tag(version);

    assertThat(tag).isEqualTo("ff-10.20");
    assertThat(PeerRequests.isAskedFor(tag, version, true)).isTrue();
    assertThat(PeerRequests.isAskedFor(tag, copy, true)).isFalse();
    assertThat(PeerRequests.isAskedFor(tag, copy, false)).isTrue();
    assertThat(PeerRequests.isAskedFor(tag, new Version(255, 17, 32, 1, 0, ""), false)).isFalse();
    assertThat(PeerRequests.isAskedFor("ff-10", version, false)).isFalse();
    assertThat(PeerRequests.isAskedFor("", version, false)).isFalse();
  }

  /** Nodes may learn an object's time in different precision, and a copy has another one. */
  @Test
  void tag_ofAnObject_isSizeAndEtag() {
    String tag = PeerRequests.tag(new Version(255, 16, 1, "d41d8c-2"));

    assertThat(tag).isEqualTo("ff-d41d8c-2");
    assertThat(PeerRequests.tag(new Version(255, 17, 2, "d41d8c-2"))).isEqualTo(tag);
    assertThat(PeerRequests.tag(new Version(255, 16, 1, "d41d8c-3"))).isNotEqualTo(tag);
    assertThat(PeerRequests.tag(new Version(254, 16, 1, "d41d8c-2"))).isNotEqualTo(tag);
  }

  @Test
  void tag_ofAnOddEtag_canBeInAHeader() {
    assertThat(PeerRequests.tag(new Version(1, 1, 1, "a\"b\r\nä"))).matches("[!#-~]+");
  }
}
