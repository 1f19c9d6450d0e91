package io.holdfast.fs.transit;

import static io.holdfast.fs.transit.TransitFixture.MIB;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsException;
import io.holdfast.fs.RecordingReply;
import io.holdfast.fs.transit.TransitFixture.File;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** On which threads a node with peers asks them, and the origin when they have nothing. */
final class TransitPeersTest {
  private static final ItemLayout LAYOUT = new ItemLayout(MIB);
  private static final PeerSource.Arrival NOT_THERE = new PeerSource.Arrival(false, true);

  private final TransitFixture t = TransitFixture.direct(MIB, 2 * MIB);
  private final List<Runnable> asking = new ArrayList<>();
  private Transit transit;

  @BeforeEach
  void start() {
    PeerSource empty =
        (item, range, forPeer, address) -> CompletableFuture.completedFuture(NOT_THERE);
    transit =
        new Transit(
            new Transit.Sources(t.origin, empty, asking::add),
            LAYOUT,
            2 * MIB,
            new PlainFetchers(Runnable::run, Runnable::run),
            System::nanoTime,
            Duration.ofSeconds(10),
            t.listener);
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

  @Test
  void read_memoryIsThere_takesNoOtherThread() {
    File file = t.file("f", 100_000, 1);
    assertThat(read(file).bytes()).isEqualTo(file.range(0, 4096));
    assertThat(asking).isEmpty();
  }

  @Test
  void read_memoryMustBeWaitedFor_takesAnotherThread() {
    File one = t.file("one", MIB, 1);
    File other = t.file("other", MIB, 2);
    File last = t.file("last", MIB, 3);
    t.listener.admits = item -> true;
    assertThat(read(one).isAnswered()).isTrue();
    assertThat(read(other).isAnswered()).isTrue();

    RecordingReply reply = read(last);
    assertThat(asking).isEmpty();
    t.listener.pinAll();

    assertThat(reply.isAnswered()).isFalse();
    asking.forEach(Runnable::run);
    assertThat(reply.bytes()).isEqualTo(last.range(0, 4096));
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
