package io.holdfast.fs.transit;

import static io.holdfast.fs.transit.TransitFixture.MIB;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.RecordingReply;
import io.holdfast.fs.transit.TransitFixture.File;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** On which threads a node with peers asks them, and the origin when they have nothing. */
final class TransitPeersTest {
  private static final ItemLayout LAYOUT = new ItemLayout(MIB);
  private static final Duration DEADLINE = Duration.ofSeconds(10);

  private final TransitFixture t = TransitFixture.direct(MIB, 2 * MIB);
  private final List<Runnable> asking = new ArrayList<>();

  /** Answers, or keeps the place for the answer; by default no peer has anything. */
  private Consumer<Consumer<PeerSource.Arrival>> peers =
      answered -> answered.accept(PeerSource.Arrival.NOTHING);

  private boolean noThread;
  private Transit transit;

  @BeforeEach
  void start() {
    transit =
        new Transit(
            new Transit.Sources(
                t.origin,
                (item, range, forPeer, address, answered) -> peers.accept(answered),
                this::execute),
            LAYOUT,
            2 * MIB,
            new PlainFetchers(Runnable::run, Runnable::run),
            t.clock,
            DEADLINE,
            t.listener);
  }

  private void execute(Runnable task) {
    if (noThread) {
      throw new OutOfMemoryError("unable to create native thread");
    }
    asking.add(task);
  }

  @AfterEach
  void close() {
    transit.close();
    t.close();
  }

  private RecordingReply read(File file) {
    RecordingReply reply = new RecordingReply();
    transit.read(file.content(), 0, 4096, new Reader(1, Reader.Kind.APPLICATION, false), reply);
    return reply;
  }

  private void fillMemory() {
    t.listener.admits = item -> true;
    assertThat(read(t.file("one", MIB, 1)).isAnswered()).isTrue();
    assertThat(read(t.file("other", MIB, 2)).isAnswered()).isTrue();
  }

  @Test
  void read_memoryIsThere_takesNoOtherThread() {
    File file = t.file("f", 100_000, 1);
    assertThat(read(file).bytes()).isEqualTo(file.range(0, 4096));
    assertThat(asking).isEmpty();
  }

  /** A peer may ask for it, and the origin would be read again. */
  @Test
  void givesWay_toNobody_becausePeersMayAskForIt() {
    t.listener.givesWay = true;
    fillMemory();
    assertThat(transit.reclaimable()).isZero();
    assertThat(read(t.file("last", MIB, 3)).isAnswered()).isFalse();
    t.listener.pinAll();
    asking.forEach(Runnable::run);
  }

  @Test
  void read_memoryMustBeWaitedFor_takesAnotherThread() {
    File last = t.file("last", MIB, 3);
    fillMemory();

    RecordingReply reply = read(last);
    assertThat(asking).isEmpty();
    t.listener.pinAll();

    assertThat(reply.isAnswered()).isFalse();
    asking.forEach(Runnable::run);
    assertThat(reply.bytes()).isEqualTo(last.range(0, 4096));
  }

  /** Its memory was counted as in use until the daemon ended. */
  @Test
  void read_noThreadWhenMemoryIsThere_fails_andItsMemoryIsGivenBack() {
    File last = t.file("last", MIB, 3);
    fillMemory();
    RecordingReply reply = read(last);

    noThread = true;
    t.listener.pinAll();

    assertThat(reply.isAnswered()).isTrue();
    assertThat(reply.failure().code()).isEqualTo(FsError.NO_MEMORY);
    assertThat(transit.used()).isZero();
    assertThat(transit.stats().inFlight.sum()).isZero();
  }

  /** A peer may write to the memory until it has answered, whatever becomes of the readers. */
  @Test
  void peers_answerLate_memoryStaysUntilThen() {
    List<Consumer<PeerSource.Arrival>> waiting = new ArrayList<>();
    peers = waiting::add;
    RecordingReply reply = read(t.file("f", 100_000, 1));
    t.clock.advance(DEADLINE.multipliedBy(2).plusNanos(1));
    transit.expire();
    assertThat(reply.failure().code()).isEqualTo(FsError.TIMED_OUT);
    assertThat(transit.used()).isEqualTo(100_000);

    waiting.get(0).accept(new PeerSource.Arrival(true, true));

    assertThat(transit.used()).isZero();
    assertThat(transit.stats().inFlight.sum()).isZero();
  }

  @Test
  void peers_cannotBeAsked_memoryIsGivenBackAtOnce() {
    peers =
        answered -> {
          throw new OutOfMemoryError("Java heap space");
        };
    assertThat(read(t.file("f", 100_000, 1)).failure().code()).isEqualTo(FsError.NO_MEMORY);
    assertThat(transit.used()).isZero();
  }

  /** Peers are answered by an event loop, which is not to wait for the origin. */
  @Test
  void lend_notThere_takesAnotherThread() {
    File file = t.file("f", 100_000, 1);
    List<Loan> lent = new ArrayList<>();
    transit.lend(
        LAYOUT.itemAt(file.content(), 0),
        0,
        100_000,
        new Borrower() {
          @Override
          public void lent(Loan loan) {
            lent.add(loan);
          }

          @Override
          public void failed(FsException cause) {
            throw new AssertionError(cause);
          }
        });
    assertThat(t.origin.bytesRead()).isZero();

    asking.forEach(Runnable::run);

    assertThat(lent).hasSize(1);
    assertThat(lent.get(0).checksum())
        .isEqualTo(Loan.checksum(lent.get(0).bytes().address(), 100_000));
    lent.get(0).release();
  }
}
