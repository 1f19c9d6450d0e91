package io.holdfast.fs.transit;

import static io.holdfast.fs.transit.TransitFixture.MIB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.holdfast.fs.FetchUse;
import io.holdfast.fs.RecordingReply;
import io.holdfast.fs.transit.TransitFixture.File;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Transit keeps bytes for other jobs, and delays fetches. */
final class TransitSharingTest {
  private static final int SIZE = 100_000;
  private static final long CAPACITY = 8L * MIB;
  private static final Duration LONG = Duration.ofMinutes(5);

  /** Keeps all, and delays what a test says. */
  private static final class Keeper implements Sharing {
    final List<SharedFetch> begun = new ArrayList<>();
    final List<SharedFetch> ended = new ArrayList<>();
    final List<Integer> joined = new ArrayList<>();
    final Map<SharedFetch, Integer> delivered = new HashMap<>();
    boolean delays;
    boolean keeps = true;

    @Override
    public boolean begins(SharedFetch fetch, Item range, Reader reader, boolean ahead) {
      begun.add(fetch);
      return !delays;
    }

    @Override
    public void joined(SharedFetch fetch, Reader reader) {
      joined.add(reader.thread());
    }

    @Override
    public void delivered(SharedFetch fetch, Reader reader, int bytes) {
      delivered.merge(fetch, bytes, Integer::sum);
    }

    @Override
    public boolean keeps(SharedFetch fetch) {
      return keeps;
    }

    @Override
    public void ended(SharedFetch fetch) {
      ended.add(fetch);
    }

    @Override
    public long heldBytes() {
      return 0;
    }
  }

  private final Keeper keeper = new Keeper();

  private TransitFixture fixture() {
    TransitFixture t = TransitFixture.direct(MIB, CAPACITY);
    t.transit.sharing(keeper, 0);
    return t;
  }

  private void letGo(TransitFixture t) {
    t.clock.advance(Duration.ofSeconds(2));
    keeper.begun.forEach(SharedFetch::letGo);
  }

  @Test
  void kept_answersAnotherPassOfAnotherReader_muchLater() {
    try (TransitFixture t = fixture()) {
      File file = t.file("f", SIZE, 1);
      t.assertRead(file, 0, SIZE);
      t.assertRead(t.file("next", 1000, 2), 0, 1000);
      t.clock.advance(LONG);
      t.transit.expire();
      RecordingReply second = t.read(file, 0, SIZE, TransitFixture.SECOND);
      assertThat(second.bytes()).isEqualTo(file.bytes());
      assertThat(t.origin.opens()).isEqualTo(2);
      assertThat(keeper.delivered).containsEntry(keeper.begun.get(0), 2 * SIZE);
      assertThat(t.listener.delivered).as("cached once more").hasValue(2L * SIZE + 1000);
      assertThat(t.transit.reclaimable()).isZero();
      letGo(t);
      assertThat(t.transit.used()).as("wanted by nobody").isZero();
      assertThat(keeper.ended).hasSize(2);
    }
  }

  @Test
  void kept_isNotGivenUpForOthers_whoseMemoryItIsNot() {
    try (TransitFixture t = fixture()) {
      List<File> files = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        files.add(t.file("f" + i, MIB, i));
        t.assertRead(files.get(i), 0, MIB);
      }
      keeper.keeps = false;
      for (int i = 6; i < 12; i++) {
        t.assertRead(t.file("f" + i, MIB, i), 0, MIB);
      }
      for (int i = 0; i < 6; i++) {
        assertThat(t.read(files.get(i), 0, MIB, TransitFixture.SECOND).bytes())
            .isEqualTo(files.get(i).bytes());
      }
      assertThat(t.origin.opens()).isEqualTo(12);
      letGo(t);
    }
  }

  /** A changed file's bytes go at once, whoever wanted them. */
  @Test
  void kept_ofAnOldVersion_isGone() {
    try (TransitFixture t = fixture()) {
      File file = t.file("f", SIZE, 1);
      t.assertRead(file, 0, SIZE);
      t.transit.abandon(file.content().node(), "f");
      assertThat(t.transit.used()).isZero();
      assertThat(keeper.ended).containsExactlyElementsOf(keeper.begun);
    }
  }

  @Test
  void parts_areKeptAsTheyWereFetched() {
    try (TransitFixture t = fixture()) {
      File file = t.file("f", 4 * MIB, 1);
      t.assertRead(file, MIB + 300_000, 4096);
      long used = t.transit.used();
      t.clock.advance(LONG);
      t.transit.expire();
      assertThat(t.transit.used()).isEqualTo(used);
      assertThat(t.read(file, MIB + 300_000, 4096, TransitFixture.SECOND).bytes())
          .isEqualTo(file.range(MIB + 300_000, 4096));
      assertThat(t.origin.opens()).isEqualTo(1);
      letGo(t);
      assertThat(t.transit.used()).isZero();
    }
  }

  /** An admin's warm-up has the item offered once more, although it is kept. */
  @Test
  void bring_ofAKeptItem_offersIt() {
    try (TransitFixture t = fixture()) {
      File file = t.file("f", SIZE, 1);
      t.assertRead(file, 0, SIZE);
      t.listener.admits = item -> true;
      CompletableFuture<Void> brought =
          t.transit.bring(new ItemLayout(MIB).item(file.content(), 0));
      t.listener.pinAll();
      assertThat(brought).isDone();
      assertThat(t.listener.offers.values()).containsExactly(2);
    }
  }

  @Test
  void delayed_asksNothing_untilItGoesOn() {
    try (TransitFixture t = fixture()) {
      keeper.delays = true;
      File file = t.file("f", SIZE, 1);
      RecordingReply reply = t.read(file, 0, SIZE);
      assertThat(reply.isAnswered()).isFalse();
      assertThat(t.origin.opens()).isZero();
      assertThat(t.transit.used()).as("it has no memory yet").isZero();
      RecordingReply second = t.read(file, 0, 1000, TransitFixture.SECOND);
      assertThat(keeper.joined).contains(TransitFixture.SECOND.thread());
      keeper.begun.get(0).goOn();
      assertThat(reply.bytes()).isEqualTo(file.bytes());
      assertThat(second.bytes()).isEqualTo(file.range(0, 1000));
      assertThat(t.origin.opens()).isEqualTo(1);
      letGo(t);
    }
  }

  /** Its readers waited until their deadlines, and it counted as in flight for good. */
  @Test
  void delayed_noThreadToGoOn_failsAtOnce() {
    try (TransitFixture t = fixture()) {
      Transit transit =
          new Transit(
              new Transit.Sources(
                  t.origin,
                  PeerSource.NONE,
                  task -> {
                    throw new OutOfMemoryError("unable to create native thread");
                  }),
              new ItemLayout(MIB),
              CAPACITY,
              new PlainFetchers(Runnable::run, Runnable::run),
              t.clock,
              TransitFixture.DEADLINE,
              t.listener);
      transit.sharing(keeper, 0);
      keeper.delays = true;
      RecordingReply reply = new RecordingReply();
      transit.read(t.file("f", SIZE, 1).content(), 0, SIZE, TransitFixture.NEAR, reply);

      assertThatCode(keeper.begun.get(0)::goOn).doesNotThrowAnyException();

      assertThat(reply.isAnswered()).isTrue();
      assertThat(transit.stats().inFlight.sum()).isZero();
      transit.close();
    }
  }

  @Test
  void delayed_andAbandoned_failsAndGoesOnToNothing() {
    try (TransitFixture t = fixture()) {
      keeper.delays = true;
      File file = t.file("f", SIZE, 1);
      RecordingReply reply = t.read(file, 0, SIZE);
      t.transit.abandon(file.content().node(), "f");
      assertThat(reply.isAnswered()).isTrue();
      assertThat(keeper.ended).hasSize(1);
      keeper.begun.get(0).goOn();
      assertThat(t.origin.opens()).isZero();
    }
  }

  @Test
  void delayed_aheadOfItsReader_isPostponed() {
    try (TransitFixture t = fixture()) {
      keeper.delays = true;
      File file = t.file("f", SIZE, 1);
      assertThat(
              t.transit.fetchAhead(new ItemLayout(MIB).item(file.content(), 0), 101, FetchUse.NONE))
          .isCompletedWithValue(Transit.Ahead.POSTPONED);
      assertThat(keeper.ended).hasSize(1);
      keeper.delays = false;
      t.assertRead(file, 0, SIZE);
      letGo(t);
    }
  }

  /** Its pages went to the kernel ahead of its reader; other jobs have yet to come. */
  @Test
  void passedOn_isKept() {
    try (TransitFixture t = fixture()) {
      File file = t.file("f", SIZE, 1);
      t.listener.admits = item -> true;
      assertThat(
              t.transit.fetchAhead(new ItemLayout(MIB).item(file.content(), 0), 101, FetchUse.NONE))
          .isCompletedWithValue(Transit.Ahead.ARRIVED);
      t.listener.admits = item -> false;
      t.listener.admitted.remove().passedOn();
      t.clock.advance(LONG);
      t.transit.expire();
      assertThat(t.read(file, 0, SIZE, TransitFixture.SECOND).bytes()).isEqualTo(file.bytes());
      assertThat(t.origin.opens()).isEqualTo(1);
      assertThat(t.listener.delivered).hasValue(SIZE);
      letGo(t);
      assertThat(t.transit.used()).isZero();
    }
  }

  @Test
  void passedOn_thatNobodyElseWants_isGone() {
    try (TransitFixture t = fixture()) {
      keeper.keeps = false;
      File file = t.file("f", SIZE, 1);
      t.listener.admits = item -> true;
      assertThat(
              t.transit.fetchAhead(new ItemLayout(MIB).item(file.content(), 0), 101, FetchUse.NONE))
          .isCompletedWithValue(Transit.Ahead.ARRIVED);
      t.listener.admitted.remove().passedOn();
      assertThat(t.transit.used()).isZero();
    }
  }

  @Test
  void close_endsWhatIsKept() {
    TransitFixture t = fixture();
    File file = t.file("f", SIZE, 1);
    t.assertRead(file, 0, SIZE);
    t.transit.close();
    assertThat(t.transit.used()).isZero();
    assertThat(keeper.ended).hasSize(1);
  }
}
