package io.holdfast.fs.residency;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.transit.Item;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The admission of items, by the user's selections and the policy. */
final class ResidencyTest extends ResidencyFixture {
  @Test
  void offer_keptFile_isPinnedWhateverIsResident() throws IOException {
    selection = Selection.of(List.of("val/"), List.of());
    start(4L * PAGE);
    Files.createDirectory(sandbox.path("val"));
    file("f", random(4 * PAGE));
    file("val/g", random(PAGE));
    Item ordinary = item("f", 4 * PAGE);
    Item kept = item("val/g", PAGE);
    pin(ordinary);
    assertThat(residency.wouldAdmit(kept)).isTrue();
    pin(kept);
    assertThat(residency.isResident(kept)).isTrue();
    assertThat(residency.isResident(ordinary)).isFalse();
    assertThat(residency.figures().evictedItems()).isEqualTo(1);
    assertThat(residency.figures().residentBytes()).isEqualTo(PAGE);
  }

  @Test
  void offer_excludedFile_isRefused() throws IOException {
    selection = Selection.of(List.of(), List.of("*.idx"));
    start(4L * PAGE);
    file("a.idx", random(PAGE));
    Item excluded = item("a.idx", PAGE);
    assertThat(residency.wouldAdmit(excluded)).isFalse();
    assertThat(residency.offer(new Offered(excluded, false))).isFalse();
    assertThat(residency.figures().refusedItems()).isEqualTo(1);
    assertThat(residency.figures().residentItems()).isZero();
  }

  /**
   * The policy refuses items beyond the share that the dataset's size allows, though there is room.
   */
  @Test
  void datasetSize_policyByHash_selectsAShare() throws IOException {
    start("minio-hash", 10L * PAGE, true, 1000);
    residency.datasetSize(1000L * PAGE);
    long admitted = 0;
    for (int i = 0; i < 200; i++) {
      admitted += residency.wouldAdmit(item("f" + i, PAGE)) ? 1 : 0;
    }
    assertThat(admitted).isLessThan(20);
    residency.datasetSize(10L * PAGE);
    assertThat(residency.wouldAdmit(item("f", PAGE))).isTrue();
  }

  @Test
  void offer_policyNone_isRefused() throws IOException {
    start("none", 1 << 20, true, 1000);
    Item item = item("f", PAGE);
    assertThat(residency.wouldAdmit(item)).isFalse();
    assertThat(residency.offer(new Offered(item, false))).isFalse();
    assertThat(residency.figures().refusedItems()).isEqualTo(1);
    assertThat(residency.policyName()).isEqualTo("none");
  }

  @Test
  void offer_residentItem_isNotPinnedTwice() throws IOException {
    start(1 << 20);
    file("f", random(PAGE));
    Item item = item("f", PAGE);
    pin(item);
    residency.offer(new Offered(item, false));
    assertThat(mappings()).isEqualTo(1);
    assertThat(residency.figures().residentItems()).isEqualTo(1);
  }

  @Test
  void offer_noMappingsLeft_isRefusedAndWouldBe() throws IOException {
    start("minio", 1 << 20, true, 2);
    for (String name : new String[] {"a", "b"}) {
      file(name, random(PAGE));
      pin(item(name, PAGE));
    }
    Item next = item("c", PAGE);
    assertThat(residency.offer(new Offered(next, false))).isFalse();
    // or a random reader of a large file would get a whole item for each small read
    assertThat(residency.wouldAdmit(next)).isFalse();
  }

  @Test
  void offer_afterClose_isRefused() throws IOException {
    start(1 << 20);
    file("f", random(PAGE));
    pin(item("f", PAGE));
    residency.close();
    assertThat(mappings()).isZero();
    assertThat(residency.offer(new Offered(item("g", PAGE), false))).isFalse();
    assertThat(residency.figures().residentItems()).isZero();
  }
}
