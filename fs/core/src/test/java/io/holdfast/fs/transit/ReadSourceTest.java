package io.holdfast.fs.transit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.RecordingReply;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.transit.TransitFixture.File;
import org.junit.jupiter.api.Test;

/** The events of reads and fetches: the source of the bytes, and the end of fetches. */
final class ReadSourceTest {
  private static final int ITEM = 1 << 20;

  @Test
  void read_thatHadToWait_cameFromTheOriginAndTheNextFromMemory() {
    try (TransitFixture t = TransitFixture.threaded(ITEM, 8 << 20)) {
      File file = t.file("f", 100_000, 1);
      RecordingReply first = t.read(file, 0, 50_000);
      assertThat(first.bytes()).hasSize(50_000);
      assertThat(first.source()).isEqualTo(ReadSource.ORIGIN);
      Await.until("the fetch has ended", () -> t.listener.ended.size() == 1);
      RecordingReply second = t.read(file, 50_000, 50_000);
      assertThat(second.bytes()).hasSize(50_000);
      assertThat(second.source()).isEqualTo(ReadSource.MEMORY);
      assertThat(t.listener.ended).containsExactly("f[0,+100000] ORIGIN");
    }
  }

  @Test
  void read_acrossItems_cameFromTheSlowestSource() {
    try (TransitFixture t = TransitFixture.direct(ITEM, 8 << 20)) {
      File file = t.file("f", 2 * ITEM, 1);
      t.assertRead(file, 0, 4096);
      RecordingReply across = t.read(file, ITEM - 4096, 8192);
      assertThat(across.bytes()).isEqualTo(file.range(ITEM - 4096, 8192));
      assertThat(across.source()).isEqualTo(ReadSource.ORIGIN);
    }
  }

  @Test
  void fetch_thatFails_isToldWithItsCause() {
    try (TransitFixture t = TransitFixture.direct(ITEM, 8 << 20)) {
      File file = t.file("f", 5000, 1);
      t.origin.setGate(
          new FakeOrigin.Gate() {
            @Override
            public void open(OriginPath path) throws FsException {
              throw new FsException(FsError.ACCESS_DENIED, "no");
            }
          });
      assertThat(t.read(file, 0, 5000).code()).isEqualTo(FsError.ACCESS_DENIED);
      assertThat(t.listener.ended).containsExactly("f[0,+5000] ACCESS_DENIED");
      assertThat(t.transit.stats().errors.byCause()).containsEntry("access_denied", 1L);
    }
  }
}
